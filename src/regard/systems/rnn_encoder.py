"""A text read both ways by recurrent cells, each token in the light of all others (O3, O4, S2)."""

from dataclasses import dataclass

from torch import nn

from regard.blocks.recurrent import Bidirectional
from regard.errors import one_of
from regard.systems.encoder import Encoder, Encoding
from regard.systems.heads import POOLS, Asked, Ground
from regard.systems.recurrent import Cells


@dataclass(frozen=True, kw_only=True)
class RnnEncoder(Cells, Encoding):
    """Layers that read both ways (Schuster and Paliwal, 1997).

    `pool` is what stands for a whole text: "ends" (the state that either direction ends in), "mean" or "max" over the
    tokens.
    """

    pool: str = "ends"

    def build(self, vocabulary: int, asked: Asked = Asked()) -> "RecurrentEncoder":
        one_of("system.pool", self.pool, POOLS)
        return RecurrentEncoder(self, vocabulary, asked)


class RecurrentEncoder(Encoder):
    compiles = False  # loops over tokens would be unrolled anew for each length

    def __init__(self, settings: RnnEncoder, vocabulary: int, asked: Asked):
        super().__init__(settings, vocabulary)
        width = settings.width
        self.embedding = settings.embedding(vocabulary)
        self.layers = nn.ModuleList([Bidirectional(settings.cell, width, width) for _ in range(settings.depth)])
        self.drop = settings.drop()
        self.finish(asked.on(Ground(self.embedding, width, POOLS[settings.pool], settings.dropout)))

    def embed(self, tokens, at):
        x = self.embedding(tokens, at)
        for layer in self.layers:
            x, _ = layer(self.drop(x), at.present)
        return x
