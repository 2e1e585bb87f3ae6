"""ConvS2S (S5; Gehring et al., 2017): gated convolutions on both sides, and a look at the source in every layer."""

from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from regard.attention.look import Look
from regard.attention.positions import Added, Learned
from regard.attention.scores import Dot
from regard.blocks.convolution import (
    HALF,
    Causal,
    Centred,
    Convolution,
    ConvolutionLayer,
    Convolutions,
    Tail,
    Windowed,
)
from regard.blocks.embedding import Embedding
from regard.blocks.memory import Memory
from regard.errors import at_least
from regard.place import Place
from regard.shapes import Float, Tensor
from regard.systems.convolutional import Convolutional, ConvolutionalSystem

STD = 0.1  # of word vectors and positions (section 3.5)


@dataclass(frozen=True, kw_only=True)
class ConvS2S(Convolutional):
    """`depth` layers on each side that see a window of `kernel` tokens, with learned positions.

    As in the paper a look at m places is multiplied by m sqrt(1/m). Its weight normalisation and its division of the
    encoder's gradient by the number of looks are left out: Adam divides by the size of a gradient anyway.
    """

    depth: int = 3
    kernel: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(2, "system", self, "kernel")

    def embedding(self, vocabulary: int) -> Embedding:
        position = Added(Learned(self.width, self.context, STD))
        return Embedding(vocabulary, self.width, position, std=STD, dropout=self.dropout)

    def layers(self, kind: type[Convolution]) -> list[ConvolutionLayer]:
        convolution = partial(kind, kernel=self.kernel)
        return [ConvolutionLayer(self.width, convolution, "glu", dropout=self.dropout) for _ in range(self.depth)]

    def build(self, vocabulary: int) -> "ConvS2STranslator":
        return ConvS2STranslator(self, vocabulary)


class LookingLayer(Windowed):
    """A convolutional layer that then looks at the source (section 3.3).

    d = (W h + b + g) sqrt(1/2) asks, g the vector of the token just read; what is found is added to h.
    """

    def __init__(self, layer: ConvolutionLayer, width: int):
        super().__init__()
        self.layer, self.reach = layer, layer.reach
        self.to_query = linear(width)
        self.look = Look("cross", score=Dot())

    def forward(
        self,
        x: Float[Tensor, "b t w"],
        at: Place,
        read: Float[Tensor, "b t w"],
        memory: Memory,
        *,
        cache: Tail | None = None,
    ) -> Float[Tensor, "b t w"]:
        x = self.layer(x, at, cache=cache)
        query = (self.to_query(x) + read) * HALF
        assert memory.values is not None
        found = self.look(query[:, None], memory.vectors[:, None], memory.values[:, None], at, memory.at)[:, 0]
        return (x + found) * HALF


class ConvS2STranslator(ConvolutionalSystem):
    reads_source = True

    def __init__(self, settings: ConvS2S, vocabulary: int):
        super().__init__(settings, vocabulary)
        width = settings.width
        self.source = settings.embedding(vocabulary)
        self.encoder = Convolutions(settings.layers(Centred))
        self.decoder = Convolutions([LookingLayer(layer, width) for layer in settings.layers(Causal)])
        self.to_output = linear(width)

    @property
    def limit(self) -> int:
        return self.context

    def encode(self, source, present=None):
        """Keys are the top layer's vectors, values also have the words they stand for: (z + e) sqrt(1/2).

        A mean of m vectors is smaller than one of them by sqrt(m), so values are larger by as much.
        """
        at = Place.line(source, present)
        words = self.source(source, at)
        vectors = self.encoder(words, at)
        places = torch.ones_like(source) if present is None else present
        larger = places.sum(1)[:, None, None].to(vectors.dtype).sqrt()
        return Memory(vectors, at, values=(vectors + words) * HALF * larger)

    def read(self, tokens, at, memory, cache):
        words = self.embedding(tokens, at)
        return self.drop(self.to_output(self.decoder(words, at, words, memory, cache=cache)))


def linear(width: int) -> nn.Linear:
    """Normal weights of variance 1 / width (section 3.5)."""
    made = nn.Linear(width, width)
    nn.init.normal_(made.weight, std=width**-0.5)
    nn.init.zeros_(made.bias)
    return made
