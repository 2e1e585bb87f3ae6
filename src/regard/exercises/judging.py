"""A student's function held against the library's, on random inputs and by laws, and its mistake by its name.

Each known mistake is a function too. The mistake that gives the student's own wrong results is the one that was made.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice
from typing import Any

from regard.exercises.comparing import difference, shown
from regard.exercises.exercise import Exercise, Function, Slip
from regard.shapes import Tensor

MOST = 200  # characters of what an error says


@dataclass(frozen=True)
class Finding:
    """What is wrong: in two or three words for a table, and in a sentence."""

    mistake: str
    text: str


@dataclass(frozen=True)
class Stopped:
    """Where a result should be: the function ended with an error."""

    error: BaseException

    @property
    def said(self) -> str:
        return " ".join(str(self.error).split())

    def alike(self, other: Any) -> bool:
        """Whether the other stopped at the same."""
        return isinstance(other, Stopped) and (type(other.error), other.said) == (type(self.error), self.said)

    def finding(self, during: str, file: str) -> Finding:
        if isinstance(self.error, NotImplementedError) and not self.said:  # torch's own say what is not there
            return Finding("not written", "not written yet: put your lines in place of `raise NotImplementedError`")
        what = type(self.error).__name__ + (f": {self.said[:MOST]}" if self.said else "")
        return Finding("stops", f"{during} stops{line_of(self.error, file)}: {what}")


@dataclass(frozen=True, eq=False)
class Tried:
    """One input, what came out of it, and in words where that differs from what should have."""

    given: tuple[Any, ...]
    found: Any
    told: str


def judge(exercise: Exercise, function: Function, file: str = "") -> list[Finding]:
    """What is wrong with a function, likeliest mistakes first; nothing where it is right."""
    failed, dice = [], exercise.dice
    for given in exercise.cases(dice):
        wanted, kept = exercise.solution(*deepcopy(given)), deepcopy(given)
        found = answer(function, kept)
        if isinstance(found, Stopped):
            stopped = found.finding(call(exercise, given), file)
            return [*explained_stop(exercise, given, found), stopped]
        if touched := changed(exercise, given, kept):
            return [Finding("changes its input", f"{call(exercise, given)} changes {touched}; work on a copy of it")]
        if told := difference(wanted, found, exercise.gives):
            failed.append(Tried(given, found, told))
    return [*explained(exercise, failed), *broken(exercise, function, sound=not failed)]


def explained(exercise: Exercise, failed: list[Tried]) -> list[Finding]:
    """Mistakes that give the same wrong results, whichever explains most first, and where it first differs."""
    findings, left = [], failed
    while left:
        makes = {slip.name: [tried for tried in left if explains(exercise, slip, tried)] for slip in exercise.slips}
        best = max(exercise.slips, key=lambda slip: len(makes[slip.name]))
        if not makes[best.name]:
            break
        findings.append(Finding(best.name, best.hint))
        left = [tried for tried in left if tried not in makes[best.name]]
    first = (left or failed)[:1]
    return findings + [Finding("another result", f"{call(exercise, tried.given)}: {tried.told}") for tried in first]


def explained_stop(exercise: Exercise, given: tuple[Any, ...], found: Stopped) -> list[Finding]:
    """The first mistake that stops at the same, if any."""
    alike = (slip for slip in exercise.slips if found.alike(answer(slip.wrong, deepcopy(given))))
    return [Finding(slip.name, slip.hint) for slip in islice(alike, 1)]


def explains(exercise: Exercise, slip: Slip, tried: Tried) -> bool:
    theirs = answer(slip.wrong, deepcopy(tried.given))
    return not isinstance(theirs, Stopped) and not difference(theirs, tried.found, exercise.gives)


def broken(exercise: Exercise, function: Function, *, sound: bool) -> list[Finding]:
    """Laws that do not hold. One that cannot be tried counts where the function is `sound` so far."""

    def single(*given: Any) -> Any:
        return in_single(function(*given))

    held = {law.name: answer(law.holds, (single, exercise.dice)) for law in exercise.laws}
    wrong = [name for name, it in held.items() if (sound if isinstance(it, Stopped) else not it)]
    return [Finding("a law", f"it should be so, and is not: {name}") for name in wrong]


def in_single(found: Any) -> Any:
    """Results in the precision of the inputs: a student may count in more."""
    if isinstance(found, tuple):
        return tuple(map(in_single, found))
    return found.detach().float() if isinstance(found, Tensor) and found.is_floating_point() else found


def answer(function: Function, given: tuple[Any, ...]) -> Any:
    """What comes out, or how it stopped: the function is a student's, and may do anything."""
    try:
        return function(*given)
    except BaseException as error:
        return Stopped(error)


def changed(exercise: Exercise, given: Sequence[Any], kept: Sequence[Any]) -> str:
    """The name of an input that is no longer what it was, or nothing."""
    code = exercise.blank.__code__
    names = code.co_varnames[: code.co_argcount]
    pairs = zip(names, given, kept, strict=True)
    return next((name for name, before, after in pairs if difference(before, after, (name,))), "")


def call(exercise: Exercise, given: Sequence[Any]) -> str:
    """`softmax([3 5])`: tensors by their shapes."""
    return f"{exercise.name}({', '.join(map(shown, given))})"


def line_of(error: BaseException, file: str) -> str:
    """The last line of the student's own file that led to it."""
    trace, line = error.__traceback__, 0
    while trace is not None:
        line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == file else line
        trace = trace.tb_next
    return f" in line {line}" if line else ""
