"""One wide vector as several narrow ones (B5)."""

import torch
from torch import Tensor

from regard.attention.heads import MultiHead
from regard.exercises.exercise import Dice, Exercise, Function, Law, Slip


def split_heads(x: Tensor, heads: int) -> Tensor:
    """A wide vector is cut into one narrow vector for each head.

    x [b t w] becomes [b h t d], where h is `heads` and d is w / h. Head 0 gets the first d columns of each token,
    head 1 the next d, and so on.
    """
    raise NotImplementedError


def in_order(function: Function, dice: Dice) -> bool:
    x = dice.normal(2, 5, 6)
    return torch.equal(function(x, 3)[:, 1], x[..., 2:4])


def back_again(function: Function, dice: Dice) -> bool:
    x = dice.normal(2, 5, 21)
    return torch.equal(torch.cat(function(x, 7).unbind(1), dim=-1), x)


exercise = Exercise(
    number=5,
    level="easy",
    lectures=("B5",),
    blank=split_heads,
    solution=MultiHead._split,
    cases=lambda dice: [(dice.normal(1, 2, 4), 2), (dice.normal(2, 5, 21), 3), (dice.normal(3, 7, 10), 5)],
    slips=(
        Slip(
            "reshaped at once",
            "cut the last axis first, [b t h d], then exchange t and h; [b h t d] at once mixes tokens and heads",
            lambda x, heads: x.reshape(x.shape[0], heads, x.shape[1], -1),
        ),
        Slip(
            "heads interleaved",
            "the columns of a head stand side by side: cut w into (h, d), not into (d, h)",
            lambda x, heads: x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2),
        ),
        Slip(
            "tokens before heads",
            "the head comes second: exchange the axes t and h",
            lambda x, heads: x.unflatten(-1, (heads, -1)),
        ),
        Slip(
            "tokens last",
            "tokens come before the columns of a head: [b h t d], not [b h d t]",
            lambda x, heads: MultiHead._split(x, heads).transpose(2, 3),
        ),
    ),
    laws=(
        Law("head 1 of three has columns 2 and 3 of six", in_order),
        Law("the heads side by side are what was cut", back_again),
    ),
)
