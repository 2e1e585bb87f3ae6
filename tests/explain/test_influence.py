"""Influence is the size of a derivative: it equals finite differences, and nothing comes from where nothing can."""

import math

import numpy as np
import pytest
import torch

from regard.errors import UserError
from regard.explain import to_json, trace
from regard.explain.influence import AT_ONCE, MEASURE, derivable, influence_of, sizes, word_vectors
from regard.explain.listening import listen
from regard.explain.sides import sides
from tests.explain.conftest import ATTENTIVE, BLIND, CLASSIFIERS, EVEN, LABELS, SOURCE, SPEAKERS, make, texts_for

STEP = 1e-4


def test_a_linear_model_gives_its_weights_back() -> None:
    weights = torch.randn(3, 5, 7)
    inputs = [torch.randn(3, 2, 7, requires_grad=True), torch.randn(3, 3, 7, requires_grad=True)]
    outputs = (weights * torch.cat(inputs, dim=1)).sum((1, 2))
    torch.testing.assert_close(torch.cat(sizes(outputs, inputs), dim=1), weights.norm(dim=-1))


def test_what_is_not_used_has_no_influence() -> None:
    used, idle = torch.ones(2, 3, 5, requires_grad=True), torch.ones(2, 7, 5, requires_grad=True)
    assert sizes((used**2).sum((1, 2)), [used, idle])[1].shape == (2, 7)
    assert not sizes((used**2).sum((1, 2)), [used, idle])[1].any()


def slope(run, embedding: str, at: int, log_probability) -> float:
    """The L2 norm of central differences along every coordinate of one token's vector, all in one batch."""
    width = run.model.width
    moves = torch.cat([torch.eye(width), -torch.eye(width)]).double() * STEP

    def push(module, arguments, vectors):
        vectors = vectors.clone()
        vectors[:, at] += moves
        return vectors

    hook = run.model.get_submodule(embedding).register_forward_hook(push)
    with torch.no_grad():
        up, down = log_probability(2 * width).chunk(2)
    hook.remove()
    return float(((up - down) / (2 * STEP)).norm())


@pytest.mark.parametrize(
    ("preset", "settings"),
    [("lstm-lm", {}), ("seq2seq", {"reversed": True}), ("seq2seq-attention", EVEN), ("bytenet", EVEN), ("gpt", {})],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_equals_finite_differences(preset: str, settings) -> None:
    run = make(preset, **settings)
    run.model.double()
    source, target = sides(run, **{"text": None, "source": None, "target": None, **texts_for(run)})
    found = influence_of(run, source, target, listen(run, source, target))
    ids = torch.tensor([token.id for token in target.tokens])
    read = torch.tensor([token.id for token in source.tokens]) if source else None
    row = 6

    def log_probability(rows: int) -> torch.Tensor:
        memory = run.model.encode(read.repeat(rows, 1)) if read is not None else None
        return run.model.decode(ids.repeat(rows, 1), memory)[:, row].log_softmax(-1)[:, ids[row + 1]]

    own = "decoder.embedding" if preset == "gpt" else "embedding"
    cases = [(own, found.target, 5), (own, found.target, 0)]
    cases += [("source", found.source, 3)] if source else []
    for embedding, values, at in cases:
        wanted = slope(run, embedding, at, log_probability)
        assert wanted > 1e-6 or preset == "bytenet"
        assert math.isclose(values[row, at], wanted, rel_tol=1e-4, abs_tol=1e-9)


@pytest.mark.parametrize("preset", [*SPEAKERS, *BLIND, *ATTENTIVE, "gpt", "transformer-tiny"])
def test_later_tokens_have_none_at_all(preset: str) -> None:
    run = make(preset, **({} if preset in (*SPEAKERS, "gpt", "transformer-tiny") else EVEN))
    seen = trace(run, **texts_for(run), influence=True)
    found, rows, tokens = seen.influence, len(seen.written.tokens), len(seen.target.tokens)
    assert rows > AT_ONCE, "the text must take more than one pass"
    assert found.target.shape == (rows, tokens)
    assert not np.triu(found.target, 1).any()
    assert (np.diagonal(found.target) > 0).all()
    if run.model.reads_source:
        assert found.source.shape == (rows, len(seen.source.tokens))
        assert found.source.any(0).all() or preset == "bytenet"
    parts = [part for part in (found.shares.source, found.shares.target) if part is not None]
    np.testing.assert_allclose(np.hstack(parts).sum(1), 1, rtol=1e-5)


def test_a_window_sees_no_further_than_its_reach() -> None:
    run = make("window-lm", window=3)
    found = trace(run, text=SOURCE).influence.target
    behind = np.subtract.outer(np.arange(found.shape[0]), np.arange(found.shape[1]))
    assert run.model.reach == 4
    assert (found[(behind >= 0) & (behind <= 4)] > 0).all()
    assert not found[(behind < 0) | (behind > 4)].any()


@pytest.mark.parametrize("preset", [*BLIND, *ATTENTIVE])
def test_padding_of_a_source_has_none(preset: str) -> None:
    model = make(preset, **EVEN).model
    source, tokens = torch.arange(4, 17).repeat(2, 1), torch.arange(5, 12).repeat(2, 1)
    present = torch.arange(13) < torch.tensor([[13], [8]])
    with derivable():
        with word_vectors(model) as read:
            memory = model.encode(source, present)
        outputs = model.decode(tokens, memory).log_softmax(-1)[:, -1, 7]
        (found,) = sizes(outputs, read)
    assert not found[1, 8:].any()
    assert found[1, :8].any() and found[0, 8:].any()


@pytest.mark.parametrize("preset", CLASSIFIERS)
def test_a_classifier_has_a_row_for_each_label(preset: str) -> None:
    run = make(preset, **EVEN)
    seen = trace(run, text=SOURCE)
    assert (seen.labels, seen.written) == (LABELS, None)
    tokens = [run.tokenizer.start, *run.tokenizer.encode(SOURCE), run.tokenizer.end]
    assert [token.id for token in seen.target.tokens] == tokens
    with torch.no_grad():
        wanted = run.model.answer(torch.tensor([tokens]))[0].log_softmax(-1)
    np.testing.assert_allclose(seen.log_probability, wanted.numpy(), rtol=1e-5)
    assert seen.label == int(wanted.argmax())
    assert seen.influence.source is None
    assert seen.influence.target.shape == (3, len(tokens))
    assert seen.influence.target.any()
    with pytest.raises(UserError, match="this run is a classifier: give it a text"):
        trace(run, source="a", target="b")


def test_a_sure_answer_keeps_its_derivative() -> None:
    """1 - p of a token that is all but certain is lost in single precision, and with it half of the derivative."""
    run = make("lstm-lm", cell="gru", tied=False)
    with torch.no_grad():
        run.model.output.rows.weight *= 60
    seen = trace(run, text=SOURCE)
    sure = seen.log_probability > -1e-7
    assert sure.any()
    run.model.double()
    exact = trace(run, text=SOURCE).influence.target
    np.testing.assert_allclose(seen.influence.target[sure], exact[sure], rtol=2e-2)


def test_it_is_measured_where_asked_for_or_where_nothing_else_can_be_seen(speaker) -> None:
    assert trace(speaker, text=SOURCE).influence is None
    assert trace(speaker, text=SOURCE, influence=True).influence is not None
    seen = trace(make("lstm-lm"), text=SOURCE)
    plain = to_json(seen)
    assert plain["influence"]["measure"] == MEASURE
    assert plain["influence"]["source"] is None
    np.testing.assert_allclose(plain["influence"]["target"], seen.influence.target, rtol=1e-5)
    assert [token["piece"] for token in plain["written"]["tokens"]] == [t.piece for t in seen.target.tokens[1:]]


def test_looking_leaves_nothing_behind() -> None:
    run = make("lstm-lm")
    trace(run, text=SOURCE)
    assert all(parameter.grad is None for parameter in run.model.parameters())
    for parameter in run.model.parameters():
        parameter.requires_grad_(False)  # frozen: the vectors alone are derived by
    assert trace(run, text=SOURCE).influence.target.any()
