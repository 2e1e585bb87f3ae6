"""Gates and experts are shown at the token that they act on, of the side that they read."""

import numpy as np
import pytest
import torch

from regard.explain import to_json, trace
from tests.explain.conftest import EVEN, SOURCE, TARGET, make, texts_for

PAIR = {"source": SOURCE, "target": TARGET}
GRU = {"cell": "gru"}


def by_hand(layer, inputs: torch.Tensor) -> np.ndarray:
    """The gates of a layer that starts from nothing, one token after the other: `[gate, token, unit]`."""
    into, again, one, other = (part.detach() for part in layer.fused.all_weights[0])
    order = reversed(range(len(inputs))) if layer.backward else range(len(inputs))
    state, memory = torch.zeros(1, layer.fused.hidden_size), torch.zeros(1, layer.fused.hidden_size)
    found: dict[int, torch.Tensor] = {}
    for t in order:
        sums = (into @ inputs[t] + one + again @ state[0] + other).unflatten(0, (-1, layer.fused.hidden_size)).sigmoid()
        found[t] = sums[:2] if layer.cell.name == "gru" else sums[[0, 1, 3]]
        with torch.no_grad():
            if layer.cell.name == "gru":
                state = torch.gru_cell(inputs[t][None], state, into, again, one, other)
            else:
                state, memory = torch.lstm_cell(inputs[t][None], (state, memory), into, again, one, other)
    return torch.stack([found[t] for t in range(len(inputs))], dim=1).numpy()


@pytest.mark.parametrize(
    ("preset", "name", "settings"),
    [
        ("lstm-lm", "layers.layers.0", {}),
        ("lstm-lm", "layers.layers.0", GRU),
        ("seq2seq", "encoder.layers.0", {}),
        ("seq2seq", "encoder.layers.0", {"reversed": True}),
        ("seq2seq-attention", "encoder.0.onward", EVEN),
        ("seq2seq-attention", "encoder.0.backward", {**EVEN, **GRU}),
        ("rnn-classifier", "layers.0.backward", EVEN),
    ],
)
def test_gates_stand_at_their_tokens(preset: str, name: str, settings) -> None:
    run = make(preset, **settings)
    seen = trace(run, **texts_for(run))
    (found,) = (each for each in seen.gates if each.name == f"{name}.gates")
    assert found.side == ("source" if run.model.reads_source else "target")
    tokens = torch.tensor([token.id for token in seen.side(found.side).tokens])
    embedding = run.model.source if run.model.reads_source else run.model.embedding
    vectors = embedding.rows.weight.detach()[tokens] * embedding.scale
    layer = run.model.get_submodule(name)
    assert found.direction == ("backward" if "backward" in name or settings.get("reversed") else "onward")
    assert (found.cell, found.gates) == (layer.cell.name, tuple(layer.cell.gates))
    np.testing.assert_allclose(found.units, by_hand(layer, vectors), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.mean, found.units.mean(-1))


def kinds(seen) -> list[tuple[str, int, str | None]]:
    return [(each.side, each.layer, each.direction) for each in seen.gates]


BOTH = ["onward", "backward"]


@pytest.mark.parametrize(
    ("preset", "wanted"),
    [
        (
            "seq2seq",
            [("source", 0, "onward"), ("source", 1, "onward"), ("target", 0, "onward"), ("target", 1, "onward")],
        ),
        (
            "gnmt",
            [
                *(("source", 0, way) for way in BOTH),
                ("source", 1, "onward"),
                *(("target", i, "onward") for i in (0, 1)),
            ],
        ),
        (
            "deep-att",
            [
                *(("source", i, way) for i, way in enumerate(BOTH)),
                *(("source", i, way) for i, way in enumerate(BOTH[::-1])),
                *(("target", i, "onward") for i in (0, 1)),
            ],
        ),
        (
            "moe-lstm",
            [
                *(("source", 0, way) for way in BOTH),
                *(("source", i, "onward") for i in (1, 2)),
                *(("target", i, "onward") for i in (0, 1)),
            ],
        ),
        ("convs2s", [*(("source", i, None) for i in (0, 1)), *(("target", i, None) for i in (0, 1))]),
        ("bytenet", []),
    ],
)
def test_layers_are_counted_on_the_side_that_they_read(preset: str, wanted) -> None:
    seen = trace(make(preset, **EVEN), **PAIR)
    assert kinds(seen) == wanted
    for each in seen.gates:
        units = {"onward": 22, "backward": 11, None: 22}[each.direction]
        units = 11 if preset == "deep-att" and each.side == "source" else units
        units = 11 if each.name.startswith("both_ways") else units
        assert each.units.shape == (len(each.gates), len(seen.side(each.side).tokens), units)
        assert 0 <= each.units.min() < each.units.max() <= 1


def test_an_elman_cell_has_none_and_says_so() -> None:
    seen = trace(make("rnn-lm"), text=SOURCE)
    assert seen.gates == []
    assert seen.lacks == (
        "no attention: what each output depends on is shown instead",
        "no gates: an Elman cell ('rnn') has none",
    )
    assert trace(make("lstm-lm"), text=SOURCE).lacks == seen.lacks[:1]
    assert trace(make("seq2seq-attention", cell="rnn", **EVEN), **PAIR).lacks == seen.lacks[1:]
    assert trace(make("gpt"), text=SOURCE).lacks == ()


def test_plain_numbers_of_gates_say_the_same() -> None:
    seen = trace(make("gnmt", **EVEN), **PAIR)
    for each, written in zip(seen.gates, to_json(seen)["gates"], strict=True):
        assert (written["name"], written["side"], written["layer"]) == (each.name, each.side, each.layer)
        assert (written["direction"], written["gates"]) == (each.direction, ["input", "forget", "output"])
        np.testing.assert_allclose(written["mean"], each.mean, atol=1e-6)
        np.testing.assert_allclose(written["closed"], (each.units < 0.1).mean(-1), atol=1e-6)
        np.testing.assert_allclose(written["open"], (each.units > 0.9).mean(-1), atol=1e-6)


def test_each_token_goes_to_the_experts_that_were_chosen_for_it() -> None:
    run = make("moe-lstm", experts=5, chosen=3, **EVEN)
    seen = trace(run, **PAIR)
    assert [(each.side, each.layer) for each in seen.experts] == [("source", 0), ("target", 0)]
    for each, written in zip(seen.experts, to_json(seen)["experts"], strict=True):
        assert each.weights.shape == (len(seen.side(each.side).tokens), 5)
        assert ((each.weights > 0).sum(1) == 3).all()
        np.testing.assert_allclose(each.weights.sum(1), 1, rtol=1e-5)
        np.testing.assert_allclose(written["weights"], each.weights, atol=2e-6)
    assert trace(make("gnmt", **EVEN), **PAIR).experts == []
