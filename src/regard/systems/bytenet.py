"""ByteNet (S5; Kalchbrenner et al., 2016): a decoder stacked on an encoder, both of dilated convolutions."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import torch
from torch import nn

from regard.blocks.convolution import Causal, Centred, Convolution, Convolutions, Tail, Windowed
from regard.blocks.memory import Memory
from regard.errors import UserError, at_least
from regard.place import Place
from regard.shapes import Bool, Float, Int, Tensor
from regard.systems.convolutional import Convolutional, ConvolutionalSystem
from regard.tap import Tap

Count = TypeVar("Count", int, Tensor)


@dataclass(frozen=True, kw_only=True)
class ByteNet(Convolutional):
    """`depth` blocks on each side whose dilations double from 1 to `widest` and then begin anew.

    The encoder writes ceil(`stretch` * s) vectors for a source of s tokens: the paper's a |s| + b with b = 0, where
    nothing is read beyond the source. Decoder step t stands on vector t, and on zeros where the target runs past them.
    """

    depth: int = 5
    kernel: int = 3
    widest: int = 16
    stretch: float = 1.2

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(2, "system", self, "kernel")
        if self.width % 2:
            raise UserError(
                f"width {self.width} has no half inside a block; {self.width - 1} and {self.width + 1} have"
            )
        if self.widest < 1 or self.widest & (self.widest - 1):
            raise UserError(f"system.widest = {self.widest}; dilations double from 1, so it must be a power of two")
        if not 1 <= self.stretch < math.inf:
            raise UserError(f"system.stretch = {self.stretch}; it must be at least 1, or the source's end is cut off")

    @property
    def dilations(self) -> list[int]:
        """One for each block."""
        return [2 ** (i % self.widest.bit_length()) for i in range(self.depth)]

    def blocks(self, kind: type[Convolution]) -> Convolutions:
        half = self.width // 2
        made = [kind(half, half, self.kernel, dilation=dilation) for dilation in self.dilations]
        return Convolutions([ByteNetBlock(self.width, each, dropout=self.dropout) for each in made])

    def build(self, vocabulary: int) -> "ByteNetTranslator":
        return ByteNetTranslator(self, vocabulary)


class ByteNetBlock(Windowed):
    """x + up(f(convolution(f(down(f(x)))))), f = ReLU after layer norm (figure 3, left). Tap: `states` [b t w]."""

    def __init__(self, width: int, convolution: Convolution, *, dropout: float = 0.0):
        super().__init__()
        half = width // 2
        self.before, self.within, self.after = nn.LayerNorm(width), nn.LayerNorm(half), nn.LayerNorm(half)
        self.down, self.convolution, self.up = nn.Linear(width, half), convolution, nn.Linear(half, width)
        self.drop, self.reach = nn.Dropout(dropout), convolution.reach
        self.states = Tap()

    def forward(self, x: Float[Tensor, "b t w"], at: Place, *, cache: Tail | None = None) -> Float[Tensor, "b t w"]:
        y = self.down(self.before(x).relu())
        y = self.convolution(self.within(y).relu(), at, cache=cache)
        y = x + self.drop(self.up(self.after(y).relu()))
        self.states(lambda: y)
        return y


class ByteNetTranslator(ConvolutionalSystem):
    reads_source = True

    def __init__(self, settings: ByteNet, vocabulary: int):
        super().__init__(settings, vocabulary)
        width = settings.width
        self.stretch = Fraction(str(settings.stretch)).limit_denominator(10**6)  # 1.1 * 50 is more than 55 in floats
        self.source = settings.embedding(vocabulary)
        self.encoder, self.decoder = settings.blocks(Centred), settings.blocks(Causal)
        self.foot = nn.Linear(2 * width, width)
        self.top = nn.Sequential(nn.LayerNorm(width), nn.ReLU(), nn.Linear(width, width))

    def encode(self, source, present=None):
        at = Place.line(source, present)
        x = self.drop(self.source(source, at))
        if present is not None:
            x = x.masked_fill(~present[..., None], 0.0)
        x = nn.functional.pad(x, (0, 0, 0, self.stretched(source.shape[1]) - source.shape[1]))
        at = Place.line(x[..., 0], self._written(source, present))
        return Memory(self.encoder(x, at), at)

    def read(self, tokens, at, memory, cache):
        x = torch.cat((self.drop(self.embedding(tokens, at)), beneath(memory, at)), dim=-1)
        return self.drop(self.top(self.decoder(self.foot(x), at, cache=cache)))

    def stretched(self, count: Count) -> Count:
        """How many vectors are written for so many tokens, rounded up."""
        over, under = self.stretch.as_integer_ratio()
        return (count * over + under - 1) // under

    def _written(self, source: Int[Tensor, "b s"], present: Bool[Tensor, "b s"] | None) -> Bool[Tensor, "b n"] | None:
        """Where each row's vectors are, as many as its own length asks for."""
        if present is None:
            return None
        steps = torch.arange(self.stretched(source.shape[1]), device=source.device)
        return steps < self.stretched(present.sum(1, keepdim=True))


def beneath(memory: Memory, at: Place) -> Float[Tensor, "b t w"]:
    """The encoder's vector with the number of each step, zeros where there is none."""
    last = memory.vectors.shape[1] - 1
    index = at.index.clamp(max=last)
    there = at.index <= last
    if memory.at.present is not None:
        there = there & memory.at.present.gather(1, index)
    row = torch.arange(len(index), device=index.device)[:, None]
    return memory.vectors[row, index] * there[..., None]
