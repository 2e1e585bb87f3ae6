"""The recurrent language model (S1, S2): h_t = f(U h_{t-1} + W x_t), or an LSTM or GRU in its place.

What a cell does at each word stands in `blocks/cells.py`; layers of them are in `blocks/recurrent.py`, and what all
recurrent systems share, how a text is read and a state is kept, in `systems/recurrent.py`.
"""

from dataclasses import dataclass

from torch import nn

from regard.blocks.dropout import Locked, WordDropout
from regard.blocks.embedding import Embedding, Unembedding, word_vectors
from regard.errors import share
from regard.systems.recurrent import Recurrence, RecurrentSystem


@dataclass(frozen=True, kw_only=True)
class RnnLm(Recurrence):
    """Word vectors, layers of cells, and the word vectors again to read the next word from when `tied`.

    `locked` dropout leaves out the same units at every token of a row; `input_dropout` and `output_dropout` take the
    place of `dropout` below the first layer and above the last; `word_dropout` of the words, wherever they stand in a
    batch; `weight_dropout` of the weights from state to state. Word vectors begin with the size `word_size`: small
    ones let a rare word say little. `bias` gives each word a score of its own, whatever was read.
    """

    locked: bool = False
    input_dropout: float | None = None
    output_dropout: float | None = None
    word_dropout: float = 0.0
    weight_dropout: float = 0.0
    word_size: float = 1.0
    bias: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        share("system", self, "word_dropout", "weight_dropout")
        share("system", self, *(n for n in ("input_dropout", "output_dropout") if getattr(self, n) is not None))

    def build(self, vocabulary: int) -> "RecurrentLanguageModel":
        return RecurrentLanguageModel(self, vocabulary)

    def drop(self, p: float | None = None) -> nn.Module:
        p = self.dropout if p is None else p
        return Locked(p) if self.locked else nn.Dropout(p)

    def embedding(self, vocabulary: int) -> Embedding:
        return word_vectors(vocabulary, self.width, size=self.word_size)

    def output(self, embedding: Embedding) -> Unembedding:
        return self.unembedding(embedding, bias=self.bias)


class RecurrentLanguageModel(RecurrentSystem):
    def __init__(self, settings: RnnLm, vocabulary: int):
        super().__init__(settings, vocabulary)
        self.words = WordDropout(settings.word_dropout)
        self.drop_input, self.drop_output = (
            settings.drop(settings.input_dropout),
            settings.drop(settings.output_dropout),
        )
        self.layers = settings.layers(self.width, weight_dropout=settings.weight_dropout)

    def carry(self, tokens, at, state, memory, cache):
        words = self.words(self.embedding(tokens, at), tokens, self.vocabulary)
        vectors, state = self.layers(self.drop_input(words), state, at.present)
        return self.drop_output(vectors), state
