"""Systems that read a whole text and answer (S8, O3-O6): a body that gives each token a vector, and a head on it.

A text stands between its start and end symbol, so windows see where it begins and even an empty one can be read.
"""

from typing import Any

from torch import nn

from regard.attention.look import parted
from regard.blocks.embedding import Embedding
from regard.errors import UserError
from regard.place import Place
from regard.shapes import Float, Int, Tensor
from regard.systems.heads import Asked, Ground, Head, last
from regard.systems.system import System


class Encoding:
    """Settings of a system that answers: `build` is told the head that its task asks for, beside the vocabulary."""

    def build(self, vocabulary: int, asked: Asked = Asked()) -> "Encoder":
        raise NotImplementedError


class Encoder(System):
    """A text of any length to an answer. A system of this family gives `embed`."""

    writes_text = False
    packs = False

    head: Head

    def __init__(self, settings: Any, vocabulary: int):
        super().__init__()
        self.settings, self.context, self.width = settings, settings.context, settings.width
        self.vocabulary = vocabulary

    def finish(self, head: Head) -> None:
        """Put the head on, last: what is tied to the body has its name there."""
        self.head, self.labels = head, head.labels

    @property
    def limit(self) -> int | None:
        return None

    @property
    def answers(self) -> str:
        return self.head.answers

    def answer(self, tokens, at=None):
        at = at or Place.line(tokens)
        return self.head(self.embed(tokens, at), at)

    def logits(self, vectors):
        return self.head.words(vectors)


class OnWriter(Encoder):
    """A head on a system that was built to write, which sees of a text at each token what came before (O8)."""

    def __init__(self, body: System, asked: Asked):
        embedding = next(part for part in body.modules() if isinstance(part, Embedding))
        ground = Ground(embedding, body.width, last, getattr(body.settings, "dropout", 0.0))
        super().__init__(body.settings, body.vocabulary)
        self.body, self.compiles, self.whole_batches = body, body.compiles, body.whole_batches
        self.body.output = nn.Identity()  # it writes no more
        self.finish(asked.on(ground))
        if self.head.whole and parted(body):
            raise UserError(
                f"system.attention = '{self.settings.attention}' shows each token its own block alone, and the last "
                "one stands for a whole text: take 'bigbird' or 'dmca'"
            )

    @property
    def limit(self) -> int | None:
        return self.body.limit

    def embed(self, tokens: Int[Tensor, "b t"], at: Place) -> Float[Tensor, "b t w"]:
        return self.body.hidden(tokens, at=at)
