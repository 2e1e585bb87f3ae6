"""What a training will cost is told before its first step, and telling it changes nothing."""

from pathlib import Path

import pytest
import torch

from regard.checkpoint import read_tokenizer
from regard.systems import parameters
from regard.train.forecast import duration, forecast, quantity
from regard.train.loop import Trainer
from regard.train.run import make_trainer, start
from tests.train.runs import MAKERS, language_model


def trainer(folder: Path, maker: str = "language model", **settings) -> Trainer:
    recipe = MAKERS[maker](folder, **settings)
    start(recipe, folder, say=lambda line: None)
    return make_trainer(folder, recipe, read_tokenizer(folder), [])


@pytest.mark.parametrize("maker", MAKERS)
def test_a_rehearsal_leaves_no_trace(tmp_path: Path, maker: str) -> None:
    made = trainer(tmp_path, maker, system={"dropout": 0.5})
    before = {name: p.detach().clone() for name, p in made.model.named_parameters()}
    chance = torch.get_rng_state()
    forecast(made)
    assert torch.equal(torch.get_rng_state(), chance)
    assert all(torch.equal(p, before[name]) for name, p in made.model.named_parameters())
    assert all(p.grad is None for p in made.model.parameters())
    assert not made.state.optimiser.state
    assert made.state.progress.step == 0


def test_operations_of_a_step_are_counted(tmp_path: Path) -> None:
    """Forward 2 and backward 4 per weight of a matrix and token; attention and the output layer counted alike."""
    made = trainer(tmp_path, system={"width": 16, "heads": 2, "depth": 1, "context": 23})
    cost, batch = forecast(made), made.batches.batch(0, 0)
    matrices = 16 * 16 * 4 + 2 * 16 * 64 + 16 * made.model.vocabulary
    tokens = batch.tokens.numel()
    attention = len(batch) * 2 * 23 * 23 * 16
    assert cost.parameters == parameters(made.model)
    assert cost.tokens_per_step == batch.count
    assert 6 * tokens * matrices <= cost.flops_per_step <= 6 * (tokens * matrices + 3 * attention)


@pytest.mark.parametrize(
    ("settings", "steps"),
    [({"steps": 50}, 50), ({"steps": 50, "max_tokens": 1}, 1), ({"steps": 0, "max_tokens": 10_000}, None)],
)
def test_the_number_of_steps_is_that_of_the_limit_that_comes_first(
    tmp_path: Path, settings: dict, steps: int | None
) -> None:
    cost = forecast(trainer(tmp_path, **settings))
    assert cost.steps == (steps or 10_000 // cost.tokens_per_step)
    assert f"{cost.steps:,} steps" in cost.line()


def test_memory_grows_with_averages_and_shrinks_with_accumulation(tmp_path: Path) -> None:
    plain, average, pieces = (
        forecast(trainer(tmp_path, **more)).memory_bytes for more in ({}, {"average": "ema"}, {"accumulate": 2})
    )
    count = parameters(language_model(tmp_path).system.build(11))
    assert average - plain == pytest.approx(4 * count, rel=0.1)
    assert pieces < plain


def test_quantities_and_durations_are_told_in_words() -> None:
    assert [quantity(value) for value in (7, 1_234, 1_234_567, 3.3e18)] == ["7 ", "1.2 k", "1.2 M", "3.3 E"]
    assert quantity(2048, 1024) == "2.0 k"
    assert [duration(seconds) for seconds in (7, 300, 7200)] == ["7 s", "5 min", "2.0 h"]
