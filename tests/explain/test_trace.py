"""A trace holds what the running model looked at, and says which characters each token came from."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from regard.errors import UserError
from regard.explain import to_json, trace
from regard.explain.figures import parts
from regard.explain.plain import rounded
from regard.tap import record
from regard.text.tokenizer import KINDS
from tests.explain.conftest import AWKWARD, SOURCE, TARGET, encoder, make


def test_rows_sum_to_one_and_the_future_is_not_looked_at(speaker, translator) -> None:
    for seen in (trace(speaker, text=SOURCE), trace(translator, source=SOURCE, target=TARGET)):
        for each in seen.maps:
            np.testing.assert_allclose(each.weights.sum(-1), 1, atol=1e-5)
            assert each.scores is None
        for each in seen.of("decoder"):
            assert not np.triu(each.weights, 1).any()


def test_a_weight_of_nothing_is_told_from_what_may_not_be_looked_at() -> None:
    """Scores so far apart that the softmax rounds to 0. What is drawn as 0 is grey, which is for the future alone."""
    run = make("gpt")
    with torch.no_grad():
        for name, weight in run.model.named_parameters():
            if "to_query" in name:
                weight *= 1e4
    seen = trace(run, text=SOURCE)
    count = len(seen.target.tokens)
    past = np.tril(np.ones((count, count), dtype=bool))
    drawn = [values for part in parts(seen) for row in part.grid for _, values in row]
    written = [np.array(each["weights"]) for each in to_json(seen)["maps"]]
    assert any((each.weights[:, past] == 0).any() for each in seen.maps), "rounded to nothing"
    for values in (*(each.visible for each in seen.maps), *drawn, *written):
        assert ((values > 0) == past).all()
    for each in seen.maps:
        np.testing.assert_allclose(each.visible, each.weights, atol=1e-11)


def test_the_weights_are_those_of_the_running_model(translator) -> None:
    seen = trace(translator, source=SOURCE, target=TARGET, scores=True)
    tokenizer, model = translator.tokenizer, translator.model
    source = torch.tensor([[*tokenizer.encode(SOURCE), tokenizer.end]])
    target = torch.tensor([[tokenizer.start, *tokenizer.encode(TARGET)]])
    with torch.no_grad(), record(model, "*.weights", "*.scores") as shown:
        logits = model.decode(target, model.encode(source))
    assert {each.name for each in seen.maps} == {name for name in shown if name.endswith("weights")}
    for each in seen.maps:
        np.testing.assert_array_equal(each.weights, shown[each.name][0].numpy())
        np.testing.assert_array_equal(each.scores, shown[each.name.replace("weights", "scores")][0].numpy())
    follows = torch.tensor([*tokenizer.encode(TARGET), tokenizer.end])
    nats = torch.nn.functional.cross_entropy(logits[0], follows, reduction="none")
    np.testing.assert_allclose(seen.log_probability, -nats.numpy(), rtol=1e-5, atol=1e-6)


def test_maps_are_named_by_kind_and_layer(speaker, translator) -> None:
    seen = trace(translator, source=SOURCE, target=TARGET)
    assert seen.kinds == ["encoder", "decoder", "cross"]
    assert [(each.name, each.layer) for each in seen.of("cross")] == [
        ("decoder.blocks.0.cross.look.weights", 0),
        ("decoder.blocks.1.cross.look.weights", 1),
    ]
    alone = trace(speaker, text=SOURCE)
    assert alone.kinds == ["decoder"]
    assert alone.source is None
    assert alone.log_probability.shape == (len(alone.target.tokens) - 1,)
    assert alone.run == "tiny <&>"


def test_a_row_of_cross_attention_is_named_by_what_is_written_there(translator) -> None:
    seen = trace(translator, source=SOURCE, target=TARGET)
    looks, looked = seen.looking("cross")
    assert [token.id for token in looks.tokens] == [*translator.tokenizer.encode(TARGET), translator.tokenizer.end]
    assert (len(looks.tokens), len(looked.tokens)) == seen.of("cross")[0].weights.shape[1:]


@pytest.mark.parametrize("kind", KINDS)
def test_offsets_give_the_characters_back(kind: str) -> None:
    seen = trace(make("gpt", kind, context=97), text=AWKWARD)
    start, *tokens = seen.target.tokens
    assert (start.piece, start.offset) == ("<s>", None)
    covered = "".join(dict.fromkeys(AWKWARD[slice(*token.offset)] for token in tokens))
    assert set(AWKWARD) - set(covered) <= set(" \n")
    for token in tokens:
        characters = AWKWARD[slice(*token.offset)]
        if kind in ("char", "word") and token.piece != "<unk>":
            assert characters == token.piece
        if kind == "bpe" and token.piece != "<unk>":
            assert characters == token.piece.replace("▁", " ")
    assert all(label.isprintable() and label for label in seen.target.labels)


def test_plain_numbers_say_the_same(translator) -> None:
    seen = trace(translator, source=SOURCE, target=TARGET, scores=True)
    plain = json.loads(json.dumps(to_json(seen), allow_nan=False))
    assert plain["source"]["text"] == SOURCE
    assert [token["piece"] for token in plain["target"]["tokens"]] == [token.piece for token in seen.target.tokens]
    for token in plain["source"]["tokens"][:-1]:
        assert token["label"] == (SOURCE[slice(*token["offset"])].strip(" ") or "␣")
    for each, written in zip(seen.maps, plain["maps"], strict=True):
        assert (written["name"], written["kind"], written["layer"]) == (each.name, each.kind, each.layer)
        np.testing.assert_allclose(written["weights"], each.weights, atol=2e-6)
        np.testing.assert_allclose(np.sum(written["weights"], -1), 1, atol=1e-5)
    np.testing.assert_allclose(plain["log_probability"], seen.log_probability, atol=1e-6)


def test_rounding_loses_no_weight() -> None:
    """Five thousand tokens looked at alike are each under half of the last digit that plain rounding would keep."""
    even = np.full((2, 5000, 1), 1 / 5000).transpose(0, 2, 1)
    tiny = np.concatenate([np.full((1, 1, 4000), 4e-7), [[[1 - 4000 * 4e-7]]]], -1)
    for weights in (even, tiny, np.zeros((1, 3, 7))):
        kept = rounded(weights)
        np.testing.assert_allclose(kept.sum(-1), weights.sum(-1), atol=1e-6)
        np.testing.assert_allclose(kept, weights, atol=1.001e-6)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({}, "language model: give it a text"),
        ({"source": "a", "target": "b"}, "language model: give it a text"),
        ({"text": "a", "target": "b"}, "language model: give it a text"),
        ({"text": ""}, "the text '' is empty"),
        ({"text": "it " * 99}, "and the context holds 53"),
    ],
)
def test_a_language_model_says_what_it_needs(speaker, texts, message: str) -> None:
    with pytest.raises(UserError, match=message):
        trace(speaker, **texts)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"text": "a"}, "translator: give it a source and a target"),
        ({"source": "a"}, "translator: give it a source and a target"),
        ({"source": "", "target": "b"}, "the source '' is empty"),
        ({"source": "it", "target": "es " * 99}, "the target with its start symbol has .* the context holds 53"),
    ],
)
def test_a_translator_says_what_it_needs(translator, texts, message: str) -> None:
    with pytest.raises(UserError, match=message):
        trace(translator, **texts)


def test_drawing_is_imported_when_used() -> None:
    check = "import sys, regard.explain; assert not {'matplotlib', 'rich'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", check], check=True)


@pytest.mark.parametrize("objective", ["masked", "masked-pairs", "tagging", "vectors"])
@pytest.mark.parametrize("system", ["bert", "rnn-encoder", "gpt"])
def test_what_an_encoder_says_of_each_token_is_shown(system: str, objective: str) -> None:
    """Its own probability in its place, or its likeliest tag; and what that depends on."""
    if system == "gpt" and objective.startswith("masked"):
        return
    run = encoder(system, objective)
    seen = trace(run, text=SOURCE, influence=True)
    tokens = torch.tensor([[token.id for token in seen.target.tokens]])
    assert (seen.target.tokens[0].id, seen.target.tokens[-1].id) == (run.tokenizer.start, run.tokenizer.end)
    assert len(seen.of("encoder")) == (2 if system == "bert" else 0)
    if objective == "vectors":
        assert (seen.written, seen.influence, len(seen.log_probability)) == (None, None, 0)
        return
    chances = run.model.answer(tokens)[0].log_softmax(-1)
    said = chances.argmax(-1) if objective == "tagging" else tokens[0]
    assert torch.allclose(torch.from_numpy(seen.log_probability), chances[torch.arange(len(said)), said], atol=1e-5)
    assert seen.tags == (tuple(run.labels[i] for i in said.tolist()) if objective == "tagging" else ())
    assert seen.written == seen.target
    assert seen.influence.target.shape == (len(said), len(said))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"source": SOURCE}, "; target is missing"),
        ({}, "; source is missing, target is missing"),
        ({"source": SOURCE, "target": TARGET, "text": SOURCE}, "; it reads no text"),
        ({"text": SOURCE}, "; source is missing, target is missing, it reads no text"),
    ],
)
def test_what_a_translator_lacks_is_named(translator, given: dict[str, str], told: str) -> None:
    with pytest.raises(UserError, match=f"give it a source and a target{told}$"):
        trace(translator, **given)
