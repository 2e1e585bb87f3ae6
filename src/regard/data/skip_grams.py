"""Text as words, the words around them, and noise, for skip-gram (Mikolov et al., 2013).

A word w that makes up the share f(w) of the text is kept with the probability min(1, sqrt(subsample / f(w))) (their
equation 5), anew in every epoch: what is left of the frequent ones tells as much. Every word kept is a centre, and its
neighbours are the kept words at most so many places away, a number drawn for each centre from 1 to `window`: what is
near is a neighbour more often. Noise is drawn with probabilities in proportion to f(w)^0.75.

Special symbols, line ends, and unknown words, which are many words under one name, are no words here. Neighbours stand
in one document; a long text is read in stretches whose borders lie elsewhere in every epoch.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import torch

from regard.data.batch import IGNORE, Batch
from regard.data.store import Store
from regard.errors import UserError
from regard.place import Place
from regard.shapes import Tensor
from regard.text import Tokenizer

STRETCH = 1024  # tokens read in a row before the text is taken up elsewhere
AT_ONCE = 2**24  # tokens counted together


@dataclass(frozen=True)
class Drawing:
    """What is left to chance: `noise` is how many words are drawn for each row of centres, which share them."""

    window: int
    noise: int
    subsample: float


class SkipGrams:
    """Rows of kept words, one after another as they stand in the text; `batch_tokens` are counted before any is left
    out, so a batch is so much of the text.

    A batch has one score for each centre and each word of its row, made by one product of matrices, rather than a list
    of pairs, in which a word's vectors would be fetched and changed again for each of its pairs. So the rows are
    `tokens`, how far each centre reaches is its target, documents in a row are kept apart by its places, and `source`
    has the row's noise. `context` is the most that a row holds.
    """

    def __init__(
        self,
        stores: list[Store],
        tokenizer: Tokenizer,
        drawing: Drawing,
        *,
        context: int,
        batch_tokens: int,
        seed: int = 0,
    ):
        (self.store,) = stores
        self.tokenizer, self.drawing, self.context, self.seed = tokenizer, drawing, context, seed
        counts = occurrences(self.store, tokenizer)
        if counts.sum() < 2:
            raise UserError("there are no two known words in it")
        shares = counts / counts.sum()
        with np.errstate(divide="ignore"):
            chances = np.sqrt(drawing.subsample / shares) if drawing.subsample else np.ones(len(shares))
        self.kept = np.where(counts > 0, chances, 0.0).astype(np.float32)
        heaped = np.cumsum(shares**0.75)
        self.heaped = heaped / heaped[-1]  # a sum in another order may be larger, and what lies above is no word
        self.batch_tokens, self.stretch = batch_tokens, min(STRETCH, batch_tokens)
        self.plan = lru_cache(maxsize=2)(self._plan)

    def steps(self, epoch: int) -> int:
        return len(self.plan(epoch))

    def batch(self, epoch: int, step: int) -> Batch:
        return self.drawn(self.plan(epoch)[step], np.random.default_rng([self.seed, epoch, step + 1]))

    def in_order(self) -> Iterator[Batch]:
        """All of the text once; what is left to chance is drawn alike each time."""
        for step, begin in enumerate(range(0, len(self.store.flat), self.batch_tokens)):
            part = np.array([[begin, min(begin + self.batch_tokens, len(self.store.flat))]])
            yield self.drawn(part, np.random.default_rng([self.seed, 0, step + 1]))

    def in_all(self) -> int:
        return -(-len(self.store.flat) // self.batch_tokens)

    def drawn(self, stretches: np.ndarray, chance: np.random.Generator) -> Batch:
        """The words that are kept of these stretches of the text, each with its reach, and their noise."""
        pieces = [self.store.flat[begin:end] for begin, end in stretches]
        ids = np.concatenate(pieces)
        begins = ids == self.tokenizer.start
        begins[np.cumsum([len(piece) for piece in pieces[:-1]], dtype=int)] = True
        kept = np.flatnonzero(chance.random(len(ids), dtype=np.float32) < self.kept[ids])
        reach = chance.integers(1, self.drawing.window + 1, len(kept))
        rows = -(-len(kept) // self.context) or 1  # chance may leave nothing
        tokens = in_rows(ids[kept], rows, self.tokenizer.pad)
        noise = np.searchsorted(self.heaped, chance.random((rows, self.drawing.noise)), side="right")
        return Batch(
            tokens,
            in_rows(reach, rows, IGNORE),
            max(1, len(kept)),
            replace(Place.line(tokens), document=in_rows(np.cumsum(begins)[kept], rows, -1)),
            source=torch.from_numpy(noise),
        )

    def _plan(self, epoch: int) -> list[np.ndarray]:
        """Where the stretches of each batch begin and end in the flat text; batches have about as many of them."""
        chance, end = np.random.default_rng([self.seed, epoch]), len(self.store.flat)
        cuts = np.r_[0, np.arange(chance.integers(1, self.stretch + 1), end, self.stretch), end]
        stretches = chance.permutation(np.stack([cuts[:-1], cuts[1:]], axis=1))
        return np.array_split(stretches, -(-len(stretches) // (self.batch_tokens // self.stretch)))


def occurrences(store: Store, tokenizer: Tokenizer) -> np.ndarray:
    """How often each word stands in the text; 0 of what is no word."""
    counts = np.zeros(len(tokenizer), np.int64)
    for begin in range(0, len(store.flat), AT_ONCE):
        counts += np.bincount(store.flat[begin : begin + AT_ONCE], minlength=len(counts))
    return np.where(are_words(tokenizer), counts, 0)


def are_words(tokenizer: Tokenizer) -> np.ndarray:
    """Of each token of the vocabulary whether it is a word, or a piece of one, that may have neighbours."""
    special = {tokenizer.pad, tokenizer.unknown, tokenizer.start, tokenizer.end}
    return np.array([i not in special and bool(tokenizer.decode([i]).strip()) for i in range(len(tokenizer))])


def in_rows(values: np.ndarray, rows: int, filler: int) -> Tensor:
    """One after another in rows of like length, the last one filled up."""
    table = np.full(rows * max(1, -(-len(values) // rows)), filler, np.int64)
    table[: len(values)] = values
    return torch.from_numpy(table.reshape(rows, -1))
