"""Maximum likelihood against sums written out (O1, O2), and in pieces that never hold all logits."""

import math
from types import SimpleNamespace

import pytest
import torch

from regard.data import IGNORE, Batch
from regard.objectives import OBJECTIVES, NextToken, likelihood
from regard.systems.gpt import Gpt
from regard.systems.rnn_lm import RnnLm
from regard.systems.window_lm import WindowLm
from tests.helpers import refused, same


def model() -> torch.nn.Module:
    return Gpt(width=14, heads=2, depth=1, dropout=0.0, context=11).build(13)


def batch() -> Batch:
    tokens, targets = torch.randint(0, 13, (3, 7)), torch.randint(0, 13, (3, 7))
    targets[0, 5:] = targets[2, :3] = IGNORE
    return Batch(tokens, targets, int((targets != IGNORE).sum()))


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_the_loss_equals_a_sum_over_the_counted_targets(smoothing: float) -> None:
    """-(1 - s) log p(target) - s mean of log p(v) over the whole vocabulary."""
    system, given = model(), batch()
    loss = NextToken(smoothing=smoothing)(system, given)
    logs = system.decode(given.tokens).detach().log_softmax(-1)
    nats = total = 0.0
    for row, targets in zip(logs, given.targets.tolist(), strict=True):
        for scores, target in zip(row.tolist(), targets, strict=True):
            if target != IGNORE:
                nats -= scores[target]
                total -= (1 - smoothing) * scores[target] + smoothing * sum(scores) / 13
    same(loss.nats, torch.tensor(nats))
    same(loss.total.detach(), torch.tensor(total))
    assert loss.count == given.count


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_in_pieces_it_is_the_same_in_value_and_gradient(smoothing: float, monkeypatch: pytest.MonkeyPatch) -> None:
    system, given, found = model(), batch(), []
    for at_once in (likelihood.AT_ONCE["cpu"], 5 * 13, 1):
        monkeypatch.setattr(likelihood, "AT_ONCE", {"cpu": at_once})
        system.zero_grad()
        loss = NextToken(smoothing=smoothing)(system, given)
        loss.total.backward()
        found.append([loss.total.detach(), loss.nats, *(p.grad.clone() for p in system.parameters())])
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            same(a, b)


def test_in_pieces_no_more_logits_are_held_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    system, sizes = model(), []
    real = system.logits
    system.logits = lambda rows: sizes.append(rows.shape[0]) or real(rows)
    monkeypatch.setattr(likelihood, "AT_ONCE", {"cpu": 5 * 13})
    NextToken()(system, batch())
    assert sum(sizes) == 21
    assert max(sizes) == 5


@pytest.mark.parametrize("kind", [kind for kind, cls in OBJECTIVES.items() if issubclass(cls, NextToken)])
def test_a_perfect_models_loss_is_zero_and_guessing_costs_the_log_of_the_vocabulary(kind: str) -> None:
    given = batch()
    objective = OBJECTIVES[kind](smoothing=0.0)

    def loss(sharpness: float) -> float:
        wanted = torch.nn.functional.one_hot(given.targets.clamp(min=0), 13).float() * sharpness
        sizes = {"vocabulary": 13, "context": 99, "whole_batches": False, "training": False}
        system = SimpleNamespace(hidden=lambda *_, **__: wanted, logits=lambda rows: rows, **sizes)
        return float(objective(system, given).nats) / given.count

    assert loss(100.0) == pytest.approx(0, abs=1e-6)
    assert loss(0.0) == pytest.approx(math.log(13))


def test_smoothing_lies_between_0_and_1() -> None:
    for wrong in (-0.1, 1.0):
        with refused(f"objective.smoothing = {wrong}; it must be at least 0 and less than 1"):
            NextToken(smoothing=wrong)


@pytest.mark.parametrize("kind", [RnnLm, WindowLm])
def test_texts_longer_than_the_context_are_carried_to_their_own_ends(
    kind: type[RnnLm] | type[WindowLm], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows end in no order, and one that has ended is read no further."""
    monkeypatch.setattr(likelihood, "PIECE", 19)
    model = kind(width=8, depth=2, context=5, dropout=0.0).build(31)
    tokens, lengths = torch.randint(31, (3, 42)), torch.tensor([[23], [41], [7]])
    targets = tokens[:, 1:].masked_fill(torch.arange(41) >= lengths, IGNORE)
    read = []
    hidden = model.hidden
    model.hidden = lambda ids, *more: read.append(ids.numel()) or hidden(ids, *more)
    got = NextToken()(model, Batch(tokens[:, :-1], targets, int(lengths.sum())))
    assert read == [18, 18, 18, 18, 11]  # pieces of 6 for three rows, then of 9 for two, then the rest of one
    whole = torch.nn.functional.cross_entropy(model.decode(tokens[:, :-1]).flatten(0, 1), targets.flatten())
    same(got.total / got.count, whole)
