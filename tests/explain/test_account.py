"""The account for a terminal against a slow look at the arrays, for every kind of model."""

import math

import numpy as np
import pytest

from regard.checkpoint import Run
from regard.explain import Map, trace
from regard.explain import account as module
from regard.explain.account import account, head
from tests.explain.conftest import EVEN, SOURCE, encoder, make, texts_for


def told(run: Run, **how: bool) -> dict[str, list[dict]]:
    return {each.heading: each.rows for each in account(trace(run, **texts_for(run), **how))}


def holds(offset: tuple[int, int], characters: list[int]) -> bool:
    return any(offset[0] <= character < offset[1] for character in characters)


def strongest(weights: list[list[float]]) -> tuple[int, int]:
    """The look that is furthest above an even one, among those who may look at more than one token."""
    best, found = -math.inf, (0, 0)
    for query, row in enumerate(weights):
        seen = [weight for weight in row if weight > 0]
        for key, weight in enumerate(row):
            if len(seen) > 1 and weight - 1 / len(seen) > best:
                best, found = weight - 1 / len(seen), (query, key)
    return found


def test_each_head_has_its_strongest_look(speaker: Run) -> None:
    seen = trace(speaker, **texts_for(speaker))
    (heading, rows), *rest = told(speaker).items()
    assert heading == "Attention of the decoder, to itself" and not rest
    assert [(row["layer"], row["head"]) for row in rows] == [(layer, head) for layer in (0, 1) for head in range(3)]
    labels = seen.target.labels
    for row in rows:
        weights = seen.maps[row["layer"]].weights[row["head"]]
        query, key = strongest(weights.tolist())
        assert row["strongest look"] == f"{labels[query]} → {labels[key]}"
        assert row["weight"] == pytest.approx(weights[query, key], abs=6e-4)
        mean = [sum(each) / len(each) for each in weights[1:].T.tolist()]  # the first token sees itself alone
        assert row["on average most at"] == labels[mean.index(max(mean))]
        assert row["mean weight"] == pytest.approx(max(mean), abs=6e-4)


def test_a_row_of_one_token_and_one_of_none_say_nothing_of_a_head(speaker: Run) -> None:
    seen = trace(speaker, text="chicken")
    weights = np.zeros((1, 4, 4))
    weights[0, 1, 0], weights[0, 2] = 1, (0.2, 0.3, 0.5, 0)
    row = head(seen, Map("a", "decoder", 0, weights, keys=("w", "x", "y", "z")), 0)
    assert (row["strongest look"].split(" → ")[1], row["weight"]) == ("y", 0.5)
    only = np.zeros((1, 4, 4))
    only[0, 3, 2] = 1
    row = head(seen, Map("a", "decoder", 0, only, keys=("w", "x", "y", "z")), 0)
    assert (row["strongest look"].split(" → ")[1], row["mean weight"]) == ("y", 1)


def test_of_many_heads_each_layer_names_one(speaker: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    every = told(speaker)["Attention of the decoder, to itself"]
    monkeypatch.setattr(module, "MOST", 5)
    ((heading, rows),) = told(speaker).items()
    assert heading == "Attention of the decoder, to itself: of each layer the head with the strongest look"
    best = {layer: max(row["weight"] for row in every if row["layer"] == layer) for layer in (0, 1)}
    assert {row["layer"]: row["weight"] for row in rows} == best
    monkeypatch.setattr(module, "MOST", 1)
    assert next(iter(told(speaker))).endswith("the strongest look, the first 1 of 2")


def test_gates_experts_and_influence_are_told() -> None:
    run = make("moe-lstm", **EVEN)
    seen, found = trace(run, **texts_for(run), influence=True), told(run, influence=True)
    gates = found["Gates, from 0 (closed) to 1 (open)"]
    assert len(gates) == sum(len(each.gates) for each in seen.gates)
    first = seen.gates[0].mean[0]
    assert gates[0]["open on average"] == pytest.approx(first.mean(), abs=6e-4)
    assert gates[0]["most open at"] == seen.side(seen.gates[0].side).labels[int(first.argmax())]
    experts = found["Experts: the one that counts most in each layer"]
    assert [row["expert"] for row in experts] == [int(each.weights.sum(0).argmax()) for each in seen.experts]
    heading, rows = list(found.items())[-1]
    assert heading.startswith("Influence: what each output depends on, in shares")
    shares = np.concatenate([seen.influence.shares.source, seen.influence.shares.target], axis=1)
    names = [*seen.source.labels, *seen.target.labels]
    for row, label, values in zip(rows, seen.written.labels, shares, strict=False):
        assert row["output"] == label
        assert row["depends most on"].startswith(f"{names[int(values.argmax())]} {values.max():.2f}")


@pytest.mark.parametrize("preset", ["rnn-classifier", "bilstm-tagger"])
def test_what_is_said_of_a_text_comes_first(preset: str) -> None:
    run = make(preset, **EVEN) if preset == "rnn-classifier" else encoder("rnn-encoder", "tagging")
    seen, found = trace(run, **texts_for(run)), told(run)
    heading, rows = next(iter(found.items()))
    if preset == "rnn-classifier":
        assert heading == "Label" and rows[0]["label"] == seen.labels[seen.label]
        assert [row["output"] for row in found["Influence: what each output depends on, in shares"]] == [
            rows[0]["label"]
        ]
    else:
        first = [seen.target.text.index(word) for word in SOURCE.split()]  # tokens that a word begins with
        places = [i for i, token in enumerate(seen.target.tokens) if token.offset and holds(token.offset, first)]
        assert heading == "Tags" and [row["word"] for row in rows] == SOURCE.split()
        assert [row["tag"] for row in rows] == [seen.tags[i] for i in places]
        shares = seen.influence.shares.target[places]
        told_of = found["Influence: what each output depends on, in shares"]
        assert [row["output"] for row in told_of] == SOURCE.split()
        for row, values in zip(told_of, shares, strict=True):
            assert row["depends most on"].startswith(f"{seen.target.labels[values.argmax()]} {values.max():.2f}")
    assert rows[0]["probability"] == pytest.approx(
        np.exp(seen.log_probability.max() if preset == "rnn-classifier" else seen.log_probability[places[0]]), abs=6e-4
    )
