"""A text read both ways by recurrent cells, and named (O3, S2)."""

from dataclasses import dataclass

from torch import nn

from regard.blocks.recurrent import Bidirectional
from regard.errors import one_of
from regard.systems.classifier import POOLS, Classifier, Head
from regard.systems.recurrent import Cells
from regard.systems.system import Labelling


@dataclass(frozen=True, kw_only=True)
class RnnClassifier(Cells, Labelling):
    """Layers that read both ways (Schuster and Paliwal, 1997), pooled over the text.

    `pool` is "ends" (the state that either direction ends in), "mean" or "max" over the tokens.
    """

    pool: str = "ends"

    def build(self, vocabulary: int, labels: int) -> "RecurrentClassifier":
        one_of("system.pool", self.pool, POOLS)
        return RecurrentClassifier(self, vocabulary, labels)


class RecurrentClassifier(Classifier):
    compiles = False  # loops over tokens would be unrolled anew for each length

    def __init__(self, settings: RnnClassifier, vocabulary: int, labels: int):
        width = settings.width
        head = Head(width, labels, dropout=settings.dropout)
        super().__init__(settings, settings.embedding(vocabulary), POOLS[settings.pool], head)
        self.layers = nn.ModuleList([Bidirectional(settings.cell, width, width) for _ in range(settings.depth)])
        self.drop = settings.drop()

    def embed(self, tokens, at):
        x = self.embedding(tokens, at)
        for layer in self.layers:
            x, _ = layer(self.drop(x), at.present)
        return x
