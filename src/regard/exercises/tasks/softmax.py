"""Scores to weights (B3, B4)."""

import torch
from torch import Tensor

from regard.attention.attend import softmax_or_zero
from regard.exercises.exercise import Dice, Exercise, Function, Law, Slip


def softmax(scores: Tensor) -> Tensor:
    """Scores become weights that sum to 1, also where scores are very large.

    scores [q k]: for each query a row of scores, one for each key. Return weights [q k]: exp(score) over the sum of
    the row's exp(score). Scores may be 10,000, of which exp is infinite, or -inf for a key that is hidden; at least
    one in each row is not. Adding the same number to a whole row changes no weight: use that.
    """
    raise NotImplementedError


def sums_to_one(function: Function, dice: Dice) -> bool:
    return torch.allclose(function(dice.normal(5, 11) * 100).sum(-1), torch.ones(5))


def shifts(function: Function, dice: Dice) -> bool:
    scores = dice.normal(5, 11)
    return torch.allclose(function(scores), function(scores + 3.0), atol=1e-5)


def far_apart(dice: Dice) -> Tensor:
    return dice.normal(3, 5) + torch.tensor([[1e4], [0.0], [-1e4]])


def hidden(dice: Dice) -> Tensor:
    return dice.normal(3, 5).masked_fill(torch.eye(3, 5, dtype=torch.bool), -torch.inf)


exercise = Exercise(
    number=2,
    level="easy",
    lectures=("B3", "B4"),
    blank=softmax,
    solution=softmax_or_zero,
    gives=("weights",),
    without=("softmax", "log_softmax", "Softmax", "LogSoftmax", "logsumexp", "softmin"),
    cases=lambda dice: [
        (torch.tensor([[0.0, 1.0]]),),
        (dice.normal(3, 5),),
        (hidden(dice),),
        (dice.normal(3, 5) * 1e4,),
        (far_apart(dice),),
    ],
    slips=(
        Slip(
            "overflow",
            "exp of a large score is infinite, and inf / inf is nan: subtract each row's largest score first",
            lambda scores: scores.exp() / scores.exp().sum(-1, keepdim=True),
        ),
        Slip(
            "one maximum for all",
            "subtract each row's own largest score: with that of the whole tensor, exp of a lower row is 0 everywhere",
            lambda scores: (scores - scores.max()).exp() / (scores - scores.max()).exp().sum(-1, keepdim=True),
        ),
        Slip(
            "sum without keepdim",
            "give keepdim=True: a sum or maximum over keys is [q], and [q k] beside [q] pairs columns with rows",
            lambda scores: scores.exp() / scores.exp().sum(-1),
        ),
        Slip("wrong axis", "the softmax goes over keys, the last axis: dim=-1", lambda scores: scores.softmax(0)),
        Slip(
            "one sum for all",
            "each row has a sum of its own: sum over the last axis alone, with keepdim=True",
            lambda scores: scores.flatten().softmax(0).view_as(scores),
        ),
        Slip(
            "no division",
            "divide by the sum of the row",
            lambda scores: (scores - scores.amax(-1, keepdim=True)).exp(),
        ),
    ),
    laws=(
        Law("each row of weights sums to 1", sums_to_one),
        Law("the same number added to a whole row changes nothing", shifts),
        Law("no weight is negative", lambda function, dice: bool((function(dice.normal(5, 11)) >= 0).all())),
    ),
)
