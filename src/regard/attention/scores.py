"""How well a query fits a key (B12): dot, scaled dot, bilinear, additive.

`forward` is the formula. `folded` says how a fused kernel, which knows only a scaled dot product, may compute the same:
as a changed query and a scale; None when it cannot.
"""

import math
from collections.abc import Callable

import torch
from torch import nn

from regard.shapes import Float, Tensor

Fits = Callable[[Tensor, Tensor], Tensor]  # what says how well queries fit keys


class Score(nn.Module):
    def forward(self, query: Float[Tensor, "b h q d"], key: Float[Tensor, "*bh k d"]) -> Float[Tensor, "b h q k"]:
        """Keys of each row and head, or the same for all."""
        raise NotImplementedError

    def folded(self, query: Float[Tensor, "b h q d"]) -> tuple[Float[Tensor, "b h q d"], float] | None:
        return None


class Dot(Score):
    """q . k, with nothing to keep it from growing with the width (C11)."""

    def forward(self, query, key):
        return query @ key.transpose(-2, -1)

    def folded(self, query):
        return query, 1.0


class ScaledDot(Score):
    """q . k / sqrt(d) (Vaswani et al., 2017, equation 1)."""

    def forward(self, query, key):
        return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])

    def folded(self, query):
        return query, 1 / math.sqrt(query.shape[-1])


class Bilinear(Score):
    """q W k with one matrix per head (Luong et al., 2015)."""

    def __init__(self, heads: int, width: int):
        super().__init__()
        self.between = nn.Parameter(torch.empty(heads, width, width))
        nn.init.normal_(self.between, std=1 / width)

    def forward(self, query, key):
        return through(query, self.between) @ key.transpose(-2, -1)

    def folded(self, query):
        return through(query, self.between), 1.0


class Additive(Score):
    """v . tanh(W q + k) (Bahdanau et al., 2015). No fused kernel computes it.

    U of the paper is the layer that makes the keys, once for a memory that is looked at many times.
    """

    def __init__(self, heads: int, width: int):
        super().__init__()
        self.from_query = nn.Parameter(torch.empty(heads, width, width))
        self.judge = nn.Parameter(torch.empty(heads, width))
        nn.init.normal_(self.from_query, std=width**-0.5)
        nn.init.normal_(self.judge, std=width**-0.5)

    def forward(self, query, key):
        mixed = torch.tanh(through(query, self.from_query)[:, :, :, None] + key[..., None, :, :])
        return torch.einsum("bhqkd,hd->bhqk", mixed, self.judge)


def through(query: Float[Tensor, "b h q d"], matrix: Float[Tensor, "h d e"]) -> Float[Tensor, "b h q e"]:
    """Each head's queries through its own matrix, all rows in one product: `@` would make one product per row."""
    return torch.einsum("bhqd,hde->bhqe", query, matrix)


SCORES: dict[str, Callable[[int, int], Score]] = {
    "dot": lambda heads, width: Dot(),
    "scaled-dot": lambda heads, width: ScaledDot(),
    "bilinear": Bilinear,
    "additive": Additive,
}

scaled_dot = ScaledDot()
