"""How well a query fits a key (B4)."""

import math

import torch
from torch import Tensor

from regard.attention.scores import scaled_dot
from regard.exercises.exercise import Dice, Exercise, Function, Law, Slip


def scaled_dot_product(query: Tensor, key: Tensor) -> Tensor:
    """How well each query fits each key: their dot product over the root of their width.

    query [b h q d] and key [b h k d] are vectors of width d: in each text b and head h, q queries and k keys. Return
    scores [b h q k]. There is no softmax yet.
    """
    raise NotImplementedError


def even_spread(function: Function, dice: Dice) -> bool:
    spread = [function(dice.normal(1, 1, 31, d), dice.normal(1, 1, 37, d)).std().item() for d in (4, 256)]
    return all(0.8 < each < 1.25 for each in spread)


def alone(function: Function, dice: Dice) -> bool:
    query, key = dice.normal(2, 3, 5, 7), dice.normal(2, 3, 11, 7)
    return torch.allclose(function(query, key)[:, :, 2:3], function(query[:, :, 2:3], key), atol=1e-5)


def plain(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1)


exercise = Exercise(
    number=3,
    level="easy",
    lectures=("B4", "B12"),
    blank=scaled_dot_product,
    solution=scaled_dot,
    gives=("scores",),
    without=("scaled_dot_product_attention",),
    cases=lambda dice: [
        (dice.normal(1, 1, 1, 2), dice.normal(1, 1, 3, 2)),
        (dice.normal(2, 3, 5, 7), dice.normal(2, 3, 11, 7)),
        (dice.normal(3, 2, 5, 13), dice.normal(3, 2, 5, 13)),
    ],
    slips=(
        Slip("no scaling", "divide by the square root of the head's width, query.shape[-1]", plain),
        Slip(
            "no root",
            "divide by the square root of the width, not by the width",
            lambda query, key: plain(query, key) / query.shape[-1],
        ),
        Slip(
            "multiplied",
            "divide by the root of the width; this multiplies by it",
            lambda query, key: plain(query, key) * math.sqrt(query.shape[-1]),
        ),
        Slip(
            "root of the model's width",
            "take the root of a head's width, query.shape[-1], not of that of all heads together",
            lambda query, key: plain(query, key) / math.sqrt(query.shape[1] * query.shape[-1]),
        ),
        Slip(
            "product in place of dot product",
            "`*` multiplies number by number: dot products of all queries and keys are query @ key.transpose(-2, -1)",
            lambda query, key: query * key,
            (
                lambda query, key: query * key / math.sqrt(query.shape[-1]),
                lambda query, key: query * key.transpose(-2, -1),
            ),
        ),
        Slip(
            "root of the keys",
            "it is the width that makes dot products grow: take the root of query.shape[-1], not of how many keys",
            lambda query, key: plain(query, key) / math.sqrt(key.shape[-2]),
        ),
        Slip(
            "queries and keys exchanged",
            "a row for each query, a column for each key: query @ key turned, not the other way round",
            lambda query, key: scaled_dot(key, query),
        ),
        Slip(
            "key not turned",
            "exchange the last two axes of key first: query @ key.transpose(-2, -1)",
            lambda query, key: query @ key,
        ),
        Slip(
            "all axes turned",
            "`.T` turns all four axes of key: exchange the last two alone, key.transpose(-2, -1)",
            lambda query, key: query @ key.permute(3, 2, 1, 0),
        ),
        Slip(
            "softmax already", "scores are asked for: leave the softmax out", lambda q, k: scaled_dot(q, k).softmax(-1)
        ),
    ),
    laws=(
        Law("scores of random vectors are of the same size at any width", even_spread),
        Law("a query's scores do not depend on other queries", alone),
    ),
)
