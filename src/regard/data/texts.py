"""Texts that are read whole and changed afresh in every epoch: masked, cut, paired at random (O5-O7).

An example is changed by a chance of its own, made from (seed, epoch, place in the corpus), so a batch stays a pure
function of (seed, epoch, step), and in order every example is changed the same way each time.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from regard.data.batch import Batch
from regard.data.batching import Bucketed, budgeted
from regard.data.store import Store
from regard.errors import UserError

IN_ORDER = 2**31  # the epoch of what is measured

Example = tuple[np.ndarray, ...]  # one text or several
Make = Callable[[list[Example], list[np.random.Generator]], Batch]


class Texts:
    """Documents of at most `room` tokens whole, longer ones in pieces that are cut at other places in every epoch."""

    def __init__(self, store: Store, make: Make, *, room: int, batch_tokens: int, seed: int = 0):
        self.store, self.make, self.room, self.batch_tokens, self.seed = store, make, room, batch_tokens, seed
        if room < 1:
            raise UserError("the context holds no more than the symbols of a text; raise system.context")
        self.begins, self.ends = store.starts + 1, store.ends - 1  # without the start and end symbols
        if not (self.ends - self.begins > 0).any():
            raise UserError("there is no text in it")
        self.plan = lru_cache(maxsize=2)(self._plan)

    def steps(self, epoch: int) -> int:
        return len(self.plan(epoch))

    def batch(self, epoch: int, step: int) -> Batch:
        return self._made(self.plan(epoch)[step], epoch)

    def in_order(self) -> Iterator[Batch]:
        """Every token once, the longest pieces first."""
        for rows in self._batches(self._pieces(np.zeros(len(self.begins), int))):
            yield self._made(rows, IN_ORDER)

    def in_all(self) -> int:
        return len(self._batches(self._pieces(np.zeros(len(self.begins), int))))

    def _made(self, rows: np.ndarray, epoch: int) -> Batch:
        texts: list[Example] = [(self.store.flat[begin:end].astype(np.int64),) for begin, end in rows]
        return self.make(texts, [np.random.default_rng([self.seed, epoch, begin]) for begin in rows[:, 0].tolist()])

    def _plan(self, epoch: int) -> list[np.ndarray]:
        chance = np.random.default_rng([self.seed, epoch])
        long = self.ends - self.begins > self.room
        pieces = self._pieces(np.where(long, chance.integers(0, self.room, len(long)), 0))
        batches = self._batches(pieces[chance.permutation(len(pieces))])
        return [batches[i] for i in chance.permutation(len(batches))]

    def _pieces(self, first: np.ndarray) -> np.ndarray:
        """Begin and end of every piece; `first` is how long the first one of each document is, 0 for all the room."""
        found = []
        for begin, end, size in zip(self.begins, self.ends, first, strict=True):
            cuts = np.arange(begin + size, end, self.room) if size else np.arange(begin + self.room, end, self.room)
            edges = np.r_[begin, cuts, end]
            found.append(np.stack([edges[:-1], edges[1:]], axis=1))
        pieces = np.concatenate(found)
        return pieces[pieces[:, 1] > pieces[:, 0]]

    def _batches(self, pieces: np.ndarray) -> list[np.ndarray]:
        """The longest first, as many together as the budget holds, with room for the symbols around them."""
        lengths = pieces[:, 1] - pieces[:, 0]
        order = np.argsort(-lengths, kind="stable")
        return [pieces[order[part]] for part in budgeted(lengths[order] + 2, self.batch_tokens)]


class TextPairs(Bucketed):
    """Two texts that follow each other; with probability `random` the second gives way to that of another pair.

    `make` is told by a third text, of one number, whether the second follows. So many `symbols` stand around a pair.
    """

    def __init__(
        self, stores: list[Store], make: Make, *, random: float, symbols: int, batch_tokens: int, seed: int = 0
    ):
        self.first, self.second = stores
        self.make, self.random = make, random
        super().__init__(self.first.lengths + self.second.lengths + symbols, batch_tokens=batch_tokens, seed=seed)

    def batch(self, epoch: int, step: int) -> Batch:
        return self._made(self.plan(epoch)[step], epoch)

    def collate(self, rows: np.ndarray) -> Batch:
        return self._made(rows, IN_ORDER)

    def _made(self, rows: np.ndarray, epoch: int) -> Batch:
        chances = [np.random.default_rng([self.seed, epoch, row]) for row in rows.tolist()]
        return self.make([self._pair(row, chance) for row, chance in zip(rows, chances, strict=True)], chances)

    def _pair(self, row: int, chance: np.random.Generator) -> Example:
        real, other = self.second[row], int(chance.integers(len(self.second)))
        follows = chance.random() >= self.random or bool(np.array_equal(self.second[other], real))
        return self.first[row], real if follows else self.second[other], np.array([follows])
