"""Rotary positions (B7)."""

import torch
from torch import Tensor

from regard.attention.positions import Rotary, rates
from regard.exercises.exercise import Dice, Exercise, Function, Law, Slip
from regard.place import Place


def rotary(x: Tensor, index: Tensor) -> Tensor:
    """Queries and keys are turned by an angle that grows with their place.

    x [b h t d] are the queries, or the keys, of h heads; index [b t] says where each stands. Components 2i and 2i + 1
    are a pair, i = 0, 1, ..., d / 2 - 1, which is turned by the angle a = index / 10000^(2i / d): a pair (u, v) becomes
    (u cos a - v sin a, u sin a + v cos a). Return [b h t d]. The width d is even.
    """
    raise NotImplementedError


def solution(x: Tensor, index: Tensor) -> Tensor:
    return Rotary(x.shape[-1]).turn(x, Place(index))


def halves(x: Tensor, index: Tensor) -> Tensor:
    pairs = solution(x.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2), index)
    return pairs.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)


def turns(x: Tensor, index: Tensor, rate: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Both of each pair times cos and sin of its angle."""
    angle = (index[..., None] * rate)[:, None]
    u, v = x[..., 0::2], x[..., 1::2]
    return u * angle.cos(), u * angle.sin(), v * angle.cos(), v * angle.sin()


def turned(x: Tensor, index: Tensor, rate: Tensor) -> Tensor:
    u_cos, u_sin, v_cos, v_sin = turns(x, index, rate)
    return torch.stack((u_cos - v_sin, u_sin + v_cos), dim=-1).flatten(-2)


def no_minus(x: Tensor, index: Tensor) -> Tensor:
    u_cos, u_sin, v_cos, v_sin = turns(x, index, rates(x.shape[-1], 10_000.0))
    return torch.stack((u_cos + v_sin, u_sin + v_cos), dim=-1).flatten(-2)


def parted(x: Tensor, index: Tensor) -> Tensor:
    u_cos, u_sin, v_cos, v_sin = turns(x, index, rates(x.shape[-1], 10_000.0))
    return torch.cat((u_cos - v_sin, u_sin + v_cos), dim=-1)


def length_kept(function: Function, dice: Dice) -> bool:
    x, index = dice.normal(2, 3, 5, 8), dice.below(50, 2, 5)
    return torch.allclose(function(x, index).norm(dim=-1), x.norm(dim=-1), atol=1e-4)


def distance_alone(function: Function, dice: Dice) -> bool:
    query, key, index = dice.normal(1, 1, 5, 8), dice.normal(1, 1, 5, 8), torch.arange(5)[None]
    here, there = (function(query, at) @ function(key, at).transpose(-2, -1) for at in (index, index + 17))
    return torch.allclose(here, there, atol=1e-3)


exercise = Exercise(
    number=14,
    level="hard",
    lectures=("B7", "S9"),
    blank=rotary,
    solution=solution,
    cases=lambda dice: [
        (dice.normal(1, 1, 1, 2), torch.tensor([[1]])),
        (dice.normal(1, 2, 5, 6), torch.arange(5)[None]),
        (dice.normal(2, 3, 7, 10), dice.below(40, 2, 7)),
    ],
    slips=(
        Slip(
            "halves in place of pairs",
            "neighbours are a pair, 2i and 2i + 1, not i and i + d / 2 (as others do it)",
            halves,
        ),
        Slip(
            "pairs not put back",
            "put the two of each pair side by side again: stack them on a new last axis, then flatten; cat parts them",
            parted,
        ),
        Slip(
            "other direction",
            "the sign of sin a is turned: (u cos a - v sin a, u sin a + v cos a)",
            lambda x, index: solution(x, -index),
        ),
        Slip("no minus", "the first of a pair becomes u cos a - v sin a: there is a minus", no_minus),
        Slip("places from 1", "take the index as it is: 0 turns nothing", lambda x, index: solution(x, index + 1)),
        Slip(
            "exponents half as fast",
            "the exponent is 2i / d, not i / d",
            lambda x, index: turned(x, index, 10_000.0 ** (-torch.arange(x.shape[-1] // 2) / x.shape[-1])),
        ),
        Slip(
            "one angle for all",
            "each pair turns more slowly than the one before: divide by 10000^(2i / d)",
            lambda x, index: turned(x, index, torch.ones(x.shape[-1] // 2)),
        ),
        Slip(
            "index left out",
            "count with `index`: texts need not begin at 0, and each row has its own",
            lambda x, index: solution(x, torch.arange(index.shape[1]).expand(index.shape)),
        ),
    ),
    laws=(
        Law("turning changes no length", length_kept),
        Law("scores of turned queries and keys depend on how far apart they stand alone", distance_alone),
    ),
)
