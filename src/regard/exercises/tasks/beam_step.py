"""One step of beam search (O11)."""

from itertools import product

from torch import Tensor

from regard.decode.beam import Beginning, Candidate, Search, Step, rank
from regard.decode.session import Told
from regard.decode.settings import Decode
from regard.exercises.exercise import Dice, Exercise, Function, Law, Slip

Found = tuple[list[tuple[int, int]], list[tuple[int, float]]]
Case = tuple[list[float], Tensor, int, int]


def beam_step(totals: list[float], chances: Tensor, beam: int, end: int) -> Found:
    """Of all ways to lengthen a few beginnings by a token, the best go on, and those that end are finished.

    There are n beginnings: totals has the sum of log-probabilities of each so far, chances [n v] the log-probability
    of each token that may follow. A candidate is a beginning (its row) and a token, and has as total the sum of both.
    Rank all n * v candidates, best first. Return two lists: going, the best `beam` candidates whose token is not
    `end`, as (row, token); and done, those that do end and stand among the best `beam` of all candidates, as (row,
    total). Best first in both.
    """
    raise NotImplementedError


def ranked(totals: list[float], chances: Tensor, beam: int) -> tuple[Search, list[Told], list[Candidate]]:
    search = Search(0, Decode(beam=beam, length_penalty="none"), [Beginning(total) for total in totals])
    values, tokens = chances.topk(min(2 * beam, chances.shape[-1]))
    told = [Told(*row, [], 0.0) for row in zip(tokens.tolist(), values.tolist(), strict=True)]
    return search, told, rank(search, told, 0)


def solution(totals: list[float], chances: Tensor, beam: int, end: int) -> Found:
    search, told, candidates = ranked(totals, chances, beam)
    rows = [[row] for row in range(len(totals))]  # a beginning is known by its number
    going = search.advance(candidates[: 2 * beam], 0, Step(rows, told), {end})
    return going, [(hypothesis.tokens[0], hypothesis.score) for hypothesis in search.done]


def parted(candidates: list[Candidate], end: int, places: int | None = None) -> Found:
    """Candidates that go on and that end, of the first so many."""
    going = [(row, token) for _, row, token, _ in candidates if token != end]
    return going[:places], [(row, total) for total, row, token, _ in candidates if token == end]


def ends_take_a_place(totals: list[float], chances: Tensor, beam: int, end: int) -> Found:
    return parted(ranked(totals, chances, beam)[2][:beam], end)


def ends_anywhere(totals: list[float], chances: Tensor, beam: int, end: int) -> Found:
    candidates = ranked(totals, chances, beam)[2]
    alive = [i for i, candidate in enumerate(candidates) if candidate[2] != end]
    return parted(candidates[: alive[beam - 1] + 1], end)


def never_ends(totals: list[float], chances: Tensor, beam: int, end: int) -> Found:
    return parted(ranked(totals, chances, beam)[2][:beam], -1)


def of_each(totals: list[float], chances: Tensor, beam: int, end: int) -> Found:
    """Every beginning goes on with its own best token."""
    best = [max(ranked([total], row[None], 1)[2])[:3] for total, row in zip(totals, chances, strict=True)]
    candidates = [(total, row, token, 0.0) for row, (total, _, token) in enumerate(best)]
    return parted(sorted(candidates, reverse=True)[:beam], end)


def every(totals: list[float], chances: Tensor) -> list[Candidate]:
    pairs = product(range(len(totals)), range(chances.shape[1]))
    return sorted(((totals[row] + chances[row, token].item(), row, token, 0.0) for row, token in pairs), reverse=True)


def all_ends(totals: list[float], chances: Tensor, beam: int, end: int) -> Found:
    going, done = parted(every(totals, chances), end)
    return going[:beam], done


def multiplied(totals: list[float], chances: Tensor, beam: int, end: int) -> Found:
    pairs = product(range(len(totals)), range(chances.shape[1]))
    candidates = [(totals[row] * chances[row, token].item(), row, token, 0.0) for row, token in pairs]
    going, _ = parted(sorted(candidates, reverse=True), end, beam)
    return going, parted(sorted(candidates, reverse=True)[:beam], end)[1]


def worst(totals: list[float], chances: Tensor, beam: int, end: int) -> Found:
    candidates = every(totals, chances)[::-1]
    return parted(candidates, end, beam)[0], parted(candidates[:beam], end)[1]


def case(dice: Dice, rows: int, vocabulary: int, *, likely: float = 0.0) -> Case:
    """`likely` is how much likelier than others the end symbol is, which is token 0."""
    scores = 2 * dice.normal(rows, vocabulary)
    scores[:, 0] += likely
    return (-dice.normal(rows).abs()).tolist(), scores.log_softmax(-1), rows, 0


def cases(dice: Dice) -> list[Case]:
    totals, chances, _, end = case(dice, 1, 5)
    return [
        (totals, chances, 1, end),
        (totals, chances, 2, end),
        case(dice, 3, 7, likely=-9.0),
        *(case(dice, rows, 11, likely=1.5) for rows in (2, 3, 3, 4, 5)),
    ]


def greedy(function: Function, dice: Dice) -> bool:
    chances = dice.normal(1, 7).log_softmax(-1)
    going, _ = function([-1.0], chances, 1, 99)
    return [tuple(each) for each in going] == [(0, int(chances.argmax()))]


def ends_apart(function: Function, dice: Dice) -> bool:
    totals, chances, beam, end = case(dice, 3, 7, likely=2.0)
    going, _ = function(totals, chances, beam, end)
    return len(going) == beam and all(token != end for _, token in going)


exercise = Exercise(
    number=16,
    level="hard",
    lectures=("O11",),
    blank=beam_step,
    solution=solution,
    gives=("going", "done"),
    imports="import torch\nfrom torch import Tensor\n\nFound = tuple[list[tuple[int, int]], list[tuple[int, float]]]",
    cases=cases,
    slips=(
        Slip(
            "totals left out",
            "a candidate's total is that of its beginning plus the token's log-probability; this ranks tokens alone",
            lambda totals, *rest: solution([0.0] * len(totals), *rest),
        ),
        Slip(
            "each beginning on its own",
            "all candidates compete together: one beginning may go on twice and another not at all",
            of_each,
        ),
        Slip(
            "ends take a place",
            "as many as `beam` go on: where a candidate ends, the next one that does not takes its place",
            ends_take_a_place,
        ),
        Slip(
            "ends of any rank",
            "a candidate that ends is finished only among the best `beam` of all candidates",
            ends_anywhere,
        ),
        Slip(
            "all ends are done",
            "done has those ends alone that stand among the best `beam` of all candidates, not every one there is",
            all_ends,
        ),
        Slip("ends go on", "a candidate whose token is `end` is done, it does not go on", never_ends),
        Slip("multiplied", "logarithms are added: total plus log-probability", multiplied),
        Slip("worst first", "the best candidate has the largest total: sort from the largest down", worst),
    ),
    laws=(
        Law("with a beam of 1 the likeliest token goes on", greedy),
        Law("as many as `beam` go on, and none of them ends", ends_apart),
    ),
)
