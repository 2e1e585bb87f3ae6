"""Drawing from the likeliest tokens alone (B11)."""

from functools import partial

import torch
from torch import Tensor

from regard.decode.sample import min_p, top_k, top_p
from regard.exercises.exercise import Dice, Exercise, Function, Law, Slip


def nucleus(scores: Tensor, p: float) -> Tensor:
    """Keep the likeliest tokens that together reach the probability p; put all others aside (top-p).

    scores [b v] of the next token, before the softmax. Of each row keep the fewest tokens, likeliest first, whose
    probabilities sum to p or more: the one that passes p is kept too. Return [b v]: the scores as they were where a
    token is kept, -inf elsewhere.
    """
    raise NotImplementedError


def not_passed(scores: Tensor, p: float) -> Tensor:
    ordered, index = scores.softmax(-1).sort(descending=True)
    out = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, index, ordered.cumsum(-1) > p)
    return scores.masked_fill(out, -torch.inf)


def not_put_back(scores: Tensor, p: float) -> Tensor:
    ordered = scores.softmax(-1).sort(descending=True).values
    return scores.masked_fill(ordered.cumsum(-1) - ordered >= p, -torch.inf)


def unlikeliest(scores: Tensor, p: float) -> Tensor:
    ordered, index = scores.softmax(-1).sort()
    before = ordered.cumsum(-1) - ordered
    out = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, index, before >= p)
    return scores.masked_fill(out, -torch.inf)


def no_softmax(scores: Tensor, p: float) -> Tensor:
    ordered, index = scores.sort(descending=True)
    before = ordered.cumsum(-1) - ordered
    out = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, index, before >= p)
    return scores.masked_fill(out, -torch.inf)


def left(scores: Tensor, p: float) -> Tensor:
    return top_p(scores, p).softmax(-1)


def chances(scores: Tensor, p: float, other: float = 0.0) -> Tensor:
    return scores.softmax(-1).masked_fill(top_p(scores, p) == -torch.inf, other)


def never_empty(function: Function, dice: Dice) -> bool:
    scores = 3 * dice.normal(5, 11)
    found = function(scores, 0.01)
    return torch.equal(found.argmax(-1), scores.argmax(-1)) and bool((found.isfinite().sum(-1) == 1).all())


def fewest(function: Function, dice: Dice) -> bool:
    """What is kept reaches p, and without its least it does not."""
    scores = 2 * dice.normal(5, 11)
    kept = scores.softmax(-1).masked_fill(function(scores, 0.8) == -torch.inf, 0.0)
    least = kept.masked_fill(kept == 0, 2.0).amin(-1)
    return bool((kept.sum(-1) >= 0.8).all() and (kept.sum(-1) - least < 0.8).all())


exercise = Exercise(
    number=15,
    level="hard",
    lectures=("B11", "O11"),
    blank=nucleus,
    solution=top_p,
    gives=("scores",),
    cases=lambda dice: [
        (torch.tensor([[0.1, 0.5, 0.15, 0.25]]).log(), 0.6),
        (2 * dice.normal(3, 7), 0.5),
        (2 * dice.normal(5, 13), 0.9),
        (6 * dice.normal(5, 13), 0.3),
    ],
    slips=(
        Slip(
            "the one that passes p is dropped",
            "keep the token with which the sum passes p too: ask whether the sum before it is less than p",
            not_passed,
        ),
        Slip(
            "order not put back",
            "what you found is in the order of likelihood: carry it back to the tokens' own places (scatter)",
            not_put_back,
        ),
        Slip("unlikeliest first", "sort from the likeliest down: descending=True", unlikeliest),
        Slip("no softmax", "scores are no probabilities: take the softmax before you sum", no_softmax),
        Slip(
            "a bound for each token",
            "p bounds the sum of probabilities, not the probability of each token",
            lambda scores, p: scores.masked_fill(scores.softmax(-1) < p, -torch.inf),
        ),
        Slip(
            "a share of the likeliest",
            "p bounds the sum; tokens at least p times as likely as the likeliest are min-p",
            min_p,
        ),
        Slip(
            "a share of all tokens",
            "how many are kept depends on how likely they are; this keeps the same number in each row",
            lambda scores, p: top_k(scores, round(p * scores.shape[-1])),
        ),
        Slip(
            "probabilities",
            "return the scores as they were, not their softmax",
            left,
            (chances, partial(chances, other=-torch.inf)),
        ),
        Slip(
            "sorted scores",
            "return each score at its token's own place, not sorted: carry what is kept back to there (scatter)",
            lambda scores, p: top_p(scores, p).sort(descending=True).values,
        ),
        Slip(
            "zeros for what is dropped",
            "a score of 0 can still be drawn: put -inf there",
            lambda scores, p: top_p(scores, p).nan_to_num(neginf=0.0),
        ),
    ),
    laws=(
        Law("the likeliest token is always kept, and alone where p is tiny", never_empty),
        Law("what is kept reaches p, and without its least likely token does not", fewest),
    ),
)
