"""Span corruption (O7)."""

import numpy as np

from regard.data.corruption import cut_out, restored
from regard.exercises.exercise import Dice, Exercise, Function, Law, Slip

Spans = list[tuple[int, int]]
Cut = tuple[list[int], list[int]]


def cut_spans(tokens: list[int], spans: Spans, sentinels: list[int]) -> Cut:
    """Runs of a text are cut out, and are to be guessed from the rest (T5).

    spans are pairs (begin, end) in order: tokens[begin:end] is cut out. The first is known by sentinels[0], the second
    by sentinels[1], and so on. Return two lists: source, the text with a sentinel in the place of each run; and
    target, each sentinel followed by what was cut out there.
    """
    raise NotImplementedError


def solution(tokens: list[int], spans: Spans, sentinels: list[int]) -> Cut:
    begins = np.array([begin for begin, _ in spans])
    ends = np.array([end for _, end in spans])
    kept, cut = begins - np.append(0, ends[:-1]), ends - begins
    source, target = cut_out(np.array(tokens), kept.tolist(), cut.tolist(), tuple(sentinels))
    return source.tolist(), target.tolist()


def bare_source(tokens: list[int], spans: Spans, sentinels: list[int]) -> Cut:
    source, target = solution(tokens, spans, sentinels)
    return [token for token in source if token not in sentinels], target


def bare_target(tokens: list[int], spans: Spans, sentinels: list[int]) -> Cut:
    source, target = solution(tokens, spans, sentinels)
    return source, [token for token in target if token not in sentinels]


def one_for_each_token(tokens: list[int], spans: Spans, sentinels: list[int]) -> Cut:
    """A mask in the place of each token that was cut out: BERT's way with T5's symbols."""
    source, target = list(tokens), []
    for sentinel, (begin, end) in zip(sentinels, spans, strict=False):
        source[begin:end] = [sentinel] * (end - begin)
        target += [sentinel, *tokens[begin:end]]
    return source, target


def closed(tokens: list[int], spans: Spans, sentinels: list[int]) -> Cut:
    source, target = solution(tokens, spans, sentinels)
    return source, [*target, sentinels[len(spans)]]


def shifting(tokens: list[int], spans: Spans, sentinels: list[int]) -> Cut:
    """Each run is cut out of what is already shorter, at its old place."""
    return shifting_both(tokens, spans, sentinels)[0], solution(tokens, spans, sentinels)[1]


def shifting_both(tokens: list[int], spans: Spans, sentinels: list[int]) -> Cut:
    """And what is cut out is taken from there too."""
    source, target = list(tokens), []
    for sentinel, (begin, end) in zip(sentinels, spans, strict=False):
        target += [sentinel, *source[begin:end]]
        source[begin:end] = [sentinel]
    return source, target


def no_rest(tokens: list[int], spans: Spans, sentinels: list[int]) -> Cut:
    return solution(tokens[: spans[-1][1]], spans, sentinels)


def after(tokens: list[int], spans: Spans, sentinels: list[int]) -> Cut:
    pieces = [[*tokens[begin:end], mark] for mark, (begin, end) in zip(sentinels, spans, strict=False)]
    return solution(tokens, spans, sentinels)[0], [token for piece in pieces for token in piece]


def case(dice: Dice, length: int, *spans: tuple[int, int]) -> tuple[list[int], Spans, list[int]]:
    return dice.below(80, length).tolist(), list(spans), list(range(100, 107))


def nothing_lost(function: Function, dice: Dice) -> bool:
    tokens, spans, sentinels = case(dice, 17, (0, 2), (5, 6), (9, 13))
    source, target = function(tokens, spans, sentinels)
    return restored(list(source), list(target), tuple(sentinels)) == tokens


def sizes(function: Function, dice: Dice) -> bool:
    source, target = function(*case(dice, 17, (0, 2), (5, 6), (9, 13)))
    return (len(source), len(target)) == (17 - 7 + 3, 7 + 3)


exercise = Exercise(
    number=17,
    level="hard",
    lectures=("O7", "S10"),
    blank=cut_spans,
    solution=solution,
    gives=("source", "target"),
    imports="Spans = list[tuple[int, int]]\nCut = tuple[list[int], list[int]]",
    cases=lambda dice: [
        case(dice, 5, (1, 3)),
        case(dice, 11, (2, 5), (7, 8)),
        case(dice, 17, (0, 3), (5, 9), (15, 17)),
    ],
    slips=(
        Slip("no sentinels in the source", "put a sentinel into source where a run was cut out", bare_source),
        Slip("no sentinels in the target", "put its sentinel into target before each run", bare_target),
        Slip(
            "a sentinel for each token",
            "one sentinel stands for a whole run, however long: how long it was is to be guessed too",
            one_for_each_token,
        ),
        Slip(
            "one sentinel for all",
            "each run has a sentinel of its own: sentinels[0], sentinels[1], ...",
            lambda tokens, spans, sentinels: solution(tokens, spans, sentinels[:1] * len(spans)),
        ),
        Slip(
            "end included",
            "`end` is not cut out itself: tokens[begin:end]",
            lambda tokens, spans, sentinels: solution(
                tokens, [(begin, min(end + 1, len(tokens))) for begin, end in spans], sentinels
            ),
        ),
        Slip(
            "places that have moved",
            "once a run is cut out, what follows has moved: cut from the last run to the first, or build a new list",
            shifting,
            (shifting_both,),
        ),
        Slip("no rest", "what stands after the last run belongs to source too", no_rest),
        Slip("sentinels after the runs", "a sentinel comes before what was cut out, not after it", after),
        Slip("a last sentinel", "target ends with the last run; no sentinel follows it here", closed),
        Slip("source and target exchanged", "return source first", lambda *given: solution(*given)[::-1]),
    ),
    laws=(
        Law("source and target together give the text again", nothing_lost),
        Law("a run becomes one token of the source, and is one longer in the target", sizes),
    ),
)
