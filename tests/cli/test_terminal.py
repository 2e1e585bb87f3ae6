"""What a terminal sees and a file does not: bars, colours, folded tables."""

import io
import json
import re
import sys
from pathlib import Path

import pytest

from regard.cli.output import fitted, rows
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


def test_what_a_model_looks_at_is_an_account_in_a_terminal_and_json_elsewhere(place: Place) -> None:
    words = ("explain", place.translator, "--source", "the old cat", "--target", "die alte Katze")
    code, seen = in_terminal(*words)
    assert code == 0
    told = re.sub(r"\x1b\[[0-9;]*m", "", seen).splitlines()
    assert max(map(len, told)) <= 80 and 12 < len(told) < 60
    for heading in ("Attention of the encoder", "Attention of the decoder, to the source"):
        assert heading in told
    assert "{" not in seen and "→" in seen and "all numbers: --json" in seen
    for asked in (("--json",), ("--to", "json")):
        code, seen = in_terminal(*words, *asked)
        assert code == 0 and json.loads(seen)["target"]["text"] == "die alte Katze"
    assert fine(*words).json == fine(*words, "--json").json


TABLES = ("lab", "systems", "lectures", "exercise")


@pytest.mark.parametrize("columns", [60, 80, 130])
@pytest.mark.parametrize("command", TABLES)
def test_a_table_fits_a_terminal_and_has_a_line_for_each_row_elsewhere(command: str, columns: int) -> None:
    code, seen = in_terminal(command, columns=columns)
    assert code == 0
    table = re.sub(r"\x1b\[[0-9;]*m", "", seen).splitlines()
    told = [line for line in table if " is here partly" in line or line.startswith("no room for ")]
    assert max(len(line) for line in table if line not in told) <= columns
    rows = fine(command, "--json").json if command != "exercise" else fine(command, "list", "--json").json
    written = fine(command).lines
    assert len([line for line in written if " is here partly" not in line]) == len(rows) + 2
    firsts = [str(next(iter(row.values()))) for row in rows]
    assert [first for first in firsts if not any(line.split()[:1] == [first] for line in table)] == []


def test_minutes_and_verdicts_stand_before_what_is_claimed() -> None:
    _, seen = in_terminal("lab", columns=80)
    assert re.search(r"claim +minutes +verdict +about", re.sub(r"\x1b\[[0-9;]*m", "", seen))
    assert fine("lab").lines[0].split() == ["claim", "minutes", "last", "verdict", "about", "lectures"]


def test_what_no_terminal_has_room_for_is_named() -> None:
    _, narrow = in_terminal("lectures", columns=80)
    assert "no room for file, test: a wider terminal shows more" in narrow
    _, wide = in_terminal("lectures", columns=240)
    assert "no room for" not in wide and "tests/attention/test_attend.py" in wide


def test_they_are_named_below_the_table_wherever_messages_go(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Terminal()
    monkeypatch.setattr(sys, "stdout", seen)
    monkeypatch.setenv("COLUMNS", "40")
    rows([{"id": "A1", "about": "a few words", "file": "x" * 30}], ("id", "about", "file"), spare=("file",))
    assert seen.getvalue().splitlines()[-1].startswith("no room for file: a wider terminal shows more, --json every")


TEXTS = {"id": ["id", "A1", "A2"], "about": ["about", "a few words, and then", "none"], "file": ["file", "x" * 30, ""]}


@pytest.mark.parametrize(
    ("room", "widths"),
    [
        (100, {"id": 2, "about": 21, "file": 30}),
        (57, {"id": 2, "about": 21, "file": 30}),
        (56, {"id": 2, "about": 21}),
        (20, {"id": 2, "about": 16}),
        (6, {"id": 2, "about": 2}),
        (1, {"id": 1, "about": 1}),
    ],
)
def test_columns_share_the_room(room: int, widths: dict[str, int]) -> None:
    assert fitted(TEXTS, ("file",), room) == widths


def test_words_are_broken_only_where_nothing_else_fits() -> None:
    assert fitted(TEXTS, (), 43) == {"id": 2, "about": 7, "file": 30}
    assert fitted(TEXTS, (), 20) == {"id": 2, "about": 6, "file": 8}


def test_translating_several_lines_shows_how_far_it_is(place: Place) -> None:
    texts = [word for _ in range(3) for word in ("--text", "the old cat sees the big dog")]
    code, seen = in_terminal("translate", place.translator, *texts)
    assert code == 0
    assert seen.count("die alte Katze sieht die große Hündin") == 3
    assert "translated" in seen
