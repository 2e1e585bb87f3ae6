"""Exercises for students, and their answers checked."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from regard.cli.options import Json, flag
from regard.cli.output import emit, note, rows
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.exercises.checking import Checked

WHICH = (
    "Numbers or names of exercises, or `all`. For `check` also files, and folders, one for each student; without one, "
    "this folder."
)
DAY = 24 * 60 * 60  # seconds


def exercise(
    action: Annotated[Literal["list", "start", "check"], Parameter(help="list, start or check.")] = "list",
    /,
    *which: Annotated[str, Parameter(help=WHICH)],
    out: Annotated[Path | None, Parameter(help="Of `start`: the folder to write to; by default this one.")] = None,
    force: Annotated[bool, flag("Of `start`: begin again where there is a file already.")] = False,
    csv: Annotated[Path | None, Parameter(help="Of `check`: write a row for each answer to this file too.")] = None,
    seconds: Annotated[float | None, Parameter(help="Of `check`: the most that one file may take; 10.")] = None,
    json: Json = False,
) -> int:
    """Functions of the lectures to write yourself: `list` them, `start` some, `check` what you wrote.

    `check` runs the files that it is given. Exit 1 when one of them fails.
    """
    given = {"out": out, "force": force or None, "csv": csv, "seconds": seconds}
    uses = {"list": (), "start": ("out", "force"), "check": ("csv", "seconds")}[action]
    for name, value in given.items():
        if value is not None and name not in uses:
            raise UserError(f"--{name} has no use in 'exercise {action}'")
    if action == "check":
        return check(which, csv, seconds, json)
    if action == "start":
        return start(which, out or Path(), force, json)
    if which:
        raise UserError(f"'exercise list' lists them all; to begin one: regard exercise start {which[0]}")
    return listed(json)


def listed(json: bool) -> int:
    from regard.exercises.tasks import EXERCISES

    columns = ("number", "name", "level", "lectures", "about")
    table = [{name: getattr(each, name) for name in columns} for each in EXERCISES.values()]
    emit(table, json, lambda: rows(table, columns))
    return 0


def start(which: Iterable[str], out: Path, force: bool, json: bool) -> int:
    from regard.exercises.files import begin
    from regard.exercises.tasks import chosen

    asked = chosen(which)
    if not asked:
        raise UserError("which exercise? Give numbers or names, or all; 'regard exercise list' shows them")
    if out.exists() and not out.is_dir():
        raise UserError(f"--out {out} is no folder")
    if not force and (there := [out / each.file for each in asked if (out / each.file).exists()]):
        raise UserError(f"{there[0]} is there already, with what was written; give --force to begin again")
    written = [str(begin(each, out)) for each in asked]
    emit(written, json, lambda: print("\n".join(written)))
    note(f"write the function, then: regard exercise check {written[0] if len(written) == 1 else out}")
    return 0


def check(which: tuple[str, ...], csv: Path | None, seconds: float | None, json: bool) -> int:
    from regard.exercises.checking import LIMIT, write_csv
    from regard.exercises.checking import check as work
    from regard.exercises.collecting import collect, left_out

    if seconds is not None and not 0 < seconds <= DAY:
        raise UserError(f"--seconds {seconds:g}: give more than 0, and at most {DAY:,}, a day")
    if csv is not None and not csv.parent.is_dir():
        raise UserError(f"--csv {csv}: there is no folder {csv.parent}")
    found, checked = collect(which), []
    for line in left_out(which):
        note(line)
    widest = max(len(str(answer.file)) for answer in found)
    for each in work(found, seconds or LIMIT):
        checked.append(each)
        if not json:
            show(each, widest)
    emit([each.to_dict() for each in checked], json, lambda: None)
    if csv is not None:
        write_csv(csv, checked)
    passed = sum(each.passed for each in checked)
    note(f"{passed} of {len(checked)} passed")
    return 0 if passed == len(checked) else 1


def show(checked: "Checked", widest: int) -> None:
    """A line for an answer, and one for each thing that is wrong with it."""
    print(f"{'passed' if checked.passed else 'FAILED'}  {checked.answer.file!s:{widest}}", end="", flush=True)
    held = f"equals the library's, and {len(checked.answer.exercise.laws)} laws hold"
    first, *others = [each.text for each in checked.findings] or [held]
    print(f"  {first}", flush=True)
    for text in others:
        print(f"        {text}", flush=True)
