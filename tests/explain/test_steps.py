"""The five steps show the model's own numbers: each is computed here once more from the layer's matrices."""

import io
import math

import pytest
import torch

from regard.errors import UserError
from regard.explain import steps, trace, walk
from tests.explain.conftest import SOURCE, TARGET, make

PAIR = {"source": SOURCE, "target": TARGET}


def by_hand(run, name: str, texts: dict[str, str], *, head: int, row: int, causal: bool) -> dict[str, torch.Tensor]:
    """One row of attention from what goes into and out of the layer's four matrices."""
    part, caught = run.model.get_submodule(name), {}
    hooks = [
        getattr(part, each).register_forward_hook(lambda _, x, y, each=each: caught.update({each: (x[0][0], y[0])}))
        for each in ("to_query", "to_key", "to_value", "output")
    ]
    trace(run, **texts)
    for hook in hooks:
        hook.remove()
    width = caught["to_query"][1].shape[1] // part.heads
    mine = slice(head * width, (head + 1) * width)
    query, key, value = (caught[each][1][:, mine] for each in ("to_query", "to_key", "to_value"))
    if causal:
        key, value = key[: row + 1], value[: row + 1]
    scores = key @ query[row] / math.sqrt(width)
    weights = scores.exp() / scores.exp().sum()
    context = (weights[:, None] * value).sum(0)
    return {
        "query": query[row],
        "key": key,
        "value": value,
        "scores": scores,
        "weights": weights,
        "weighted": weights[:, None] * value,
        "context": context,
        "kernel": caught["output"][0][row, mine],
        "share": part.output.weight[:, mine] @ context,
    }


def agree(found, expected: dict[str, torch.Tensor]) -> None:
    for name, value in expected.items():
        torch.testing.assert_close(getattr(found, name), value.detach(), rtol=1e-4, atol=1e-5, msg=name)


@pytest.mark.parametrize(
    ("word", "side", "name"),
    [
        ("chicken", "auto", "encoder.blocks.1.attention"),
        ("Huhn", "auto", "decoder.blocks.1.attention"),
        ("Huhn", "cross", "decoder.blocks.1.cross"),
    ],
)
def test_every_number_is_the_models_own(translator, word: str, side: str, name: str) -> None:
    found = walk(translator, **PAIR, word=word, layer=1, head=2, side=side)
    assert found.name == name
    agree(found, by_hand(translator, name, PAIR, head=2, row=found.at, causal=found.kind == "decoder"))
    assert found.difference < 1e-5
    assert found.bias is None


def test_a_language_model_walks_over_the_past_alone(speaker) -> None:
    found = walk(speaker, text=SOURCE, word="road", layer=0, head=1)
    assert len(found.word.tokens) > 1
    assert found.at == found.word.tokens[-1]
    assert len(found.keys) == found.at + 1
    agree(found, by_hand(speaker, found.name, {"text": SOURCE}, head=1, row=found.at, causal=True))


@pytest.mark.parametrize(
    "settings",
    [
        {"score": "dot"},
        {"score": "bilinear"},
        {"score": "additive"},
        {"groups": 1},
        {"position": "rotary", "width": 24},
    ],
    ids=str,
)
def test_the_sum_equals_the_kernels_for_every_choice(settings) -> None:
    run = make("gpt", **settings)
    found = walk(run, text=SOURCE, word="it", layer=1, head=2)
    torch.testing.assert_close(found.weights.sum(), torch.tensor(1.0))
    torch.testing.assert_close(found.weighted.sum(0), found.kernel, rtol=1e-4, atol=1e-5)
    assert found.difference < 1e-5
    assert found.bias is None
    assert "Step 5" in shown(run, text=SOURCE, word="it", layer=1, head=2)


def shown(run, **what) -> str:
    from rich.console import Console

    out = Console(file=io.StringIO(), width=110)
    for part in steps(run, **what):
        out.print(part)
    return out.file.getvalue()


def test_the_terminal_shows_the_five_steps(translator) -> None:
    said = shown(translator, **PAIR, word="chicken", layer=1, head=2)
    found = walk(translator, **PAIR, word="chicken", layer=1, head=2)
    assert [f"Step {n}" in said for n in range(1, 7)] == [True] * 5 + [False]
    assert "head 2 of encoder.blocks.1.attention" in said
    assert "query · key / √7" in said
    assert "the last of them looks" in said
    assert f"{float(found.weights.max()):.4f}" in said
    assert f"{float(found.scores.max()):.4f}" in said
    assert "The tables leave out" in said
    assert f"{float(found.context[0]):+.3f}" in said
    assert f"largest difference {found.difference:.1e}" in said


def test_notes_say_what_a_reader_must_know(translator, speaker) -> None:
    assert "one token before it" in shown(translator, **PAIR, word="Huhn", side="cross")
    text = "[b]it was it[/b]"
    said = shown(speaker, text=text, word="it")
    assert "stands there 2 times" in said
    assert "the last of them" not in said


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"word": "wide"}, "the source has no word 'wide'; it has: The, chicken, didn't"),
        ({"word": "wide", "side": "cross"}, "the target has no word 'wide'; it has: Das, Huhn"),
        ({"word": "it", "layer": 2}, "no layer 2; the encoder attention of this run has layers 0, 1"),
        ({"word": "it", "head": 3}, "no head 3; encoder.blocks.0.attention has heads 0 to 2"),
        ({"word": "it", "head": -1}, "no head -1"),
        ({"word": "it", "side": "left"}, "no attention 'left'; known: encoder, decoder, cross"),
    ],
)
def test_mistakes_say_what_there_is(translator, what, message: str) -> None:
    with pytest.raises(UserError, match=message):
        walk(translator, **PAIR, **what)
