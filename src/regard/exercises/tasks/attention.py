"""Attention that leaves padding out (B4, B6)."""

from collections.abc import Callable

import torch
from torch import Tensor

from regard.attention.attend import attend, softmax_or_zero
from regard.attention.scores import SCORES, scaled_dot
from regard.exercises.exercise import Dice, Exercise, Function, Law, Slip


def attention(query: Tensor, key: Tensor, value: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
    """Tokens look at tokens, but not at padding.

    query and key [b h t d], value [b h t e]. present [b t] has truth values: False where a key is padding, at which
    nobody may look. Return weights [b h t t], the softmax of the scaled dot products over the keys that are present,
    and context [b h t e], weights times value. Where a text has no key at all, its weights are 0.
    """
    raise NotImplementedError


def solution(query: Tensor, key: Tensor, value: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
    found = attend(query, key, value, allow=present[:, None, None])
    return found.weights, found.context


def weighing(weigh: Callable[[Tensor, Tensor], Tensor], score: Function = scaled_dot) -> Function:
    """Attention with other weights: `weigh(scores, allow)`."""

    def wrong(query: Tensor, key: Tensor, value: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
        weights = weigh(score(query, key), present[:, None, None])
        return weights, weights @ value

    return wrong


def filled(scores: Tensor, allow: Tensor) -> Tensor:
    return scores.masked_fill(~allow, -torch.inf)


def by_values(query: Tensor, key: Tensor, value: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
    scaled = query * (query.shape[-1] / value.shape[-1]) ** 0.5
    return solution(scaled, key, value, present)


def case(dice: Dice, *shape: int, present: list[list[int]]) -> tuple[Tensor, ...]:
    return dice.normal(*shape), dice.normal(*shape), dice.normal(*shape[:3], 11), torch.tensor(present).bool()


def cases(dice: Dice) -> list[tuple[Tensor, ...]]:
    return [
        case(dice, 1, 1, 3, 2, present=[[1, 1, 1]]),
        case(dice, 2, 3, 5, 7, present=[[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]),
        case(dice, 2, 3, 5, 7, present=[[0, 1, 0, 0, 1], [1, 1, 1, 0, 1]]),
        case(dice, 2, 3, 5, 7, present=[[0, 0, 0, 0, 0], [1, 1, 0, 0, 0]]),
    ]


def sums_to_one(function: Function, dice: Dice) -> bool:
    weights, _ = function(*cases(dice)[1])
    return torch.allclose(weights.sum(-1), torch.ones(weights.shape[:-1]))


def padding_inert(function: Function, dice: Dice) -> bool:
    query, key, value, present = cases(dice)[1]
    other = torch.where(present[:, None, :, None], key, 9.0), torch.where(present[:, None, :, None], value, 9.0)
    return torch.allclose(function(query, key, value, present)[1], function(query, *other, present)[1], atol=1e-5)


exercise = Exercise(
    number=6,
    level="medium",
    lectures=("B4", "B6"),
    blank=attention,
    solution=solution,
    gives=("weights", "context"),
    without=("scaled_dot_product_attention", "MultiheadAttention"),
    cases=cases,
    slips=(
        Slip("no mask", "padding is looked at: nothing hides it yet", weighing(lambda s, allow: s.softmax(-1))),
        Slip(
            "inverted mask",
            "`present` is True where a key may be looked at: hide where it is False",
            weighing(lambda s, allow: softmax_or_zero(filled(s, ~allow))),
        ),
        Slip(
            "zeros in the scores",
            "a score of 0 is no hiding, for exp(0) is 1: put -inf in the place of the scores of padding",
            weighing(lambda s, allow: s.masked_fill(~allow, 0.0).softmax(-1)),
        ),
        Slip(
            "hidden after the softmax",
            "hide before the softmax: weights that are set to 0 after it leave a row that no longer sums to 1",
            weighing(lambda s, allow: s.softmax(-1) * allow),
        ),
        Slip(
            "mask without axes",
            "present is [b t], scores are [b h t t]: give it axes for heads and queries, present[:, None, None, :]",
            weighing(lambda s, allow: filled(s, allow[:, 0, 0])),
        ),
        Slip(
            "mask with one axis more",
            "present[:, None] is [b 1 t], scores are [b h t t]: an axis is missing, present[:, None, None, :]",
            weighing(lambda s, allow: filled(s, allow[:, 0])),
        ),
        Slip(
            "queries hidden",
            "it is keys that are padding, the last axis: present[:, None, None, :]",
            weighing(lambda s, allow: softmax_or_zero(filled(s, allow.transpose(-2, -1).expand_as(s)))),
        ),
        Slip(
            "blind rows are nan",
            "a row of nothing but -inf has no softmax (0 / 0 is nan): where nobody can be looked at, weights are 0",
            weighing(lambda s, allow: filled(s, allow).softmax(-1)),
        ),
        Slip(
            "blind rows look at padding",
            "a very low score in place of -inf looks at padding where there is nothing else: weights must be 0 there",
            weighing(lambda s, allow: s.masked_fill(~allow, -1e9).softmax(-1)),
        ),
        Slip(
            "no scaling",
            "divide the scores by the square root of the head's width, query.shape[-1]",
            weighing(lambda s, allow: softmax_or_zero(filled(s, allow)), SCORES["dot"](1, 1)),
        ),
        Slip(
            "root of the values",
            "it is queries and keys that are multiplied: take the root of their width, query.shape[-1], not of value's",
            by_values,
        ),
        Slip("context before weights", "return weights first, then context", lambda *given: solution(*given)[::-1]),
        Slip(
            "causal too",
            "padding alone is hidden: a token may look at what follows it, there is no causal mask here",
            weighing(lambda s, allow: softmax_or_zero(filled(s, allow & torch.ones(s.shape[-2:]).tril().bool()))),
        ),
        Slip(
            "softmax over queries",
            "the softmax goes over keys, the last axis",
            weighing(lambda s, allow: filled(s, allow).softmax(-2)),
        ),
    ),
    laws=(
        Law("each row of weights sums to 1", sums_to_one),
        Law("what stands in padding changes nothing", padding_inert),
    ),
)
