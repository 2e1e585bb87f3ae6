"""How the best learning rate is looked for."""

import json
from pathlib import Path
from typing import Any

import pytest

from regard.lab import sweep as module
from regard.lab.plan import Budget, ask, member
from regard.lab.sweep import Choice, beyond, failure, sweep
from regard.lab.units import Hands
from tests.lab import members
from tests.lab.test_plan import REHEARSAL

PEAKS = {"rnn": 0.01, "looker": 10.0}  # the rate at which each would be best


def trial(recipe: Any, folder: Path, *, quiet: bool) -> dict[str, Any]:
    """A loss that is known: it grows with the distance from the best rate and from a dropout of 0.3."""
    distance = max(recipe.train.rate / PEAKS[folder.name], PEAKS[folder.name] / recipe.train.rate)
    return {"loss": distance + abs(recipe.system.dropout - 0.3), "seconds": 1.0, "steps": 7, "tokens": 11}


def lost(recipe: Any, folder: Path, *, quiet: bool) -> dict[str, Any]:
    if folder.name == "looker":
        raise ValueError("broken")
    return trial(recipe, folder, quiet=quiet)


@pytest.fixture
def both(tmp_path: Path) -> list[Any]:
    presets, budget = [members.member(tmp_path, name) for name in PEAKS], Budget("tokens", 997)
    asked = ask(presets, [], seeds=1, budget=budget, sweep="full")
    return [member(name, recipe, REHEARSAL, budget) for name, recipe in asked.recipes.items()]


def test_the_best_is_found_and_beyond_an_edge_two_more_are_tried(
    both: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "try_out", trial)
    assert sweep(both, "full", tmp_path / "out", Hands()) == {"rnn": Choice(0.01, 0.3), "looker": Choice(0.27, 0.3)}
    found = json.loads((tmp_path / "out" / "sweep.json").read_text())
    rates = [each["rate"] for each in found["trials"] if each["member"] == "looker"]
    assert rates == [0.0033, 0.01, 0.03, 0.09, 0.27, 0.27, 0.27]
    assert found["at_edge"] == ["looker"] and sum(each["chosen"] for each in found["trials"]) == 2


def test_without_dropouts_and_without_a_sweep(both: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "try_out", trial)
    assert sweep(both, "rate", tmp_path / "rate", Hands())["rnn"] == Choice(0.01, 0.1)
    assert sweep(both, "none", tmp_path / "none", Hands()) == dict.fromkeys(PEAKS, Choice(0.01, 0.1))


def test_one_whose_trials_all_fail_has_no_choice(both: list[Any], tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(module, "try_out", lost)
    assert list(sweep(both, "full", tmp_path, Hands())) == ["rnn"]
    assert failure("looker", tmp_path) == "every trial of its sweep failed; the first: ValueError: broken"


def test_the_presets_own_rate_is_tried_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "try_out", trial)
    presets = [members.member(tmp_path, name, rate=0.01234) for name in PEAKS]
    asked = ask(presets, [], seeds=1, budget=Budget("tokens", 997), sweep="rate")
    both = [member(name, recipe, REHEARSAL, Budget("tokens", 997)) for name, recipe in asked.recipes.items()]
    assert sweep(both, "rate", tmp_path / "out", Hands())["rnn"] == Choice(0.01234, 0.1)
    found = json.loads((tmp_path / "out" / "sweep.json").read_text())
    assert [each["rate"] for each in found["trials"] if each["member"] == "rnn"] == [0.0041, 0.01234, 0.037]


def test_a_trial_that_failed_is_not_tried_again_in_the_same_session(
    both: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def counted(recipe: Any, folder: Path, *, quiet: bool) -> dict[str, Any]:
        calls.append(folder.name)
        return lost(recipe, folder, quiet=quiet)

    monkeypatch.setattr(module, "try_out", counted)
    sweep(both, "full", tmp_path, Hands())
    assert calls.count("looker") == 3, "three rates"
    sweep(both, "full", tmp_path, Hands())
    assert calls.count("looker") == 6 and calls.count("rnn") == 5, (
        "a new session tries again what failed, and only that"
    )


def test_a_choice_stands_even_if_a_failed_trial_would_change_it(
    both: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs may rest on it already."""

    def at_the_best(recipe: Any, folder: Path, *, quiet: bool) -> dict[str, Any]:
        if recipe.train.rate == PEAKS["rnn"] and folder.name == "rnn":
            raise MemoryError("killed")
        return trial(recipe, folder, quiet=quiet)

    monkeypatch.setattr(module, "try_out", at_the_best)
    first = sweep(both, "rate", tmp_path, Hands())
    assert first["rnn"].rate != PEAKS["rnn"]
    record = (tmp_path / "sweep.json").read_text()
    assert sum("error" in each for each in json.loads(record)["trials"]) == 1
    monkeypatch.setattr(module, "try_out", trial)
    assert sweep(both, "rate", tmp_path, Hands()) == first
    assert (tmp_path / "sweep.json").read_text() == record


@pytest.mark.parametrize(("rate", "expected"), [(0.1, None), (0.01, 0.0033), (1.0, 3.0)])
def test_beyond_an_edge(rate: float, expected: float | None) -> None:
    assert beyond(rate, [Choice(each, None) for each in (0.1, 1.0, 0.01)]) == expected
