"""What stands on a body and answers (O3-O6, O10): a word, a tag, a label, or the vectors as they are.

A head is built for the task at hand; the body under it may have been trained for another. Only the pool of a text is
carried from one head to the next, for it is trained in pre-training too.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import gelu, relu

from regard.blocks.embedding import Embedding, Unembedding
from regard.blocks.feedforward import gelu_tanh
from regard.errors import UserError, one_of
from regard.place import Place
from regard.shapes import Bool, Float, Tensor
from regard.tap import Tap

Pool = Callable[[Float[Tensor, "b t w"], Bool[Tensor, "b t"] | None], Float[Tensor, "b w"]]


def largest(vectors: Float[Tensor, "b t w"], present: Bool[Tensor, "b t"] | None) -> Float[Tensor, "b w"]:
    """Of every feature the largest value over time."""
    if present is not None:
        vectors = vectors.masked_fill(~present[..., None], float("-inf"))
    return vectors.amax(1)


def mean(vectors: Float[Tensor, "b t w"], present: Bool[Tensor, "b t"] | None) -> Float[Tensor, "b w"]:
    if present is None:
        return vectors.mean(1)
    return vectors.masked_fill(~present[..., None], 0.0).sum(1) / present.sum(1, keepdim=True)


def last(vectors: Float[Tensor, "b t w"], present: Bool[Tensor, "b t"] | None) -> Float[Tensor, "b w"]:
    """Where a text that is read onward has been read to its end."""
    if present is None:
        return vectors[:, -1]
    return vectors[torch.arange(vectors.shape[0], device=vectors.device), present.sum(1) - 1]


def ends(vectors: Float[Tensor, "b t w"], present: Bool[Tensor, "b t"] | None) -> Float[Tensor, "b w"]:
    """Where either direction has read all: of the half that reads onward the last token, of the other the first."""
    onward, backward = vectors.chunk(2, dim=-1)
    return torch.cat((last(onward, present), backward[:, 0]), dim=-1)


POOLS: dict[str, Pool] = {"max": largest, "mean": mean, "ends": ends}


Activation = Callable[[Tensor], Tensor]
ACTIVATIONS: dict[str, Activation] = {"relu": relu, "gelu": gelu, "gelu-tanh": gelu_tanh}  # as of a feed-forward layer


class First(nn.Module):
    """f(W x) of the start symbol's vector x: with tanh BERT's pool."""

    def __init__(self, width: int, activation: Activation = torch.tanh):
        super().__init__()
        self.dense, self.activation = nn.Linear(width, width), activation

    def forward(self, vectors: Float[Tensor, "b t w"], present: Bool[Tensor, "b t"] | None) -> Float[Tensor, "b w"]:
        return self.activation(self.dense(vectors[:, 0]))


@dataclass(frozen=True)
class Ground:
    """What a head stands on: vectors so wide, the word vectors they were made from, and how a text is pooled.

    `activation` is that of the layer which a head for words has before the word vectors.
    """

    embedding: Embedding
    width: int
    pool: Pool
    dropout: float
    epsilon: float = 1e-5
    activation: Activation = gelu


class Head(nn.Module):
    """Vectors of a text to an answer. `labels` is how many answers there are, where they are labels or tags.

    A head that `judges` two texts offers `follows`, one that answers "words" also `words`, of any vectors. One that
    looks at the `whole` text asks its pool.
    """

    answers = "vectors"
    labels = 0
    judges = False
    whole = False

    def forward(self, vectors: Float[Tensor, "b t w"], at: Place) -> Tensor:
        return vectors

    def words(self, vectors: Float[Tensor, "... w"]) -> Float[Tensor, "... v"]:
        raise UserError(f"this model says {self.answers} of a text, and no words")

    def follows(self, vectors: Float[Tensor, "b t w"], at: Place) -> Float[Tensor, "b 2"]:
        raise UserError("this model does not judge whether one text follows another")


class Pooled(Head):
    """The vectors as they are, and beside them the pool that a head for whole texts would take over."""

    def __init__(self, ground: Ground):
        super().__init__()
        self.pool = ground.pool


class Words(Head):
    """One score per word at each token: a layer, a norm and the word vectors again (Devlin et al., 2019)."""

    answers = "words"

    def __init__(self, ground: Ground):
        super().__init__()
        vocabulary, width = ground.embedding.rows.weight.shape
        self.dense, self.activation = nn.Linear(ground.width, width), ground.activation
        self.norm = nn.LayerNorm(width, eps=ground.epsilon)
        self.output = Unembedding(vocabulary, width, tied=ground.embedding.rows)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def words(self, vectors: Float[Tensor, "... w"]) -> Float[Tensor, "... v"]:
        return self.output(self.norm(self.activation(self.dense(vectors)))) + self.bias

    def forward(self, vectors, at):
        return self.words(vectors)


class WordsAndNext(Words):
    """Words, and whether the second of two texts follows the first: scores of "no" and "yes"."""

    judges = True
    whole = True

    def __init__(self, ground: Ground):
        super().__init__(ground)
        self.pool, self.next = ground.pool, nn.Linear(ground.width, 2)

    def follows(self, vectors: Float[Tensor, "b t w"], at: Place) -> Float[Tensor, "b 2"]:
        return self.next(self.pool(vectors, at.present))


class Labels(Head):
    """One score per label for a text, from its pooled vectors."""

    answers = "labels"
    whole = True

    def __init__(self, ground: Ground, labels: int):
        super().__init__()
        self.pool, self.dropout, self.rows = ground.pool, nn.Dropout(ground.dropout), nn.Linear(ground.width, labels)
        self.labels, self.pooled = labels, Tap()

    def forward(self, vectors, at):
        pooled = self.pool(vectors, at.present)
        self.pooled(lambda: pooled)
        return self.rows(self.dropout(pooled))


class Tags(Head):
    """One score per tag at each token."""

    answers = "tags"

    def __init__(self, ground: Ground, labels: int):
        super().__init__()
        self.dropout, self.rows, self.labels = nn.Dropout(ground.dropout), nn.Linear(ground.width, labels), labels

    def forward(self, vectors, at):
        return self.rows(self.dropout(vectors))


@dataclass(frozen=True)
class Asked:
    """The head that a task asks for: "own" is what a system has by itself, the word it predicts."""

    head: str = "own"
    labels: int = 0

    def __post_init__(self) -> None:
        one_of("head", self.head, HEADS)

    def on(self, ground: Ground) -> Head:
        return HEADS[self.head](ground, self.labels)


HEADS: dict[str, Callable[[Ground, int], Head]] = {
    "own": lambda ground, labels: Words(ground),
    "next": lambda ground, labels: WordsAndNext(ground),
    "labels": Labels,
    "tags": Tags,
    "vectors": lambda ground, labels: Head(),
    "pooled": lambda ground, labels: Pooled(ground),
}
