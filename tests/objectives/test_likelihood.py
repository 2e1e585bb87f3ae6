"""Maximum likelihood against sums written out (O1, O2), and in pieces that never hold all logits."""

import math
from types import SimpleNamespace

import pytest
import torch

from regard.data import IGNORE, Batch
from regard.objectives import OBJECTIVES, NextToken, likelihood
from regard.systems.gpt import Gpt
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
        system = SimpleNamespace(hidden=lambda *_, **__: wanted, logits=lambda rows: rows, vocabulary=13, context=99)
        return float(objective(system, given).nats) / given.count

    assert loss(100.0) == pytest.approx(0, abs=1e-6)
    assert loss(0.0) == pytest.approx(math.log(13))


def test_smoothing_lies_between_0_and_1() -> None:
    for wrong in (-0.1, 1.0):
        with refused(f"objective.smoothing = {wrong}; it must be at least 0 and less than 1"):
            NextToken(smoothing=wrong)
