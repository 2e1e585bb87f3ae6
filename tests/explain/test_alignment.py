"""Decoders that look anew for each word show whole maps, as they look while they write."""

import numpy as np
import pytest
import torch

from regard.errors import UserError
from regard.explain import alignment, draw_word, look_of_word, trace, walk
from regard.tap import record
from tests.explain.conftest import ATTENTIVE, BLIND, EVEN, SOURCE, TARGET, make
from tests.explain.test_steps import shown

PAIR = {"source": SOURCE, "target": TARGET}
LAYERS = {"convs2s": 2}


def written_alone(run, seen) -> list[np.ndarray]:
    """What is looked at when the target is fed token by token with a cache: `[layer][target, source]`."""
    names = [each.name for each in seen.maps]
    source, target = (torch.tensor([[t.id for t in side.tokens]]) for side in (seen.source, seen.target))
    with torch.no_grad():
        memory, cache, rows = run.model.encode(source), run.model.start(1, target.shape[1]), []
        for token in target.split(1, dim=1):
            with record(run.model, *names) as heard:
                run.model.decode(token, memory, cache)
            rows.append([heard[name][0, 0, -1].numpy() for name in names])
    return [np.stack(layer) for layer in zip(*rows, strict=True)]


@pytest.mark.parametrize("preset", ATTENTIVE)
def test_a_map_has_a_row_for_each_word_written(preset: str) -> None:
    run = make(preset, **EVEN)
    seen = trace(run, **PAIR)
    assert seen.kinds == ["cross"]
    assert [each.layer for each in seen.maps] == list(range(LAYERS.get(preset, 1)))
    looks, looked = seen.looking("cross")
    for each, alone in zip(seen.maps, written_alone(run, seen), strict=True):
        assert each.weights.shape == (1, len(looks.tokens), len(looked.tokens))
        np.testing.assert_allclose(each.weights[0], alone, atol=1e-4)
        np.testing.assert_allclose(each.weights.sum(-1), 1, rtol=1e-5)
    np.testing.assert_array_equal(alignment(seen), seen.maps[-1].weights[0])
    assert look_of_word(seen, "Huhn").kind == "cross"


@pytest.mark.parametrize("score", ["dot", "scaled-dot", "bilinear", "additive"])
def test_steps_walk_through_a_look_that_projects_nothing(score: str) -> None:
    run = make("seq2seq-attention", score=score, **EVEN)
    found = walk(run, **PAIR, word="Huhn")
    seen = trace(run, **PAIR, scores=True).maps[0]
    assert (found.kind, f"{found.name}.look.weights", found.share) == ("cross", seen.name, None)
    np.testing.assert_allclose(found.weights, seen.weights[0, found.at], atol=1e-6)
    np.testing.assert_allclose(found.scores, seen.scores[0, found.at], atol=1e-5)
    assert found.difference < 1e-5
    said = shown(run, **PAIR, word="Huhn")
    assert "this is the query one token before it" in said
    assert "Nothing is projected" in said
    assert "output matrix" not in said


@pytest.mark.parametrize("preset", ATTENTIVE)
def test_steps_end_where_the_kernel_does(preset: str) -> None:
    found = walk(make(preset, **EVEN), **PAIR, word="Straße", layer=LAYERS.get(preset, 1) - 1)
    assert found.difference < 1e-5
    assert len(found.keys) == len(found.weights) == len(found.value)


@pytest.mark.parametrize("preset", BLIND)
def test_a_translator_without_attention_says_what_it_can_show(preset: str, tmp_path) -> None:
    run = make(preset, **EVEN)
    seen = trace(run, **PAIR)
    assert seen.maps == []
    for asked in (lambda: walk(run, **PAIR, word="Huhn"), lambda: draw_word(seen, "Huhn", tmp_path / "a.svg")):
        with pytest.raises(UserError, match="no attention: its influence, and its gates"):
            asked()
    with pytest.raises(UserError, match="only a translator with attention aligns"):
        alignment(seen)
