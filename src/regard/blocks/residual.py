"""A residual connection around a sublayer, with the norm before it or after it (B9)."""

from collections.abc import Callable

from torch import nn

from regard.shapes import Float, Tensor


class PreNorm(nn.Module):
    """x + sublayer(norm(x)): the stream itself is never normalised, so a stack of these needs a norm at its end."""

    closes = True

    def __init__(self, norm: nn.Module, dropout: float = 0.0):
        super().__init__()
        self.norm, self.dropout = norm, nn.Dropout(dropout)

    def forward(self, x: Float[Tensor, "b t w"], sublayer: Callable[[Tensor], Tensor]) -> Float[Tensor, "b t w"]:
        return x + self.dropout(sublayer(self.norm(x)))


class PostNorm(nn.Module):
    """norm(x + sublayer(x)): Add & Norm, as in 2017."""

    closes = False

    def __init__(self, norm: nn.Module, dropout: float = 0.0):
        super().__init__()
        self.norm, self.dropout = norm, nn.Dropout(dropout)

    def forward(self, x: Float[Tensor, "b t w"], sublayer: Callable[[Tensor], Tensor]) -> Float[Tensor, "b t w"]:
        return self.norm(x + self.dropout(sublayer(x)))


RESIDUALS = {"pre": PreNorm, "post": PostNorm}
