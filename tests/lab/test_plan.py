"""From a budget to each member's limit."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.lab.plan import Budget, Rehearsal, ask, differences, member, own_tokens, rehearse, smallest
from regard.lab.sweep import try_out
from regard.train.run import settle
from tests.lab import members

REHEARSAL = Rehearsal(
    parameters=101,
    tokens_per_step=50,
    own_tokens_per_step=50,
    flops_per_token=7e3,
    seconds_per_token=0.002,
    precision="float32",
    tokenizer="one",
    left_out={},
)


@pytest.mark.parametrize(
    ("budget", "tokens", "seconds", "warmup"),
    [
        (Budget("tokens", 1_000), 1_000, 0.0, 4),  # the preset has 10 steps of 50 tokens, 2 of them for the warm-up
        (Budget("flops", 7e6), 1_000, 0.0, 4),
        (Budget("flops", 7e6 / 2), 500, 0.0, 2),
        (Budget("seconds", 3), 0, 3.0, 6),  # 1,500 tokens in a rehearsal
    ],
)
def test_the_budget_is_the_limit_and_the_warm_up_keeps_its_share(
    tmp_path: Path, budget: Budget, tokens: int, seconds: float, warmup: int
) -> None:
    presets = [members.member(tmp_path, name) for name in ("rnn", "looker")]
    asked = ask(presets, [], seeds=1, budget=budget, sweep="none")
    made = member("rnn", asked.recipes["rnn"], REHEARSAL, budget)
    train = made.recipe.train
    assert (train.steps, train.max_tokens, train.max_seconds, train.warmup) == (0, tokens, seconds, warmup)
    assert made.seconds == pytest.approx(seconds or tokens * 0.002)
    shorter = made.for_part(0.5).train
    assert (shorter.max_tokens, shorter.max_seconds, shorter.warmup) == (tokens // 2, seconds / 2, warmup // 2)


@pytest.mark.parametrize(
    ("limits", "tokens"),
    [
        ({"steps": 10}, 1_010),
        ({"steps": 10, "max_tokens": 700}, 700),
        ({"steps": 10, "max_tokens": 7_000}, 1_010),
        ({"steps": 0, "max_tokens": 7_000}, 7_000),
        ({"steps": 0, "max_seconds": 3.0}, 1_500),
        ({"steps": 10, "max_seconds": 0.5}, 250),
        ({"steps": 0, "max_seconds": 1e-9}, 1),
    ],
)
def test_a_presets_own_length_is_that_of_its_first_limit(tmp_path: Path, limits: dict[str, Any], tokens: int) -> None:
    asked = ask([members.member(tmp_path, n) for n in ("rnn", "looker")], [], seeds=1, budget=None, sweep="none")
    recipe = asked.recipes["rnn"]
    recipe = replace(recipe, train=replace(recipe.train, **limits))
    rehearsal = replace(REHEARSAL, own_tokens_per_step=101)
    assert own_tokens(recipe, rehearsal) == tokens
    made = member("rnn", recipe, rehearsal, Budget("tokens", 1_000)).recipe.train
    assert (made.steps, made.max_tokens, made.max_seconds) == (0, 1_000, 0)
    assert made.warmup == round(2 * (1_000 / 50) / (tokens / 101)), "its share of the preset's steps"


def test_the_shortest_training_is_told_by_each_presets_own_batches(tmp_path: Path) -> None:
    """The same whichever preset is named first and gives all its size of batches."""
    presets = [members.member(tmp_path, name) for name in ("rnn", "looker")]
    Path(presets[1]).write_text(Path(presets[1]).read_text().replace("batch_tokens = 92", "batch_tokens = 46"))
    found = []
    for order in (presets, presets[::-1]):
        asked = ask(order, [], seeds=1, budget=None, sweep="none")
        assert asked.batch_tokens == {"rnn": 92, "looker": 46}
        rehearsals = {
            name: rehearse(recipe, asked.batch_tokens[name], tmp_path / f"prepared-{Path(order[0]).stem}" / name)
            for name, recipe in asked.recipes.items()
        }
        found.append(smallest(asked, rehearsals))
        assert found[-1].amount == 10 * rehearsals["looker"].own_tokens_per_step
    assert found[0] == found[1]


def test_a_rehearsal_runs_as_the_members_will(tmp_path: Path) -> None:
    presets = [members.member(tmp_path, name) for name in ("rnn", "looker")]
    asked = ask(presets, ["train.threads=2", "train.deterministic=true"], seeds=1, budget=None, sweep="none")
    before = torch.get_num_threads()
    try:
        rehearse(asked.recipe, 92, tmp_path / "prepared")
        assert torch.get_num_threads() == 2 and torch.are_deterministic_algorithms_enabled()
        settle(replace(asked.recipe.train, deterministic=False))
        try_out(replace(asked.recipe, train=replace(asked.recipe.train, steps=1)), tmp_path / "prepared", quiet=True)
        assert torch.are_deterministic_algorithms_enabled(), "and so does a trial"
    finally:
        settle(replace(asked.recipe.train, threads=before, deterministic=False))


def test_what_must_be_the_same_is_the_first_ones(tmp_path: Path) -> None:
    first, second = members.member(tmp_path, "rnn"), members.member(tmp_path, "looker", rate=0.07)
    Path(second).write_text(Path(second).read_text().replace("batch_tokens = 92", "batch_tokens = 1009\nbeta2 = 0.9"))
    asked = ask([first, second], ["seed=5"], seeds=1, budget=None, sweep="none")
    one, other = asked.recipes.values()
    assert other.train.batch_tokens == 92 and other.seed == 5
    assert one.train.compile is False is other.train.compile
    assert (other.train.rate, other.train.beta2) == (0.07, 0.9) and one.train.beta2 != 0.9
    assert (one.data, one.text, one.objective, one.decode) == (other.data, other.text, other.objective, other.decode)


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        (Budget("flops", 3e9), "3.0 G counted FLOPs"),
        (Budget("seconds", 2.5), "2.5 seconds"),
        (Budget("tokens", 1_234_567), "1,234,567 predicted tokens"),
    ],
)
def test_a_budget_in_words(budget: Budget, words: str) -> None:
    assert str(budget) == words


def test_what_is_asked_to_be_compiled_is(tmp_path: Path) -> None:
    presets = [members.member(tmp_path, name) for name in ("rnn", "looker")]
    asked = ask(presets, ["train.compile=true"], seeds=1, budget=None, sweep="none")
    assert all(recipe.train.compile is True for recipe in asked.recipes.values())


def test_differences_name_every_leaf() -> None:
    there, now = {"a": {"b": 1, "c": [2]}, "d": None}, {"a": {"b": 1, "c": [3], "e": "x"}, "d": {"f": 1}}
    assert differences(there, now) == [
        "a.c is [2] there and [3] now",
        "a.e is missing there and 'x' now",
        "d is missing there and given now",
    ]
    assert differences(there, there) == []
