"""Work that is kept piece by piece."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.errors import Interrupted, WorldError
from regard.lab.units import Hands, Unit


def number(value: int, *, quiet: bool) -> dict[str, Any]:
    return {"value": value, "process": os.getpid()}


def failing(line: str, *, quiet: bool) -> dict[str, Any]:
    raise WorldError(line) if line else ZeroDivisionError("by\nzero")


def dying(code: int, *, quiet: bool) -> dict[str, Any]:
    os._exit(code)


def killed(*, quiet: bool) -> dict[str, Any]:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still here")


def threads(*, quiet: bool) -> dict[str, Any]:
    return {"threads": torch.get_num_threads()}


def interrupted(*, quiet: bool) -> dict[str, Any]:
    raise Interrupted("stopped")


def unit(folder: Path, name: str, work: Any, *args: Any) -> Unit:
    return Unit(name, work, args, folder / f"{name}.json", 1.0, "value")


def read(folder: Path) -> dict[str, Any]:
    return {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}


def test_failures_are_kept_in_a_line_and_only_they_are_done_again(tmp_path: Path) -> None:
    said: list[str] = []
    units = [unit(tmp_path, "a", number, 7), unit(tmp_path, "b", failing, "no disk"), unit(tmp_path, "c", failing, "")]
    Hands(say=said.append).carry_out(units)
    found = read(tmp_path)
    assert found["a"]["value"] == 7
    assert found["b"]["error"] == "no disk" and found["c"]["error"] == "ZeroDivisionError: by zero"
    assert any("[1 of 3] a; next b" in line for line in said) and "b FAILED: no disk" in said
    said.clear()
    Hands(say=said.append).carry_out([units[0], unit(tmp_path, "b", number, 11)])
    assert read(tmp_path)["b"]["value"] == 11 and len(said) == 1


def test_what_failed_is_left_by_the_same_hands(tmp_path: Path) -> None:
    hands = Hands()
    hands.carry_out([unit(tmp_path, "a", failing, "no disk")])
    hands.carry_out([unit(tmp_path, "a", number, 7), unit(tmp_path, "b", number, 11)])
    assert read(tmp_path)["a"]["error"] == "no disk" and read(tmp_path)["b"]["value"] == 11
    Hands().carry_out([unit(tmp_path, "a", number, 7)])
    assert read(tmp_path)["a"]["value"] == 7


def test_an_interruption_ends_everything_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        Hands().carry_out([unit(tmp_path, "a", interrupted), unit(tmp_path, "b", number, 7)])
    assert not read(tmp_path)


def test_side_by_side_a_process_that_dies_loses_its_unit_alone(tmp_path: Path) -> None:
    units = [unit(tmp_path, "a", dying, 3), *(unit(tmp_path, name, number, ord(name)) for name in "bcd")]
    units += [unit(tmp_path, "k", killed), unit(tmp_path, "t", threads)]
    said: list[str] = []
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        Hands(jobs=2, say=said.append).carry_out(units)
    finally:
        torch.set_num_threads(before)
    found = read(tmp_path)
    assert found["a"]["error"] == "its process ended with code 3"
    assert found["k"]["error"].startswith("its process was killed by signal 9")
    assert found["t"]["threads"] == 3, "as many as here"
    assert "d finished after 0 s: value 100.0000" in said and any(line.startswith("a FAILED: ") for line in said)
    assert [found[name]["value"] for name in "bcd"] == [98, 99, 100]
    assert os.getpid() not in {found[name]["process"] for name in "bcd"}
    assert all(found[name]["jobs_beside"] == 1 for name in "bcd")


def test_side_by_side_an_interruption_ends_everything(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        Hands(jobs=2).carry_out([unit(tmp_path, "a", interrupted), *(unit(tmp_path, n, number, 1) for n in "bcdef")])
    assert "a" not in read(tmp_path)
