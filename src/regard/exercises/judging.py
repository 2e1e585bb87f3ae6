"""A student's function held against the library's, on random inputs and by laws, and its mistake by its name.

Each known mistake is a function too. The mistake that gives the student's own wrong results is the one that was made.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from regard.exercises.comparing import NUMPY, difference, misfit, shown
from regard.exercises.exercise import Exercise, Function, Slip
from regard.exercises.stops import known_stop
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
    """One input, what should come out of it, what did, and in words where that differs: nothing where it is right."""

    given: tuple[Any, ...]
    wanted: Any
    found: Any
    told: str


@dataclass(frozen=True)
class Guess:
    """A mistake that may have been made: wrong results that it gives too, and how many inputs speak against it."""

    slip: Slip
    fits: list[Tried]
    against: int

    def likely(self, left: list[Tried]) -> bool:
        """Whether it is no chance: it explains the first wrong result or half of them, and more than it gets wrong."""
        first = left[0] in self.fits
        return (first or 2 * len(self.fits) >= len(left)) and len(self.fits) > self.against


def judge(exercise: Exercise, function: Function, file: str = "") -> list[Finding]:
    """What is wrong with a function, likeliest mistakes first; nothing where it is right.

    Where results are of another kind or number, laws are not tried: they could not hold.
    """
    tried, dice = [], exercise.dice
    for given in exercise.cases(dice):
        wanted, kept = exercise.solution(*deepcopy(given)), deepcopy(given)
        found = answer(function, kept)
        if isinstance(found, Stopped):
            stopped = found.finding(call(exercise, given), file)
            return [*explained_stop(exercise, given, found), stopped]
        if touched := changed(exercise, given, kept):
            return [Finding("changes its input", f"{call(exercise, given)} changes {touched}; work on a copy of it")]
        tried.append(Tried(given, wanted, found, difference(wanted, found, exercise.gives)))
    if any(misfit(each.wanted, each.found, exercise.gives) for each in tried):
        return explained(exercise, tried)
    return [*explained(exercise, tried), *broken(exercise, function, sound=not any(each.told for each in tried))]


def explained(exercise: Exercise, tried: list[Tried]) -> list[Finding]:
    """Mistakes that give the same wrong results, whichever explains most first, each with where it first differs.

    A second one must explain what the first does not, and agree with all that is right or explained already.
    """
    findings: list[Finding] = []
    left = [each for each in tried if each.told]
    known = [each for each in tried if not each.told]
    while left:
        guesses = [guess(exercise, slip, way, left, known) for slip in exercise.slips for way in slip.ways]
        likely = [each for each in guesses if each.likely(left)]
        if not likely:
            return [*findings, example(exercise, left[0], "something else too: " if findings else "")]
        best = max(likely, key=lambda each: (len(each.fits), -each.against))
        findings += [Finding(best.slip.name, best.slip.hint), example(exercise, best.fits[0])]
        known += best.fits
        left = [each for each in left if each not in best.fits]
    return findings


def guess(exercise: Exercise, slip: Slip, way: Function, left: list[Tried], known: list[Tried]) -> Guess:
    """What speaks for a mistake in results that are `left` to explain, and against it in those that are `known`."""
    fits = [each for each in left if explains(exercise, way, each)]
    against = [each for each in known if fits and not harmless(exercise, way, each)]
    return Guess(slip, fits, len(against))


def example(exercise: Exercise, tried: Tried, before: str = "") -> Finding:
    mistake = "numpy" if NUMPY in tried.told else "another result"
    return Finding(mistake, f"{before}{call(exercise, tried.given)}: {tried.told}")


def explained_stop(exercise: Exercise, given: tuple[Any, ...], found: Stopped) -> list[Finding]:
    """The first mistake that stops at the same, if any, or else what the error itself tells."""
    for slip in exercise.slips:
        if any(found.alike(answer(way, deepcopy(given))) for way in slip.ways):
            return [Finding(slip.name, slip.hint)]
    known = known_stop(found.said)
    return [Finding(*known)] if known else []


def explains(exercise: Exercise, way: Function, tried: Tried) -> bool:
    theirs = answer(way, deepcopy(tried.given))
    return not isinstance(theirs, Stopped) and not difference(theirs, tried.found, exercise.gives)


def harmless(exercise: Exercise, way: Function, tried: Tried) -> bool:
    """Whether a mistake could have been made with this result: it does not show here, or is what shows."""
    theirs = answer(way, deepcopy(tried.given))
    return not isinstance(theirs, Stopped) and any(
        not difference(each, theirs, exercise.gives) for each in (tried.wanted, tried.found)
    )


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
