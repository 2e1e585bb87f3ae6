"""What recurrent systems share: their settings, and a text read by carrying a state along."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from torch import nn

from regard.attention.positions import Position
from regard.blocks.embedding import Embedding, Unembedding
from regard.blocks.memory import Memory
from regard.blocks.recurrent import CELLS, Recurrent, States
from regard.errors import UserError, one_of
from regard.place import Place
from regard.shapes import Float, Int, Tensor
from regard.systems.system import System


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Layers of recurrent cells, with dropout between them."""

    cell: str = "lstm"
    width: int = 128
    depth: int = 1
    context: int = 256
    dropout: float = 0.1

    def __post_init__(self) -> None:
        one_of("system.cell", self.cell, CELLS)
        for name in ("width", "depth", "context"):
            if getattr(self, name) < 1:
                raise UserError(f"system.{name} = {getattr(self, name)}; it must be at least 1")
        if not 0 <= self.dropout < 1:
            raise UserError(f"system.dropout = {self.dropout}; it must be at least 0 and less than 1")

    def drop(self) -> nn.Module:
        return nn.Dropout(self.dropout)

    def embedding(self, vocabulary: int) -> Embedding:
        """Word vectors of size 1; a state knows the order, so no position is added."""
        return Embedding(vocabulary, self.width, Position(), std=self.width**-0.5, scale=math.sqrt(self.width))


@dataclass(frozen=True, kw_only=True)
class Recurrence(Cells):
    """A system of cells that writes: what it predicts from is the word vectors again when `tied`."""

    tied: bool = True

    def layers(self, inputs: int, *, backward: bool = False) -> Recurrent:
        return Recurrent(self.cell, inputs, self.width, self.depth, dropout=self.drop, backward=backward)

    def one_layer(self, inputs: int) -> Recurrent:
        return replace(self, depth=1).layers(inputs)

    def output(self, embedding: Embedding) -> Unembedding:
        rows = embedding.rows
        return Unembedding(rows.num_embeddings, self.width, tied=rows if self.tied else None)


class RecurrentSystem(System):
    """A decoder that carries a state: it reads any length, one document a row."""

    packs = False
    compiles = False  # loops over tokens would be unrolled anew for each length

    def __init__(self, settings: Recurrence, embedding: Embedding, output: Unembedding):
        super().__init__()
        self.settings, self.context, self.width = settings, settings.context, settings.width
        self.embedding, self.output = embedding, output
        self.drop: Callable[[Tensor], Tensor] = settings.drop()
        self.vocabulary = output.rows.out_features

    @property
    def limit(self) -> None:
        return None

    def read(
        self,
        tokens: Int[Tensor, "b t"],
        at: Place,
        state: Float[Tensor, "b n w"] | None,
        memory: Memory | None,
        cache: States | None,
    ) -> tuple[Float[Tensor, "b t w"], Float[Tensor, "b n w"]]:
        """The vector at each token and the state after the last present one; None is the state before the first."""
        raise NotImplementedError

    def hidden(self, tokens, memory=None, cache=None, at=None):
        if at is None:
            at = cache.places(tokens) if cache is not None else Place.line(tokens)
        if at.document is not None:
            raise ValueError("a recurrent system reads one document a row: these rows are packed")
        if cache is None:
            return self.read(tokens, at, None, memory, None)[0]
        if (lost := cache.lost()) is not None:
            _, cache.state = self.read(lost[0], Place.line(*lost), None, memory, cache)
        vectors, state = self.read(tokens, at, cache.state, memory, cache)
        cache.keep(tokens, at, state)
        return vectors

    def logits(self, vectors):
        return self.output(vectors)

    def start(self, rows, capacity):
        return States(rows, capacity, self.device)


def large(layer: nn.Linear) -> nn.Linear:
    """A layer from states to words, with a gain to begin with: states begin at about a quarter of the words' size.

    Without it the first probabilities are so even that a deep system learns little for hundreds of steps.
    """
    nn.init.orthogonal_(layer.weight, gain=4.0)
    nn.init.zeros_(layer.bias)
    return layer
