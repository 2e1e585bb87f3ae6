"""What must hold for every system that reads a text and names it."""

import torch

from regard.data import Batch
from regard.objectives import Classification
from regard.place import Place
from regard.systems import System
from regard.tap import record
from tests.laws.cases import LABELS, MODELS, Case, every_classifier, ragged, texts
from tests.laws.test_laws import same

LENGTHS = [13, 7, 11]
OBJECTIVE = Classification(smoothing=0.1)


def batch() -> Batch:
    tokens = texts()
    return Batch(tokens, torch.tensor([2, 0, 4]), 3, Place.line(tokens, ragged(LENGTHS)))


def gradients(model: System, pieces: list[Batch]) -> dict[str, torch.Tensor]:
    model.zero_grad()
    for piece in pieces:
        (OBJECTIVE(model, piece).total / 3).backward()
    return {name: parameter.grad.clone() for name, parameter in model.named_parameters()}


def test_every_system_writes_text_or_classifies() -> None:
    """So that none is left out of all laws."""
    assert all(model.writes_text != bool(model.labels) for _, model in MODELS)


@every_classifier
def test_a_text_gets_a_score_for_each_label(case: Case) -> None:
    model = case.build()
    assert model.labels == LABELS
    assert model.classify(texts(), ragged(LENGTHS)).shape == (3, LABELS)
    assert model.embed(texts(), Place.line(texts())).shape[:2] == (3, 13)


@every_classifier
def test_padding_is_inert(case: Case) -> None:
    """Neither what the padding says nor how much there is of it changes a result."""
    model, tokens, present = case.build(), texts(), ragged(LENGTHS)
    once = model.classify(tokens, present)
    same(model.classify(tokens.where(present, texts(seed=8)), present), once)
    wider = torch.cat([tokens, texts(3, 4, seed=8)], dim=1)
    same(model.classify(wider, ragged(LENGTHS, 17)), once)
    assert not torch.allclose(model.classify(tokens), once), "the padding would have been seen"


@every_classifier
def test_a_batch_equals_each_row_alone(case: Case) -> None:
    model, whole = case.build(), batch()
    together = model.classify(whole.tokens, whole.at.present)
    for i, length in enumerate(LENGTHS):
        row = whole.row(i)
        assert row.tokens.shape == (1, length) and row.at.present is None
        same(together[i], model.classify(row.tokens)[0])


@every_classifier
def test_every_token_counts(case: Case) -> None:
    """Up to the last of each row, and in its place: with mean and maximum too, the cells and windows see the order."""
    model, tokens, present = case.build(), texts(), ragged(LENGTHS)
    vectors: list[torch.Tensor] = []
    model.embedding.register_forward_hook(lambda module, inputs, output: vectors.append(output))
    scores = model.classify(tokens, present)
    heard = torch.autograd.grad(scores.square().sum(), vectors[0])[0].abs().sum(-1)
    assert not heard[~present].any()
    assert bool((heard[:, 0] > 0).all()) and bool((heard[torch.arange(3), torch.tensor(LENGTHS) - 1] > 0).all())
    turned = torch.cat([tokens[:, 6:7], tokens[:, 1:6], tokens[:, :1], tokens[:, 7:]], dim=1)
    assert not torch.allclose(model.classify(turned, present), scores)


@every_classifier
def test_accumulated_equals_the_full_batch(case: Case) -> None:
    model, whole = case.build(), batch()
    full = gradients(model, [whole])
    for pieces in (2, 3):
        parts = whole.split(pieces)
        assert [part.count for part in parts] == [len(part) for part in parts]
        for name, gradient in gradients(model, parts).items():
            same(gradient, full[name])


@every_classifier
def test_every_parameter_is_used(case: Case) -> None:
    """And each row of the head by every text."""
    model = case.build()
    found = gradients(model, [batch()])
    assert all(bool(gradient.any()) for gradient in found.values())
    assert bool(found["head.rows.weight"].any(1).all())


@every_classifier
def test_recording_changes_nothing(case: Case) -> None:
    model, tokens, present = case.build(), texts(), ragged(LENGTHS)
    unheard = model.classify(tokens, present)
    with record(model, "*") as seen:
        heard = model.classify(tokens, present)
    assert torch.equal(unheard, heard)
    same(seen["head.pooled"] @ model.head.rows.weight.T + model.head.rows.bias, heard)


@every_classifier
def test_dropout_acts_in_training_alone(case: Case) -> None:
    model, tokens = case.build(dropout=0.5), texts()
    same(model.classify(tokens), model.classify(tokens))
    model.train()
    assert not torch.allclose(model.classify(tokens), model.classify(tokens))
