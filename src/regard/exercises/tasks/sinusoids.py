"""Sinusoidal positions (B7)."""

import torch
from torch import Tensor

from regard.attention.positions import Sinusoid
from regard.exercises.exercise import Dice, Exercise, Function, Law, Slip


def sinusoids(length: int, width: int) -> Tensor:
    """A vector for each place in a text, made of waves that get slower from column to column.

    Return [t w]: for the place p = 0, 1, ... and i = 0, 1, ..., w / 2 - 1, column 2i is sin(p / 10000^(2i / w)) and
    column 2i + 1 is cos of the same. The width is even.
    """
    raise NotImplementedError


def solution(length: int, width: int) -> Tensor:
    return Sinusoid(width)(torch.arange(length)[None])[0]


def waves(length: int, rate: Tensor) -> Tensor:
    angle = torch.arange(length)[:, None] * rate
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)


def halves(length: int, width: int) -> Tensor:
    right = solution(length, width)
    return torch.cat((right[:, 0::2], right[:, 1::2]), dim=1)


def each_its_own(length: int, width: int) -> Tensor:
    angle = torch.arange(length)[:, None] * 10_000.0 ** (-torch.arange(width) / width)
    return torch.where(torch.arange(width) % 2 == 0, angle.sin(), angle.cos())


def on_a_circle(function: Function, dice: Dice) -> bool:
    pairs = function(11, 6).unflatten(1, (3, 2))
    return torch.allclose(pairs.square().sum(-1), torch.ones(11, 3))


def distance_alone(function: Function, dice: Dice) -> bool:
    rows = function(13, 6)
    fits = rows @ rows.T
    return torch.allclose(fits[2, 5], fits[9, 12], atol=1e-4)


exercise = Exercise(
    number=8,
    level="medium",
    lectures=("B7",),
    blank=sinusoids,
    solution=solution,
    cases=lambda dice: [(1, 2), (3, 4), (11, 6), (29, 14)],
    slips=(
        Slip(
            "two halves",
            "sin and cos take turns, column by column; here all sin stand first (as others do it)",
            halves,
        ),
        Slip(
            "exponents begin at 2 / w",
            "i begins at 0, so that the first two columns are sin(p) and cos(p) (one slide has it begin at 1)",
            lambda length, width: waves(length, 10_000.0 ** (-torch.arange(2, width + 2, 2) / width)),
        ),
        Slip(
            "places from 1",
            "the first place is 0: its row is 0 1 0 1 ...",
            lambda length, width: solution(length + 1, width)[1:],
        ),
        Slip(
            "sin and cos exchanged",
            "sin stands in the even columns, 0, 2, ..., cos in the odd ones",
            lambda length, width: solution(length, width).unflatten(1, (-1, 2)).flip(-1).flatten(1),
        ),
        Slip(
            "no pairs",
            "columns 2i and 2i + 1 share one angle: its exponent is 2i / w for both",
            each_its_own,
        ),
        Slip(
            "exponents half as fast",
            "the exponent is 2i / w, not i / w: the last pair comes close to 1 / 10000",
            lambda length, width: waves(length, 10_000.0 ** (-torch.arange(width // 2) / width)),
        ),
        Slip(
            "no exponent",
            "each pair is slower than the one before: divide p by 10000^(2i / w)",
            lambda length, width: waves(length, torch.ones(width // 2)),
        ),
    ),
    laws=(
        Law("sin and cos of a pair lie on a circle: their squares sum to 1", on_a_circle),
        Law("how well two places fit depends on their distance alone", distance_alone),
    ),
)
