"""The recurrent language model (S1, S2): h_t = f(U h_{t-1} + W x_t), or an LSTM or GRU in its place."""

from dataclasses import dataclass

from torch import nn

from regard.blocks.dropout import Locked, WordDropout
from regard.errors import share
from regard.systems.recurrent import Recurrence, RecurrentSystem


@dataclass(frozen=True, kw_only=True)
class RnnLm(Recurrence):
    """Word vectors, layers of cells, and the word vectors again to read the next word from when `tied`.

    `locked` dropout leaves out the same units at every token of a row; `word_dropout` of the words, wherever they stand
    in a batch; `weight_dropout` of the weights from state to state.
    """

    locked: bool = False
    word_dropout: float = 0.0
    weight_dropout: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        share("system", self, "word_dropout", "weight_dropout")

    def build(self, vocabulary: int) -> "RecurrentLanguageModel":
        return RecurrentLanguageModel(self, vocabulary)

    def drop(self) -> nn.Module:
        return Locked(self.dropout) if self.locked else super().drop()


class RecurrentLanguageModel(RecurrentSystem):
    def __init__(self, settings: RnnLm, vocabulary: int):
        super().__init__(settings, vocabulary)
        self.words = WordDropout(settings.word_dropout)
        self.layers = settings.layers(self.width, weight_dropout=settings.weight_dropout)

    def carry(self, tokens, at, state, memory, cache):
        words = self.words(self.embedding(tokens, at), tokens, self.vocabulary)
        vectors, state = self.layers(self.drop(words), state, at.present)
        return self.drop(vectors), state
