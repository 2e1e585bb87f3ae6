"""The page about the exercises says what is so."""

import inspect
import sys
from pathlib import Path

import pytest

from regard.exercises.tasks import EXERCISES
from tests.cli.shell import regard
from tests.docs.pages import ROOT, blocks, cells, prose
from tests.exercises.test_command import UNSCALED
from tests.exercises.test_files import written

PAGE = ROOT / "docs" / "exercises.md"
LECTURES = ROOT / "docs" / "lectures"
TOPICS = {row[0]: row for row in cells(LECTURES / "README.md") if row[0].startswith("[")}


def test_the_page_lists_every_exercise() -> None:
    rows = [row for row in cells(PAGE) if row[0].isdecimal()]
    assert [row[:4] for row in rows] == [
        [str(each.number), each.name, each.level, " ".join(each.lectures)] for each in EXERCISES.values()
    ]


def test_each_exercise_knows_as_many_mistakes_as_the_page_says() -> None:
    known = [len(each.slips) for each in EXERCISES.values()]
    assert (min(known), max(known)) == (4, 14)
    assert "Each exercise knows four to fourteen mistakes" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("topic", TOPICS)
def test_a_lecture_page_leads_to_the_exercises_of_its_ids(topic: str) -> None:
    _, _, ids, _, numbers = TOPICS[topic]
    asked = [EXERCISES[int(number)] for number in numbers.split()]
    assert all(each in asked for each in EXERCISES.values() if {*each.lectures} & {*ids.split()})
    text = prose(LECTURES / topic.partition("(")[2].rstrip(")"))
    named = ", ".join(f"{each.number} {each.name}" for each in asked)
    line = f"[Exercises](../exercises.md): {named}; begin with `regard exercise start {numbers}`.\n"
    assert line in text if asked else "[Exercises]" not in text


def test_every_exercise_is_on_a_lecture_page() -> None:
    named = {number for row in TOPICS.values() for number in row[-1].split()}
    assert named == {str(number) for number in EXERCISES}


@pytest.mark.parametrize("number", EXERCISES)
def test_the_file_that_is_named_has_the_solution(number: int) -> None:
    (file,) = [row[4] for row in cells(PAGE) if row[0] == str(number)]
    source = inspect.getsource(sys.modules[EXERCISES[number].blank.__module__])
    assert f"\nfrom regard.{file.removesuffix('.py').replace('/', '.')} import " in source


def test_the_page_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, UNSCALED, "03_scaled_dot_product.py")
    shown = [block.text.split() for block in blocks(PAGE) if block.kind == "text"]
    assert regard("exercise", "check", "3").out.split() in shown, "line breaks aside"
