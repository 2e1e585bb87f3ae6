"""What convolutional systems share: their settings, and a text read through windows."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from regard.blocks.convolution import Tails
from regard.blocks.embedding import Embedding, Unembedding
from regard.blocks.memory import Memory
from regard.errors import UserError
from regard.place import Place
from regard.shapes import Float, Int, Tensor
from regard.systems.system import System


@dataclass(frozen=True, kw_only=True)
class Convolutional:
    """Layers of convolutions, read out by the embedding itself when `tied`."""

    width: int = 128
    depth: int = 4
    context: int = 256
    dropout: float = 0.1
    tied: bool = True

    def __post_init__(self) -> None:
        for name in ("width", "depth", "context"):
            self.at_least(1, name)
        if not 0 <= self.dropout < 1:
            raise UserError(f"system.dropout = {self.dropout}; it must be at least 0 and less than 1")

    def at_least(self, least: int, name: str) -> None:
        if getattr(self, name) < least:
            raise UserError(f"system.{name} = {getattr(self, name)}; it must be at least {least}")

    def output(self, embedding: Embedding) -> Unembedding:
        rows = embedding.rows
        return Unembedding(rows.num_embeddings, self.width, tied=rows if self.tied else None)


class ConvolutionalSystem(System):
    """A decoder that sees its past through windows: one document a row, and any length unless positions are learned."""

    packs = False

    def __init__(self, settings: Convolutional, embedding: Embedding):
        super().__init__()
        self.settings, self.context, self.width = settings, settings.context, settings.width
        self.embedding, self.output = embedding, settings.output(embedding)
        self.drop: Callable[[Tensor], Tensor] = nn.Dropout(settings.dropout)
        self.vocabulary = embedding.rows.num_embeddings

    @property
    def limit(self) -> int | None:
        return None

    def read(
        self, tokens: Int[Tensor, "b t"], at: Place, memory: Memory | None, cache: Tails | None
    ) -> Float[Tensor, "b t w"]:
        """The vector at each token; the cache's tails follow."""
        raise NotImplementedError

    def hidden(self, tokens, memory=None, cache=None, at=None):
        if at is None:
            at = cache.places(tokens) if cache is not None else Place.line(tokens)
        if at.document is not None:
            raise ValueError("a convolutional system reads one document a row: these rows are packed")
        if cache is not None and (lost := cache.lost()) is not None:
            self.read(lost[0], Place.line(*lost), memory, cache)
        vectors = self.read(tokens, at, memory, cache)
        if cache is not None:
            cache.note(tokens, at)
        return vectors

    def logits(self, vectors):
        return self.output(vectors)

    def start(self, rows, capacity):
        return Tails(self.settings.depth, rows, capacity, self.device)
