"""word2vec (S14; Mikolov et al., 2013): one vector for each word, whatever stands around it.

Each word w has two vectors: v_w, which is used, and u_w, by which it is met as a neighbour. Training with objective
`skip-gram` makes u_o . v_c large where o is found near c. What contextual vectors replace: "bank" has one vector, be it
a river's or a lender's.
"""

from dataclasses import dataclass

from torch import nn

from regard.errors import at_least
from regard.place import Place
from regard.shapes import Float, Int, Tensor
from regard.systems.system import System
from regard.tap import Tap


@dataclass(frozen=True, kw_only=True)
class Word2Vec:
    """Vectors of `width` numbers. Text is read in rows of at most `context` words; neighbours stand in one row."""

    width: int = 100
    context: int = 64

    def __post_init__(self) -> None:
        at_least(1, "system", self, "width")
        at_least(2, "system", self, "context")

    def build(self, vocabulary: int) -> "WordVectors":
        return WordVectors(self, vocabulary)


class WordVectors(System):
    """Two tables. `words` begin small and `contexts` at 0, so at first every pair is as likely as not.

    Tap: `vectors`, what `embed` gives.
    """

    writes_text = False
    packs = False
    compiles = False  # hardly two batches have the same shape

    def __init__(self, settings: Word2Vec, vocabulary: int):
        super().__init__()
        self.settings, self.context = settings, settings.context
        self.width, self.vocabulary = settings.width, vocabulary
        self.words, self.contexts = (nn.Embedding(vocabulary, settings.width) for _ in range(2))
        nn.init.uniform_(self.words.weight, -0.5 / settings.width, 0.5 / settings.width)
        nn.init.zeros_(self.contexts.weight)
        self.vectors = Tap()

    @property
    def limit(self) -> int | None:
        return None

    @property
    def answers(self) -> str:
        return "vectors"

    def embed(self, tokens: Int[Tensor, "b t"], at: Place | None = None) -> Float[Tensor, "b t w"]:
        """The vector of each token; what stands around it, and where, is not asked."""
        vectors = self.words(tokens)
        self.vectors(lambda: vectors)
        return vectors

    def answer(self, tokens: Int[Tensor, "b t"], at: Place | None = None) -> Float[Tensor, "b t w"]:
        return self.embed(tokens, at)

    def meet(self, centres: Int[Tensor, "b c"], others: Int[Tensor, "b o"]) -> Float[Tensor, "b c o"]:
        """u_o . v_c of each centre and each other word of its row: the log-odds that the two were found together."""
        return self.embed(centres) @ self.contexts(others).transpose(1, 2)
