"""The feed-forward layer, the same at every place (B8), so it need not know which are `present`; experts do."""

from collections.abc import Callable

from torch import nn
from torch.nn.functional import gelu, relu, silu

from regard.shapes import Bool, Float, Tensor
from regard.tap import Tap


class FeedForward(nn.Module):
    """f(x W1 + b1) W2 + b2."""

    def __init__(self, width: int, hidden: int, activation, *, dropout: float = 0.0, bias: bool = True):
        super().__init__()
        self.widen = nn.Linear(width, hidden, bias=bias)
        self.output = nn.Linear(hidden, width, bias=bias)
        self.activation, self.dropout, self.hidden = activation, nn.Dropout(dropout), Tap()

    def forward(self, x: Float[Tensor, "b t w"], present: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t w"]:
        hidden = self.activation(self.widen(x))
        self.hidden(lambda: hidden)
        return self.output(self.dropout(hidden))


class Gated(nn.Module):
    """(f(x W) * x V) U (Shazeer, 2020): one half of the layer opens and closes the other."""

    def __init__(self, width: int, hidden: int, activation, *, dropout: float = 0.0, bias: bool = True):
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=bias)
        self.widen = nn.Linear(width, hidden, bias=bias)
        self.output = nn.Linear(hidden, width, bias=bias)
        self.activation, self.dropout, self.hidden = activation, nn.Dropout(dropout), Tap()

    def forward(self, x: Float[Tensor, "b t w"], present: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t w"]:
        hidden = self.activation(self.gate(x)) * self.widen(x)
        self.hidden(lambda: hidden)
        return self.output(self.dropout(hidden))


def gelu_tanh(x: Tensor) -> Tensor:
    """GELU by the tanh formula that GPT-2 uses."""
    return gelu(x, approximate="tanh")


FEEDFORWARDS: dict[str, Callable[..., FeedForward | Gated]] = {
    "relu": lambda width, hidden, **rest: FeedForward(width, hidden, relu, **rest),
    "gelu": lambda width, hidden, **rest: FeedForward(width, hidden, gelu, **rest),
    "gelu-tanh": lambda width, hidden, **rest: FeedForward(width, hidden, gelu_tanh, **rest),
    "silu": lambda width, hidden, **rest: FeedForward(width, hidden, silu, **rest),
    "swiglu": lambda width, hidden, **rest: Gated(width, hidden, silu, **rest),
    "geglu": lambda width, hidden, **rest: Gated(width, hidden, gelu_tanh, **rest),
}
