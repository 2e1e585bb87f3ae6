"""Decoders that read one document a row and keep no more of it than they need to go on (S1-S6).

What recurrent and convolutional systems share: the settings of a body, and how a text is read through a cache that
remembers the tokens and can be made anew from them.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from regard.attention.cache import Rereading
from regard.blocks.embedding import Embedding, Unembedding, word_vectors
from regard.blocks.memory import Memory
from regard.errors import at_least, share
from regard.place import Place
from regard.shapes import Float, Int, Tensor
from regard.systems.system import System


@dataclass(frozen=True, kw_only=True)
class Body:
    """Layers one on the other, with dropout between them."""

    width: int = 128
    depth: int = 1
    context: int = 256
    dropout: float = 0.1

    def __post_init__(self) -> None:
        at_least(1, "system", self, "width", "depth", "context")
        share("system", self, "dropout")

    def drop(self) -> nn.Module:
        return nn.Dropout(self.dropout)

    def embedding(self, vocabulary: int) -> Embedding:
        """The layers know the order, so no position is added."""
        return word_vectors(vocabulary, self.width)


@dataclass(frozen=True, kw_only=True)
class Writing(Body):
    """A body that writes: what it predicts from is the word vectors again when `tied`."""

    tied: bool = True

    def output(self, embedding: Embedding) -> Unembedding:
        return self.unembedding(embedding)

    def unembedding(self, embedding: Embedding, *, bias: bool = False) -> Unembedding:
        rows = embedding.rows
        return Unembedding(rows.num_embeddings, self.width, tied=rows if self.tied else None, bias=bias)


class Reader(System):
    """It takes any length, one document a row."""

    packs = False

    def __init__(self, settings: Writing, vocabulary: int):
        super().__init__()
        self.settings, self.context, self.width = settings, settings.context, settings.width
        self.embedding = settings.embedding(vocabulary)
        self.output = settings.output(self.embedding)
        self.drop: Callable[[Tensor], Tensor] = settings.drop()
        self.vocabulary = vocabulary

    @property
    def limit(self) -> int | None:
        return None

    def read(
        self, tokens: Int[Tensor, "b t"], at: Place, memory: Memory | None, cache: Rereading | None
    ) -> Float[Tensor, "b t w"]:
        """The vector at each token; the cache is left ready for the next one."""
        raise NotImplementedError

    def hidden(self, tokens, memory=None, cache=None, at=None):
        if at is None:
            at = cache.places(tokens) if cache is not None else Place.line(tokens)
        if at.document is not None:
            raise ValueError("this system reads one document a row: these rows are packed")
        if cache is not None and (lost := cache.lost()) is not None:
            self.read(lost[0], Place.line(*lost), memory, cache)
        vectors = self.read(tokens, at, memory, cache)
        if cache is not None:
            cache.note(tokens, at)
        return vectors

    def logits(self, vectors):
        return self.output(vectors)
