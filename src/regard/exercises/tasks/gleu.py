"""n-grams counted as BLEU and GLEU do (S6)."""

from collections import Counter
from collections.abc import Iterable

from regard.exercises.exercise import LISTS, Dice, Exercise, Function, Law, Slip
from regard.objectives.gleu import LONGEST, ngrams
from regard.objectives.gleu import gleu as solution


def gleu(tokens: list[int], reference: list[int]) -> float:
    """How much of a translation stands in the right one, and how much of the right one in it.

    Take all runs of one, two, three and four tokens next to each other (n-grams), from both texts. Count what both
    have; one that a text has three times and the other twice counts twice, as in BLEU. Return that count over the
    number of n-grams of the text that has more of them, which is the smaller of precision and recall. Two empty texts
    are the same: 1.
    """
    raise NotImplementedError


def over(matches: float, total: float) -> float:
    return matches / total if total else 1.0


def unclipped(tokens: list[int], reference: list[int]) -> float:
    ours, theirs = ngrams(tokens), ngrams(reference)
    found = sum(count for gram, count in ours.items() if gram in theirs)
    return over(found, max(ours.total(), theirs.total()))


def distinct(tokens: list[int], reference: list[int]) -> float:
    ours, theirs = set(ngrams(tokens)), set(ngrams(reference))
    return over(len(ours & theirs), max(len(ours), len(theirs)))


def precision(tokens: list[int], reference: list[int]) -> float:
    ours, theirs = ngrams(tokens), ngrams(reference)
    return over((ours & theirs).total(), ours.total() or theirs.total())


def of_lengths(lengths: Iterable[int], tokens: list[int], reference: list[int]) -> float:
    kept = set(lengths)
    ours, theirs = (
        Counter({gram: count for gram, count in ngrams(text).items() if len(gram) in kept})
        for text in (tokens, reference)
    )
    return over((ours & theirs).total(), max(ours.total(), theirs.total()))


def symmetric(function: Function, dice: Dice) -> bool:
    one, two = dice.below(4, 9).tolist(), dice.below(4, 6).tolist()
    return abs(function(one, two) - function(two, one)) < 1e-6


def same_is_one(function: Function, dice: Dice) -> bool:
    text = dice.below(5, 8).tolist()
    return abs(function(text, text) - 1) < 1e-6


def cases(dice: Dice) -> list[tuple[list[int], list[int]]]:
    lengths = ((7, 5), (5, 7), (11, 10), (3, 12), (12, 3), (2, 2), (6, 6))
    drawn = [(dice.below(4, one).tolist(), dice.below(4, two).tolist()) for one, two in lengths]
    return [([1], [1]), ([7, 7, 7], [7, 2]), *drawn, ([], []), ([], [3, 4])]


exercise = Exercise(
    number=12,
    level="medium",
    lectures=("S6",),
    blank=gleu,
    solution=solution,
    gives=("gleu",),
    imports=LISTS,
    cases=cases,
    slips=(
        Slip(
            "not clipped",
            "an n-gram counts at most as often as both texts have it: `7 7 7` against `7 2` has one match, not three",
            unclipped,
        ),
        Slip("each n-gram once", "count n-grams as often as they stand there: a Counter, not a set", distinct),
        Slip(
            "precision alone",
            "divide by the n-grams of the longer text: a short translation must not be perfect",
            precision,
        ),
        Slip(
            "recall alone",
            "divide by the n-grams of the longer text: a long translation must not be perfect",
            lambda tokens, reference: precision(reference, tokens),
        ),
        Slip("single tokens", "runs of one to four tokens count", lambda *texts: of_lengths([1], *texts)),
        Slip("pairs at most", "runs of up to four tokens count", lambda *texts: of_lengths([1, 2], *texts)),
        Slip(
            "three at most",
            "runs of up to four tokens count: does your range end one too early?",
            lambda *texts: of_lengths(range(1, LONGEST), *texts),
        ),
        Slip("runs of four alone", "runs of one, two and three count too", lambda *texts: of_lengths([4], *texts)),
    ),
    laws=(
        Law("two texts exchanged give the same", symmetric),
        Law("a text beside itself gives 1", same_is_one),
    ),
)
