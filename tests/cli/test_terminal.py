"""What a terminal sees and a file does not: bars, colours, folded tables."""

import io
import re
import sys
from pathlib import Path

import pytest

from regard.train.watch import interactive
from tests.cli.conftest import Place
from tests.cli.shell import fine, in_terminal, regard, settings

ESCAPE = "\x1b"
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")


def training(place: Place, out: Path) -> list[str]:
    data = settings(f"data.train={place.play}", "train.steps=40", "train.log_every=5", "train.batch_tokens=200")
    return ["train", "gpt", "--out", str(out), *data]


def test_a_training_draws_its_progress_over_itself(place: Place, tmp_path: Path) -> None:
    code, seen = in_terminal(*training(place, tmp_path / "run"), columns=100)
    assert code == 0
    assert "100%" in seen and "step 40" in seen
    assert "\r" in seen and COLOUR.search(seen)
    assert "Traceback" not in seen


def test_without_colours_there_are_none(place: Place, tmp_path: Path) -> None:
    code, seen = in_terminal(*training(place, tmp_path / "run"), NO_COLOR="1")
    assert code == 0
    assert "100%" in seen
    assert not COLOUR.search(seen)


def test_where_nothing_can_be_drawn_over_there_are_lines(place: Place, tmp_path: Path) -> None:
    code, seen = in_terminal(*training(place, tmp_path / "run"), CI="true")
    assert code == 0
    assert "100%  step 40  loss" in seen
    assert ESCAPE not in seen


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variables", "drawn"),
    [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({"TERM": "xterm", "CI": "true"}, False)],
    ids=["terminal", "dumb terminal", "CI"],
)
def test_progress_is_drawn_where_a_terminal_can(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], drawn: bool
) -> None:
    monkeypatch.delenv("CI", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert not interactive()
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert interactive() is drawn


def test_a_file_gets_no_escape_codes(place: Place, tmp_path: Path) -> None:
    commands = (
        training(place, tmp_path / "run"),
        ["explain", place.model, "--text", "love is", "--steps"],
        ["systems"],
        ["train", "--help"],
    )
    for command in commands:
        done = fine(*command)
        assert ESCAPE not in done.out + done.err
    assert ESCAPE not in regard("trian").err


def test_a_table_is_folded_to_a_narrow_terminal() -> None:
    code, seen = in_terminal("lectures", columns=60)
    assert code == 0
    table = re.sub(r"\x1b\[[0-9;]*m", "", seen).partition(" is here partly")[0].splitlines()[:-1]
    assert max(len(line.rstrip("\r\n")) for line in table) <= 60
    assert max(map(len, fine("lectures").lines)) > 60


def test_translating_several_lines_shows_how_far_it_is(place: Place) -> None:
    texts = [word for _ in range(3) for word in ("--text", "the old cat sees the big dog")]
    code, seen = in_terminal("translate", place.translator, *texts)
    assert code == 0
    assert seen.count("die alte Katze sieht die große Hündin") == 3
    assert "translated" in seen
