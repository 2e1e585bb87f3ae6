"""What must hold for every system that reads a text and answers, whatever its head."""

from dataclasses import replace

import torch
from torch.nn.functional import pad

from regard.data import IGNORE, Batch
from regard.data.trees import grown, planted
from regard.objectives.likelihood import label_nats
from regard.place import Place
from regard.systems import System
from regard.tap import record
from tests.data.trees import drawn
from tests.helpers import line
from tests.laws.cases import LABELS, VOCABULARY, Case, every_encoder, ragged, texts
from tests.laws.test_laws import same

LENGTHS = [13, 7, 11]
SEGMENTS = torch.arange(13).expand(3, 13) // 4 % 2
TREES = planted(line(3, 13), [grown(drawn(11, seed)) for seed in range(3)])


def place(present: torch.Tensor | None = None, segments: torch.Tensor | None = SEGMENTS) -> Place:
    return replace(TREES, present=present, segment=segments)


def wider_place(length: int) -> Place:
    """The same places with more padding."""
    tree = {name: pad(getattr(TREES, name), (0, length - 13)) for name in ("depth", "enters", "leaves")}
    return replace(line(3, length), present=ragged(LENGTHS, length), **tree)


def batch() -> Batch:
    return Batch(texts(), torch.tensor([2, 0, 4]), 3, place(ragged(LENGTHS)), whole=True)


def answers(model: System, tokens: torch.Tensor, at: Place) -> list[torch.Tensor]:
    """Of each row, without what is said of the padding."""
    found = model.answer(tokens, at)
    lengths = at.present.sum(1).tolist() if at.present is not None else [tokens.shape[1]] * len(tokens)
    return [line if model.answers == "labels" else line[:n] for line, n in zip(found, lengths, strict=True)]


def cost(model: System, piece: Batch) -> torch.Tensor:
    """Something that depends on every answer: the head's own, and whether a second text follows."""
    rows = answers(model, piece.tokens, piece.at)
    total = sum(
        label_nats(row.flatten(0, -2) if row.ndim > 1 else row[None], wanted(row), 0.1)[0].sum() for row in rows
    )
    if model.head.judges:
        total = total + model.head.follows(model.embed(piece.tokens, piece.at), piece.at)[:, 1].sum()
    return total


def wanted(row: torch.Tensor) -> torch.Tensor:
    return torch.arange(row.shape[0] if row.ndim > 1 else 1) % row.shape[-1]


def gradients(model: System, pieces: list[Batch]) -> dict[str, torch.Tensor]:
    model.zero_grad()
    for piece in pieces:
        cost(model, piece).backward()
    return {name: parameter.grad.clone() for name, parameter in model.named_parameters()}


@every_encoder
def test_a_text_gets_its_answers(case: Case) -> None:
    model = case.build()
    each = {"labels": (3, LABELS), "tags": (3, 13, LABELS), "words": (3, 13, VOCABULARY)}
    vectors = model.embed(texts(), place())
    assert model.answer(texts(), place(ragged(LENGTHS))).shape == each.get(model.answers, vectors.shape)
    assert model.labels == (LABELS if model.answers in ("labels", "tags") else 0)
    assert model.writes_text is False and vectors.shape[:2] == (3, 13)


@every_encoder
def test_padding_is_inert(case: Case) -> None:
    """Neither what the padding says nor how much there is of it changes a result."""
    model, tokens, present = case.build(), texts(), ragged(LENGTHS)
    once = answers(model, tokens, place(present, None))
    for got, row in zip(answers(model, tokens.where(present, texts(seed=8)), place(present, None)), once, strict=True):
        same(got, row)
    wider = torch.cat([tokens, texts(3, 4, seed=8)], dim=1)
    for got, row in zip(answers(model, wider, wider_place(17)), once, strict=True):
        same(got, row)


@every_encoder
def test_a_batch_equals_each_row_alone(case: Case) -> None:
    model, whole = case.build(), batch()
    together = answers(model, whole.tokens, whole.at)
    for i, length in enumerate(LENGTHS):
        row = whole.row(i)
        assert row.tokens.shape == (1, length) and row.at.present is None
        same(together[i], answers(model, row.tokens, row.at)[0])


@every_encoder
def test_every_token_counts(case: Case) -> None:
    """In its place: a text whose words are turned around is answered otherwise, up to the last of each row."""
    model, tokens, present = case.build(), texts(), ragged(LENGTHS)
    found = answers(model, tokens, place(present))
    for i, length in enumerate(LENGTHS):
        changed = tokens.clone()
        changed[i, length - 1] = (changed[i, length - 1] + 1) % VOCABULARY
        assert not torch.allclose(answers(model, changed, place(present))[i], found[i])
    turned = torch.cat([tokens[:, 6:7], tokens[:, 1:6], tokens[:, :1], tokens[:, 7:]], dim=1)
    assert not torch.allclose(answers(model, turned, place(present))[0], found[0])


@every_encoder
def test_accumulated_equals_the_full_batch(case: Case) -> None:
    model, whole = case.build(), batch()
    full = gradients(model, [whole])
    for pieces in (2, 3):
        for name, gradient in gradients(model, whole.split(pieces)).items():
            same(gradient, full[name])


@every_encoder
def test_every_parameter_is_used(case: Case) -> None:
    model = case.build()
    found = gradients(model, [batch()])
    unused = {name for name, gradient in found.items() if not bool(gradient.any())}
    assert not unused


@every_encoder
def test_recording_changes_nothing(case: Case) -> None:
    model, tokens, at = case.build(), texts(), place(ragged(LENGTHS))
    unheard = model.answer(tokens, at)
    with record(model, "*") as seen:
        heard = model.answer(tokens, at)
    assert torch.equal(unheard, heard)
    if model.answers == "labels":
        same(seen["head.pooled"] @ model.head.rows.weight.T + model.head.rows.bias, heard)


@every_encoder
def test_dropout_acts_in_training_alone(case: Case) -> None:
    model, tokens, at = case.build(dropout=0.5), texts(), place()
    same(model.answer(tokens, at), model.answer(tokens, at))
    model.train()
    assert not torch.allclose(model.answer(tokens, at), model.answer(tokens, at))


def test_segments_are_told_apart_and_none_is_the_first() -> None:
    model = Case("bert").build()
    same(model.answer(texts(), place(None, None)), model.answer(texts(), place(None, torch.zeros_like(SEGMENTS))))
    assert not torch.allclose(model.answer(texts(), place(None, None)), model.answer(texts(), place()))


def test_targets_may_stand_anywhere_in_a_row_that_is_read_whole() -> None:
    tokens, targets = texts(), torch.full((3, 13), IGNORE)
    targets[:, 2] = 7
    whole = Batch(tokens, targets, 3, place(ragged(LENGTHS)), whole=True)
    assert whole.lengths == LENGTHS
    assert whole.row(2).tokens.shape == (1, 11) and whole.row(2).count == 1
    assert [part.count for part in whole.split(2)] == [2, 1]
