"""Answers of students, found in folders and checked one after another; the result as a table."""

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.checkpoint import write
from regard.errors import UserError, suggest
from regard.exercises.exercise import Exercise
from regard.exercises.files import answers, belongs
from regard.exercises.judging import Finding
from regard.exercises.tasks import ALL, EXERCISES, chosen

LIMIT = 10.0  # seconds for a file
CHILD = (sys.executable, "-P", "-m", "regard.exercises.child")
COLUMNS = ("student", "exercise", "name", "level", "passed", "mistake", "hint")


@dataclass(frozen=True)
class Answer:
    """A file, which may be missing, and the exercise that it is to."""

    file: Path
    exercise: Exercise

    @property
    def student(self) -> str:
        """The name of the folder that it lies in."""
        return self.file.resolve().parent.name


@dataclass(frozen=True)
class Checked:
    """What came of an answer."""

    answer: Answer
    findings: list[Finding]

    @property
    def passed(self) -> bool:
        return not self.findings

    def to_dict(self) -> dict[str, Any]:
        """One row of the table, and all that was found."""
        asked, first = self.answer.exercise, self.findings[:1]
        return {
            "student": self.answer.student,
            "exercise": asked.number,
            "name": asked.name,
            "level": asked.level,
            "passed": self.passed,
            "mistake": "".join(each.mistake for each in first),
            "hint": "".join(each.text for each in first),
            "file": str(self.answer.file),
            "findings": [vars(each) for each in self.findings],
        }


def collect(words: Iterable[str]) -> list[Answer]:
    """Answers that are asked for by files, folders and numbers or names of exercises.

    Without a file or folder the working folder is meant. Exercises that are named are looked for in each folder,
    whether they are there or not, and `all` names each; without one every answer there is.
    """
    paths: list[Path] = []
    named: list[str] = []
    for word in words:
        if not word.isdecimal() and (path := Path(word)).exists():
            paths.append(path)
        elif word == ALL or word.isdecimal() or word in names():
            named.append(word)
        elif "/" in word or word.endswith(".py"):
            raise UserError(f"no file or folder {word}")
        else:
            raise UserError(f"no file, folder or exercise '{word}'{suggest(word, names())}")
    asked = chosen(named)
    files = [path for path in paths if not path.is_dir()]
    folders = [path for path in paths if path.is_dir()] or ([] if files and not asked else [Path()])
    found = [Answer(file, belongs(file)) for file in files]
    for folder in folders:
        there = [Answer(file, belongs(file)) for file in answers(folder)]
        found += [each for each in there if not asked or each.exercise in asked]
        held = [each.exercise for each in there]
        found += [Answer(folder / each.file, each) for each in asked if each not in held]
    if not found:
        below = sorted({path.parent for folder in folders for path in folder.glob("*/*.py") if [*answers(path.parent)]})
        way = f"there are some in {below[0]}: give such folders" if below else "'regard exercise start 1' begins one"
        raise UserError(f"no answers in {', '.join(map(str, folders))}; {way}")
    return found


def names() -> list[str]:
    return [each.name for each in EXERCISES.values()]


def check(found: Iterable[Answer], seconds: float = LIMIT) -> Iterator[Checked]:
    """Each answer as it is checked. The files are run, in processes of their own."""
    variables, pipe = {**os.environ, "OMP_NUM_THREADS": "1"}, subprocess.PIPE
    with subprocess.Popen(CHILD, 0, stdin=pipe, stdout=pipe, env=variables, start_new_session=True) as child:
        try:
            for answer in found:
                if not answer.file.exists():
                    yield Checked(answer, [Finding("no file", f"there is no {answer.file}")])
                    continue
                asked = {"file": str(answer.file.resolve()), "number": answer.exercise.number, "seconds": seconds}
                yield Checked(answer, told(child, asked))
        finally:
            child.terminate()


def told(child: subprocess.Popen[bytes], asked: dict[str, Any]) -> list[Finding]:
    """What the child says; that it has ended is no mistake of the student's."""
    assert child.stdin is not None and child.stdout is not None
    try:
        child.stdin.write(json.dumps(asked).encode() + b"\n")
        said: dict[str, Any] = json.loads(child.stdout.readline())
    except (BrokenPipeError, json.JSONDecodeError):
        raise RuntimeError("the process that runs students' files has ended") from None
    return [Finding(**each) for each in said["findings"]]


def write_csv(path: Path, checked: Iterable[Checked]) -> None:
    """A row for each answer. Only the first finding stands in it: the likeliest mistake."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for each in checked:
        writer.writerow({**each.to_dict(), "passed": "yes" if each.passed else "no"})
    write(path, out.getvalue().encode())
