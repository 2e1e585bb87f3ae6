"""Hiding the future (B6)."""

import torch
from torch import Tensor

from regard.attention.attend import attend
from regard.attention.patterns import Sight, causal
from regard.exercises.exercise import Dice, Exercise, Function, Law, Slip
from regard.place import Place


def causal_mask(length: int) -> Tensor:
    """Who may look at whom in a text that is written from left to right.

    Return allow [q k] of truth values, one row for each of `length` queries, one column for each of `length` keys:
    True where query q may look at key k. A token may look at itself and at what stands before it.
    """
    raise NotImplementedError


def solution(length: int) -> Tensor:
    at = Place.line(torch.zeros(1, length, dtype=torch.long))
    return Sight(causal, at, at).allow()[0, 0]


def past_ignores_future(function: Function, dice: Dice) -> bool:
    """Attention under the mask, before and after all from token 5 on is changed."""
    x, other = dice.normal(1, 1, 7, 3), dice.normal(1, 1, 7, 3)
    other[:, :, :5] = x[:, :, :5]
    one, two = (attend(each, each, each, allow=function(7)[None, None]).context for each in (x, other))
    return torch.allclose(one[:, :, :5], two[:, :, :5])


def all_the_past(function: Function, dice: Dice) -> bool:
    return function(7).sum(-1).tolist() == [1, 2, 3, 4, 5, 6, 7]


exercise = Exercise(
    number=4,
    level="easy",
    lectures=("B6",),
    blank=causal_mask,
    solution=solution,
    gives=("allow",),
    cases=lambda dice: [(1,), (2,), (5,), (13,)],
    slips=(
        Slip(
            "turned",
            "this lets tokens see the future: a row is a query, and may look where k <= q",
            lambda length: solution(length).T,
        ),
        Slip("inverted", "True where a query may look, not where it may not", lambda length: ~solution(length)),
        Slip(
            "not itself",
            "a token may look at itself too: k <= q, not k < q (one slide hides the token itself)",
            lambda length: solution(length) & ~torch.eye(length, dtype=torch.bool),
        ),
        Slip(
            "one too far",
            "the mask is off by one: each token sees the next one, which it is to guess",
            lambda length: torch.ones(length, length).tril(1).bool(),
        ),
        Slip("everyone", "nothing is hidden yet", lambda length: torch.ones(length, length, dtype=torch.bool)),
        Slip(
            "numbers, 1 and 0",
            "truth values are asked for: add .bool() to your zeros and ones",
            lambda length: solution(length).float(),
        ),
        Slip(
            "numbers, 1 where hidden",
            "truth values are asked for, and True where a query may look, not where it may not",
            lambda length: (~solution(length)).float(),
        ),
        Slip(
            "numbers, 0 and -inf",
            "truth values are asked for: True where a query may look; -inf is put into the scores later",
            lambda length: torch.zeros(length, length).masked_fill(~solution(length), -torch.inf),
        ),
    ),
    laws=(
        Law("the past ignores the future", past_ignores_future),
        Law("the first token sees one, the second two, and so on", all_the_past),
    ),
)
