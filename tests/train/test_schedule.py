"""Learning rates against their formulas, step by step."""

import math

import pytest

from regard.recipe import Train
from regard.train.schedule import schedule

STEPS, WARMUP, RATE = 101, 13, 0.7


def rates(**settings: object) -> list[float]:
    """The rate of each step, with the part of the training that is done before it."""
    made = schedule(Train(steps=STEPS, warmup=WARMUP, rate=RATE, **settings), width=512)
    return [made(step, (step - 1) / STEPS) for step in range(1, STEPS + 1)]


def up(step: int) -> float:
    return min(1.0, step / WARMUP)


def half_cosine(done: float) -> float:
    """From 1 where the warm-up ends to 0 where the training ends."""
    return (1 + math.cos(math.pi * (done - WARMUP / STEPS) / (1 - WARMUP / STEPS))) / 2


FORMULAS = {
    "noam": lambda step, done: RATE * 512**-0.5 * min(step**-0.5, step * WARMUP**-1.5),
    "inverse-sqrt": lambda step, done: RATE * (step / WARMUP if step < WARMUP else math.sqrt(WARMUP) / math.sqrt(step)),
    "cosine": lambda step, done: RATE * (up(step) if step <= WARMUP else 0.1 + 0.9 * half_cosine(done)),
    "constant": lambda step, done: RATE * up(step) * (1.0 if done < 0.8 else 0.1 + 0.9 * (1 - done) / 0.2),
}


@pytest.mark.parametrize("kind", FORMULAS)
def test_a_schedule_equals_its_formula(kind: str) -> None:
    expected = [FORMULAS[kind](step, (step - 1) / STEPS) for step in range(1, STEPS + 1)]
    assert rates(schedule=kind, floor=0.1, decay=0.2) == pytest.approx(expected)


def test_noam_is_highest_where_its_warmup_ends() -> None:
    """Vaswani et al. (2017): width 512 and 4,000 steps of warm-up reach about 7e-4."""
    made = schedule(Train(schedule="noam", rate=1.0, warmup=4000), width=512)
    assert max(range(1, 9000), key=lambda step: made(step, 0.0)) == 4000
    assert made(4000, 0.0) == pytest.approx(6.99e-4, rel=1e-3)


def test_constant_without_decay_stays() -> None:
    assert set(rates(schedule="constant", decay=0.0)[WARMUP:]) == {RATE}


@pytest.mark.parametrize("kind", ["noam", "inverse-sqrt", "cosine", "constant"])
def test_without_warmup_the_first_rate_is_the_highest(kind: str) -> None:
    made = schedule(Train(schedule=kind, warmup=0, rate=RATE), width=1)
    assert made(1, 0.0) == pytest.approx(RATE)
    assert all(made(step, step / 100) <= RATE for step in range(1, 100))


@pytest.mark.parametrize("kind", ["cosine", "constant"])
def test_the_floor_is_where_a_training_by_tokens_ends_too(kind: str) -> None:
    """The finished part decides, not the step: `max_tokens` may end a training at any step."""
    made = schedule(Train(steps=0, max_tokens=1000, schedule=kind, warmup=1, rate=RATE, floor=0.25), width=1)
    assert made(3, 1.0) == made(77, 1.0) == pytest.approx(0.25 * RATE)
