"""The recurrent language model (S1, S2): h_t = f(U h_{t-1} + W x_t), or an LSTM or GRU in its place."""

from dataclasses import dataclass

from torch import nn

from regard.blocks.recurrent import Locked
from regard.systems.recurrent import Recurrence, RecurrentSystem


@dataclass(frozen=True, kw_only=True)
class RnnLm(Recurrence):
    """Word vectors, layers of cells, and the word vectors again to read the next word from when `tied`.

    `locked` dropout drops the same units at every token of a row.
    """

    locked: bool = False

    def build(self, vocabulary: int) -> "RecurrentLanguageModel":
        return RecurrentLanguageModel(self, vocabulary)

    def drop(self) -> nn.Module:
        return Locked(self.dropout) if self.locked else super().drop()


class RecurrentLanguageModel(RecurrentSystem):
    def __init__(self, settings: RnnLm, vocabulary: int):
        super().__init__(settings, vocabulary)
        self.layers = settings.layers(self.width)

    def carry(self, tokens, at, state, memory, cache):
        vectors, state = self.layers(self.drop(self.embedding(tokens, at)), state, at.present)
        return self.drop(vectors), state
