"""Two members that are one recipe are refused before anything is trained."""

from pathlib import Path
from typing import Any

import pytest

from regard.lab.compare import check_twins, compare
from regard.lab.plan import ask
from tests.cli.shell import regard
from tests.helpers import refused
from tests.lab.members import member


def pair(folder: Path, old: str = "", new: str = "") -> list[str]:
    """A looker and its copy in which some words are others."""
    first = Path(member(folder, "looker"))
    second = first.with_name("copy.toml")
    assert old in first.read_text()
    second.write_text(first.read_text().replace(old, new) if old else first.read_text())
    return [str(first), str(second)]


def stopped(presets: list[str], settings: list[str], out: Path, message: str) -> None:
    with refused(message) as caught:
        compare(presets, settings, out=out, seeds=1)
    assert message == str(caught.value) and not out.exists()


def test_the_setting_that_made_two_presets_one_is_named(tmp_path: Path) -> None:
    settings = ["train.steps=3", "system.position=alibi", "system.width=16"]
    message = "shaw and transformer-tiny are the same recipe with --set system.position=alibi: nothing is compared"
    stopped(["shaw", "transformer-tiny"], settings, tmp_path / "out", message)
    done = regard("compare", "shaw", "transformer-tiny", "--out", tmp_path / "out", "--set", "system.position=alibi")
    assert done.code == 2 and message in done.err and not (tmp_path / "out").exists()


def test_settings_that_do_it_together_are_named_together(tmp_path: Path) -> None:
    presets = pair(tmp_path, "width = 16\nheads = 2", "width = 18\nheads = 3")
    both = ["system.width=24", "system.heads=2"]
    given = "--set system.width=24 --set system.heads=2"
    stopped(presets, both, tmp_path / "out", f"looker and copy are the same recipe with {given}: nothing is compared")


def test_copies_are_refused(tmp_path: Path) -> None:
    message = "looker and copy are the same recipe: nothing is compared"
    stopped(pair(tmp_path), ["system.width=18"], tmp_path / "out", message)


@pytest.mark.parametrize(("old", "new"), [("max_tokens = 17", "max_tokens = 5"), ("[train]", "[train]\nlog_every = 3")])
def test_what_is_the_first_ones_for_all_or_only_told_is_no_difference(tmp_path: Path, old: str, new: str) -> None:
    message = "looker and copy are the same recipe: nothing is compared; data, text, objective, decoding and size of "
    stopped(pair(tmp_path, old, new), [], tmp_path / "out", f"{message}batches are the first preset's for all")


@pytest.mark.parametrize(("old", "new"), [("depth = 1", "depth = 2"), ("rate =", "beta1 = 0.8\nrate =")])
def test_one_difference_is_enough(tmp_path: Path, old: str, new: str) -> None:
    presets, settings = pair(tmp_path, old, new), ["system.width=18"]
    asked: dict[str, Any] = {"seeds": 1, "budget": None, "sweep": "none"}
    check_twins(ask(presets, settings, **asked), presets, settings)


def test_the_last_two_of_three_are_found(tmp_path: Path) -> None:
    presets = [member(tmp_path, "rnn"), *pair(tmp_path)]
    stopped(presets, [], tmp_path / "out", "looker and copy are the same recipe: nothing is compared")
