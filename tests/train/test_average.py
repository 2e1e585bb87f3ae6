"""Averages of the weights against the same computed directly."""

import copy

import pytest
import torch

from regard.recipe import Train
from regard.systems.gpt import Gpt
from regard.train.average import AVERAGES, Ema, Last, LastSaved, using
from tests.helpers import same


def model() -> torch.nn.Module:
    return Gpt(width=14, heads=2, depth=1, context=11).build(13)


def walk(system: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Move every weight somewhere else; a copy of where they are now."""
    with torch.no_grad():
        for parameter in system.parameters():
            parameter += torch.randn_like(parameter)
    return {name: parameter.detach().clone() for name, parameter in system.named_parameters()}


def test_a_moving_average_equals_its_definition() -> None:
    """a <- d a + (1 - d) w, with d = min(decay, (1 + t) / (10 + t)) at step t, from the weights of the first step."""
    system = model()
    average, expected = Ema(system, Train(average_decay=0.7)), {}
    for step in range(1, 41):
        now = walk(system)
        average.after_step(step)
        decay = min(0.7, (1 + step) / (10 + step)) if step > 1 else 0.0
        expected = {name: decay * expected.get(name, 0) + (1 - decay) * now[name] for name in now}
    for name, tensor in average.weights().items():
        same(tensor, expected[name])


def test_a_moving_average_does_not_depend_on_the_order_of_its_names() -> None:
    """A state that was saved comes back in another order."""
    system = model()
    one, other = Ema(system, Train()), Ema(system, Train())
    for step in range(1, 6):
        walk(system)
        one.after_step(step)
        other.after_step(step)
        other.restore(dict(sorted(other.kept.items(), reverse=True)))
    for name, tensor in one.weights().items():
        assert torch.equal(tensor, other.weights()[name])


def test_the_last_checkpoints_are_averaged_and_older_ones_forgotten() -> None:
    system = model()
    average, seen = LastSaved(system, Train(average_last=3)), []
    for step in (7, 14, 21, 101):
        seen.append(walk(system))
        average.before_save(step)
        for name, tensor in average.weights().items():
            same(tensor, sum(weights[name] for weights in seen[-3:]) / len(seen[-3:]))
    assert len(average.kept) == 3 * len(seen[0])


@pytest.mark.parametrize("kind", AVERAGES)
def test_before_anything_was_kept_the_weights_are_the_models(kind: str) -> None:
    system = model()
    for name, tensor in AVERAGES[kind](system, Train()).weights().items():
        assert torch.equal(tensor, dict(system.named_parameters())[name])


def test_without_an_average_the_weights_are_those_of_now() -> None:
    system = model()
    average = Last(system, Train())
    now = walk(system)
    average.after_step(1)
    average.before_save(1)
    assert all(torch.equal(tensor, now[name]) for name, tensor in average.weights().items())
    assert not average.kept


def test_what_is_kept_does_not_move_with_the_model() -> None:
    system = model()
    for average in (Ema(system, Train()), LastSaved(system, Train())):
        average.after_step(1)
        average.before_save(1)
        before = copy.deepcopy(average.weights())
        walk(system)
        assert all(torch.equal(before[name], tensor) for name, tensor in average.weights().items())


def test_other_weights_are_used_for_a_while_and_the_old_ones_come_back() -> None:
    system = model()
    before = walk(system)
    others = {name: torch.zeros_like(tensor) for name, tensor in before.items()}
    with pytest.raises(ZeroDivisionError), using(system, others):
        assert not any(parameter.any() for parameter in system.parameters())
        raise ZeroDivisionError
    assert all(torch.equal(parameter, before[name]) for name, parameter in system.named_parameters())
