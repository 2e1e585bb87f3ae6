"""Convolutions over a text (S5): each place sees a window of its neighbours, and layers see windows of windows.

y_t = W [x_{t + o_1}, ..., x_{t + o_k}] + b: the window's vectors side by side, times one matrix. The offsets o are a
`dilation` apart; a causal window ends at t, a centred one has t in its middle. Outside the text stand zeros.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from regard.attention.cache import Rereading
from regard.errors import UserError
from regard.place import Place
from regard.shapes import Float, Int, Tensor
from regard.tap import Tap

HALF = math.sqrt(0.5)  # keeps the size of a sum of two vectors of like size


class Tail:
    """The last inputs of one layer, of each row those before its own next token."""

    def __init__(self) -> None:
        self.kept: Tensor | None = None

    def extend(self, x: Float[Tensor, "b t w"], at: Place, count: int) -> Float[Tensor, "b n w"]:
        """New inputs after the `count` inputs before them; what a row was padded with is not kept."""
        before = x.new_zeros(x.shape[0], count, x.shape[2]) if self.kept is None else self.kept
        joined = torch.cat((before, x), dim=1)
        if at.present is None:
            self.kept = joined[:, x.shape[1] :]
        else:
            index = at.present.sum(1, keepdim=True) + torch.arange(count, device=x.device)
            self.kept = joined[torch.arange(len(x), device=x.device)[:, None], index]
        return joined


class Tails(Rereading):
    """The cache of a convolutional decoder: as many inputs of each layer as it looks back at."""

    def __init__(self, depth: int, rows: int, capacity: int, device: torch.device | str = "cpu"):
        super().__init__(rows, capacity, device)
        self.layers = [Tail() for _ in range(depth)]

    @property
    def blank(self) -> bool:
        return all(tail.kept is None for tail in self.layers)

    def forget(self) -> None:
        for tail in self.layers:
            tail.kept = None

    def reorder(self, rows: Int[Tensor, "b"]) -> None:
        super().reorder(rows)
        for tail in self.layers:
            tail.kept = tail.kept[rows] if tail.kept is not None else None


class Windowed(nn.Module):
    """What sees through a window: `reach` is the distance to the farthest place in it."""

    reach: int


class Convolution(Windowed):
    """A window of `kernel` vectors, `dilation` apart, to one."""

    def __init__(self, inputs: int, outputs: int, kernel: int, *, dilation: int = 1):
        super().__init__()
        self.kernel, self.dilation = kernel, dilation
        self.mix = nn.Linear(kernel * inputs, outputs)

    def forward(self, x: Float[Tensor, "b t i"], at: Place, *, cache: Tail | None = None) -> Float[Tensor, "b t o"]:
        """With a cache, `x` may be only the newest tokens."""
        return self.mix(windows(self.around(x, at, cache), self.kernel, self.dilation))

    def around(self, x: Tensor, at: Place, cache: Tail | None) -> Float[Tensor, "b n i"]:
        """The inputs with what stands before and after them."""
        raise NotImplementedError


class Causal(Convolution):
    """It sees a token and those before it: padding after a text is never seen."""

    def __init__(self, inputs: int, outputs: int, kernel: int, *, dilation: int = 1):
        super().__init__(inputs, outputs, kernel, dilation=dilation)
        self.reach = (kernel - 1) * dilation

    def around(self, x, at, cache):
        return nn.functional.pad(x, (0, 0, self.reach, 0)) if cache is None else cache.extend(x, at, self.reach)


class Centred(Convolution):
    """It sees as far ahead as back: what is not present is zero, like what lies outside the text."""

    def __init__(self, inputs: int, outputs: int, kernel: int, *, dilation: int = 1):
        super().__init__(inputs, outputs, kernel, dilation=dilation)
        if kernel % 2 == 0:
            raise UserError(f"a window of {kernel} has no middle for an encoder; {kernel - 1} and {kernel + 1} have")
        self.reach = kernel // 2 * dilation

    def around(self, x, at, cache):
        assert cache is None  # what sees ahead cannot go on from its past
        present = x if at.present is None else x.masked_fill(~at.present[..., None], 0.0)
        return nn.functional.pad(present, (0, 0, self.reach, self.reach))


class Gated(nn.Module):
    """A * sigmoid(B) of the two halves A and B (Dauphin et al., 2017). Tap: `gates`, how far each is open, [b t w]."""

    takes = 2  # vectors for each that it gives
    gain = 4.0  # the variance of A * sigmoid(B) is about a quarter of theirs

    def __init__(self) -> None:
        super().__init__()
        self.gates = Tap()

    def forward(self, x: Float[Tensor, "b t ww"]) -> Float[Tensor, "b t w"]:
        self.gates(lambda: x.chunk(2, dim=-1)[1].sigmoid())
        return nn.functional.glu(x)


class Tanh(nn.Tanh):
    """tanh(x), the unit of the first window models (Collobert and Weston, 2008)."""

    takes, gain = 1, 1.0


UNITS: dict[str, type[Gated] | type[Tanh]] = {"glu": Gated, "tanh": Tanh}


class ConvolutionLayer(Windowed):
    """(x + unit(convolution(x))) * sqrt(1/2) (Gehring et al., 2017, sections 3.2 and 3.4). Tap: `states` [b t w].

    Weights begin normal, of such a size that small inputs leave a unit as large as they came (their section 3.5).
    """

    def __init__(self, width: int, convolution: Callable[[int, int], Convolution], unit: str, *, dropout: float = 0.0):
        super().__init__()
        self.unit = UNITS[unit]()
        self.convolution = convolution(width, self.unit.takes * width)
        self.reach = self.convolution.reach
        self.drop = nn.Dropout(dropout)
        self.states = Tap()
        mix = self.convolution.mix
        nn.init.normal_(mix.weight, std=math.sqrt(self.unit.gain * (1 - dropout) / mix.in_features))
        nn.init.zeros_(mix.bias)

    def forward(self, x: Float[Tensor, "b t w"], at: Place, *, cache: Tail | None = None) -> Float[Tensor, "b t w"]:
        y = (x + self.unit(self.convolution(self.drop(x), at, cache=cache))) * HALF
        self.states(lambda: y)
        return y


class Convolutions(Windowed):
    """Layers one on the other, all causal or all centred. In an encoder `at.present` hides the padding.

    What is given `beside` the vectors is given to every layer.
    """

    def __init__(self, layers: Sequence[Windowed]):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.reach = sum(layer.reach for layer in layers)

    def forward(
        self, x: Float[Tensor, "b t w"], at: Place, *beside: Any, cache: Tails | None = None
    ) -> Float[Tensor, "b t w"]:
        for i, layer in enumerate(self.layers):
            x = layer(x, at, *beside, cache=None if cache is None else cache.layers[i])
        return x


def windows(x: Float[Tensor, "b n w"], kernel: int, dilation: int) -> Float[Tensor, "b t kw"]:
    """Each window's vectors side by side, the earliest first."""
    count = x.shape[1] - (kernel - 1) * dilation
    return torch.cat([x[:, i * dilation : i * dilation + count] for i in range(kernel)], dim=-1)
