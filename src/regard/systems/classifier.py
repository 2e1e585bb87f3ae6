"""What classifiers share (O3): a body that gives each token a vector, pooled over the text, and a head that names it.

A text stands between its start and end symbol, so windows see where it begins and even an empty one can be read.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from regard.blocks.embedding import Embedding
from regard.place import Place
from regard.shapes import Bool, Float, Tensor
from regard.systems.system import System
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


def ends(vectors: Float[Tensor, "b t w"], present: Bool[Tensor, "b t"] | None) -> Float[Tensor, "b w"]:
    """Where either direction has read all: of the half that reads onward the last token, of the other the first."""
    onward, backward = vectors.chunk(2, dim=-1)
    if present is None:
        return torch.cat((onward[:, -1], backward[:, 0]), dim=-1)
    rows = torch.arange(len(vectors), device=vectors.device)
    return torch.cat((onward[rows, present.sum(1) - 1], backward[:, 0]), dim=-1)


POOLS: dict[str, Pool] = {"max": largest, "mean": mean, "ends": ends}


class Head(nn.Module):
    """A pooled text to one score per label."""

    def __init__(self, width: int, labels: int, *, dropout: float):
        super().__init__()
        self.dropout, self.rows = nn.Dropout(dropout), nn.Linear(width, labels)
        self.pooled = Tap()

    def forward(self, pooled: Float[Tensor, "b w"]) -> Float[Tensor, "b labels"]:
        self.pooled(lambda: pooled)
        return self.rows(self.dropout(pooled))


class Classifier(System):
    """A text of any length to one of its labels. A system of this family gives `embed`."""

    writes_text = False
    packs = False

    def __init__(self, settings: Any, embedding: Embedding, pool: Pool, head: Head):
        super().__init__()
        self.settings, self.context, self.width = settings, settings.context, settings.width
        self.embedding, self.pool, self.head = embedding, pool, head
        self.vocabulary, self.labels = embedding.rows.num_embeddings, head.rows.out_features

    @property
    def limit(self) -> int | None:
        return None

    def classify(self, tokens, present=None):
        return self.head(self.pool(self.embed(tokens, Place.line(tokens, present)), present))
