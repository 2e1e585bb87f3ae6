"""A residual connection around a sublayer, with the norm before it or after it (B9).

Where it does not add (`adds`), what the sublayer makes takes the place of what it was given: no network of today does
so, and C9 shows why.
"""

from collections.abc import Callable

from torch import nn

from regard.shapes import Float, Tensor


class PreNorm(nn.Module):
    """x + sublayer(norm(x)): the stream itself is never normalised, so a stack of these needs a norm at its end."""

    closes = True

    def __init__(self, norm: nn.Module, dropout: float = 0.0, *, adds: bool = True):
        super().__init__()
        self.norm, self.dropout, self.adds = norm, nn.Dropout(dropout), adds

    def forward(self, x: Float[Tensor, "b t w"], sublayer: Callable[[Tensor], Tensor]) -> Float[Tensor, "b t w"]:
        change = self.dropout(sublayer(self.norm(x)))
        return x + change if self.adds else change


class PostNorm(nn.Module):
    """norm(x + sublayer(x)): Add & Norm, as in 2017."""

    closes = False

    def __init__(self, norm: nn.Module, dropout: float = 0.0, *, adds: bool = True):
        super().__init__()
        self.norm, self.dropout, self.adds = norm, nn.Dropout(dropout), adds

    def forward(self, x: Float[Tensor, "b t w"], sublayer: Callable[[Tensor], Tensor]) -> Float[Tensor, "b t w"]:
        change = self.dropout(sublayer(x))
        return self.norm(x + change if self.adds else change)


RESIDUALS = {"pre": PreNorm, "post": PostNorm}
