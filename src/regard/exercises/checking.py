"""Answers of students, checked one after another; the result as a table."""

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
from regard.exercises.collecting import Answer, instead
from regard.exercises.judging import Finding

LIMIT = 10.0  # seconds for a file
CHILD = (sys.executable, "-P", "-m", "regard.exercises.child")
COLUMNS = ("student", "exercise", "name", "level", "passed", "mistake", "hint")


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


def check(found: Iterable[Answer], seconds: float = LIMIT) -> Iterator[Checked]:
    """Each answer as it is checked. The files are run, in processes of their own."""
    variables, pipe = {**os.environ, "OMP_NUM_THREADS": "1"}, subprocess.PIPE
    with subprocess.Popen(CHILD, 0, stdin=pipe, stdout=pipe, env=variables, start_new_session=True) as child:
        try:
            for answer in found:
                if not answer.file.exists():
                    yield Checked(answer, [Finding("no file", f"there is no {answer.file}{instead(answer)}")])
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
