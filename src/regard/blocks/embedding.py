"""Tokens to vectors and back (B2, B11)."""

import math

from torch import nn
from torch.nn.functional import linear, pad

from regard.attention.positions import Position
from regard.place import Place
from regard.shapes import Float, Int, Tensor
from regard.tap import Tap

EVEN = 8  # scores are made in multiples: on CUDA, rows that begin anywhere make the product three times as long


class Embedding(nn.Module):
    """A row of a matrix for each token, multiplied by `scale`, told where it stands by `position`, then `norm`."""

    def __init__(
        self,
        vocabulary: int,
        width: int,
        position: Position,
        *,
        std: float,
        scale: float = 1.0,
        norm: nn.Module | None = None,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.rows = nn.Embedding(vocabulary, width - position.takes)
        nn.init.normal_(self.rows.weight, std=std)
        self.position, self.scale, self.dropout = position, scale, nn.Dropout(dropout)
        self.norm = norm if norm is not None else nn.Identity()
        self.vectors = Tap()

    def forward(self, tokens: Int[Tensor, "b t"], at: Place) -> Float[Tensor, "b t w"]:
        x = self.position.on_input(self.rows(tokens) * self.scale, at)
        self.vectors(lambda: x)
        return self.dropout(self.norm(x))


def word_vectors(vocabulary: int, width: int, size: float = 1.0) -> Embedding:
    """Numbers of about that size without a position; tied to an output layer the rows are small enough for that."""
    return Embedding(vocabulary, width, Position(), std=width**-0.5, scale=size * math.sqrt(width))


class Unembedding(nn.Module):
    """Vectors to one score per token: a linear layer, tied to the embedding when given its rows (C15).

    Vectors are multiplied by `scale` first: rows of the size of words may be too large for an output.
    """

    def __init__(
        self,
        vocabulary: int,
        width: int,
        *,
        tied: nn.Embedding | None = None,
        scale: float = 1.0,
        bias: bool = False,
    ):
        super().__init__()
        self.rows, self.scale = nn.Linear(width, vocabulary, bias=bias), scale
        if bias:
            nn.init.zeros_(self.rows.bias)
        if tied is not None:
            self.rows.weight = tied.weight
        else:
            nn.init.normal_(self.rows.weight, std=width**-0.5)

    def forward(self, x: Float[Tensor, "... w"]) -> Float[Tensor, "... v"]:
        x = x * self.scale if self.scale != 1.0 else x
        missing = -self.rows.out_features % EVEN
        if not missing or not x.is_cuda:
            return self.rows(x)
        bias = None if self.rows.bias is None else pad(self.rows.bias, (0, missing))
        return linear(x, pad(self.rows.weight, (0, 0, 0, missing)), bias)[..., :-missing]
