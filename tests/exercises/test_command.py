"""`regard exercise`: what a student and a teacher see."""

import csv
import signal
from pathlib import Path

import pytest

from regard.exercises.tasks import EXERCISES
from tests.cli.shell import contents, fine, finished, refused, regard, start, wait_for
from tests.exercises.test_files import RIGHT, written

UNSCALED = "def scaled_dot_product(query, key):\n    return query @ key.mT\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_list_has_every_exercise(folder: Path) -> None:
    out = fine("exercise", "list").out
    assert all(each.name in out and each.about in out for each in EXERCISES.values())
    assert fine("exercise").out == out
    found = fine("exercise", "list", "--json").json
    assert found[2] == {
        "number": 3,
        "name": "scaled_dot_product",
        "level": "easy",
        "lectures": ["B4", "B12"],
        "about": "How well each query fits each key: their dot product over the root of their width.",
    }
    refused("exercise", "list", "3", because="to begin one: regard exercise start 3")


def test_start_writes_blank_files_and_overwrites_none(folder: Path) -> None:
    assert fine("exercise", "start", "3", "softmax").lines == ["03_scaled_dot_product.py", "02_softmax.py"]
    Path("03_scaled_dot_product.py").write_text("mine")
    before = contents(folder)
    refused("exercise", "start", "1", "3", because="03_scaled_dot_product.py is there already*--force")
    assert contents(folder) == before, "nothing is written where one is refused"
    fine("exercise", "start", "3", "--force")
    assert "raise NotImplementedError" in Path("03_scaled_dot_product.py").read_text()
    assert len(fine("exercise", "start", "all", "--out", "deep/er", "--json").json) == len(EXERCISES)
    assert fine("exercise", "start", "2", "softmax", "02", "--out", "once").lines == ["once/02_softmax.py"]
    assert len(fine("exercise", "start", "2", "all", "--out", "all").lines) == len(EXERCISES)
    before = contents(folder)
    for force in ((), ("--force",)):
        refused("exercise", "start", "2", "--out", "02_softmax.py", *force, because="--out 02_softmax.py is no folder")
    assert contents(folder) == before
    refused("exercise", "start", because="which exercise?")
    refused("exercise", "start", "99", because="no exercise 99; there are 1 to 18")


def test_check_prints_the_hint_and_fails(folder: Path) -> None:
    written(folder, RIGHT)
    done = fine("exercise", "check")
    assert done.lines == ["passed  02_softmax.py  equals the library's, and 3 laws hold"]
    assert done.err == "1 of 1 passed\n"
    written(folder, UNSCALED, "03_scaled_dot_product.py")
    done = regard("exercise", "check", "2", "3")
    assert done.code == 1 and done.err == "1 of 2 passed\n"
    assert done.lines[1].split("  ", 2) == [
        "FAILED",
        "03_scaled_dot_product.py",
        "divide by the square root of the head's width, query.shape[-1]",
    ]
    assert "scores[0, 0, 0, 0] should be" in done.lines[2] and "all are 1.414 times" in done.lines[2]
    assert "of the same size at any width" in done.lines[3]


def test_a_teacher_gets_a_table_that_is_the_same_again(folder: Path) -> None:
    written(folder / "anna", RIGHT)
    written(folder / "anna", UNSCALED, "03_scaled_dot_product.py")
    written(folder / "ben", "nonsense(")
    words = ("exercise", "check", "anna", "ben", "2", "3", "--csv")
    assert regard(*words, "one.csv").code == regard(*words, "two.csv").code == 1
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()
    with Path("one.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["student", "exercise", "name", "level", "passed", "mistake", "hint"]
    assert [(row["student"], row["exercise"], row["passed"], row["mistake"]) for row in rows] == [
        ("anna", "2", "yes", ""),
        ("anna", "3", "no", "no scaling"),
        ("ben", "2", "no", "not Python"),
        ("ben", "3", "no", "no file"),
    ]
    assert rows[1]["hint"] == "divide by the square root of the head's width, query.shape[-1]"


def test_each_student_has_a_name_and_a_place(folder: Path) -> None:
    written(folder / "a" / "hw", RIGHT)
    written(folder / "b" / "hw", RIGHT)
    (folder / "ben").mkdir()
    done = fine("exercise", "check", "a/hw", "b/hw", "ben", "--csv", "same.csv")
    assert [row.split(",")[0] for row in Path("same.csv").read_text().splitlines()] == ["student", "a/hw", "b/hw"]
    assert done.err == "no answers in ben\n2 of 2 passed\n"
    refused("exercise", "check", "a", "2", because="no answers in a; there are some in a/hw: give such folders")


def test_json_has_all_findings(folder: Path) -> None:
    written(folder / "anna", UNSCALED, "03_scaled_dot_product.py")
    done = regard("exercise", "check", "anna", "--json")
    (found,) = done.json
    assert (done.code, found["student"], found["passed"], found["mistake"]) == (1, "anna", False, "no scaling")
    assert [each["mistake"] for each in found["findings"]] == ["no scaling", "another result", "a law"]


@pytest.mark.parametrize(
    ("words", "because"),
    [
        (("list", "--out", "x"), "--out has no use in 'exercise list'"),
        (("start", "1", "--csv", "x"), "--csv has no use in 'exercise start'"),
        (("check", "--force"), "--force has no use in 'exercise check'"),
        (("check", "--seconds", "0"), "--seconds 0: give more than 0"),
        (("check", "--seconds", "inf"), "--seconds inf: give more than 0, and at most 86,400"),
        (("start", "all", "softmx"), "no exercise 'softmx'; did you mean 'softmax'?"),
        (("check",), "no answers in .; 'regard exercise start 1' begins one"),
        (("check", "nobody"), "no file, folder or exercise 'nobody'"),
        (("chekc",), "chekc"),
    ],
)
def test_what_makes_no_sense_is_refused(words: tuple[str, ...], because: str, folder: Path) -> None:
    refused("exercise", *words, because=because)


def test_ctrl_c_ends_a_file_that_loops_at_once(folder: Path) -> None:
    loop = "import os\nopen('begun', 'w').write(str(os.getpid()))\nwhile True: pass\n"
    written(folder, loop)
    child = start("exercise", "check", "--seconds", "500", "--csv", "x.csv")
    wait_for(lambda: Path("begun").exists() and Path("begun").read_text(), child)
    child.send_signal(signal.SIGINT)
    done = finished(child)
    assert (done.code, done.out, done.err) == (130, "", "regard: interrupted\n")
    assert not Path("x.csv").exists()
    assert not Path(f"/proc/{Path('begun').read_text()}").exists(), "the student's file still runs"
