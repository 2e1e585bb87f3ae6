"""Token stores to batches. A batch is a pure function of (seed, epoch, step), so that resuming is exact.

Batches hold a budget of tokens. Pairs and labelled texts are bucketed by length; text is packed into windows, where the
document rule keeps neighbours apart: each piece of a document in a window is numbered from 0 and sees only itself.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Protocol

import numpy as np
import torch

from regard.data.batch import IGNORE, Batch, pad
from regard.data.rows import laid_out, paired, room
from regard.data.store import Store
from regard.errors import UserError
from regard.place import Place
from regard.text import Tokenizer

POOL = 50  # batches whose examples are sorted by length together
Piece = tuple[int, int, int]  # where it begins and ends in the flat text, and how many of its targets are known before


class Batcher(Protocol):
    """Shuffled batches for training, and the same data in order for evaluation."""

    def steps(self, epoch: int) -> int: ...

    def batch(self, epoch: int, step: int) -> Batch: ...

    def in_order(self) -> Iterator[Batch]: ...

    def in_all(self) -> int:
        """How many batches `in_order` gives."""


class Bucketed:
    """Examples of different lengths, those of like length together. `batch_tokens` bounds rows times the longest."""

    def __init__(self, lengths: np.ndarray, *, batch_tokens: int, seed: int):
        if not len(lengths):
            raise UserError("no example is left after dropping empty and overlong ones; see the data report")
        self.lengths, self.batch_tokens, self.seed = lengths, batch_tokens, seed
        self.plan = lru_cache(maxsize=2)(self._plan)

    def steps(self, epoch: int) -> int:
        return len(self.plan(epoch))

    def batch(self, epoch: int, step: int) -> Batch:
        return self.collate(self.plan(epoch)[step])

    def in_order(self) -> Iterator[Batch]:
        """Every example once, by `order`."""
        for rows in self._cut(self.order):
            yield self.collate(rows)

    def in_all(self) -> int:
        return len(self._cut(self.order))

    @property
    def order(self) -> np.ndarray:
        """The longest example first, so that a shortage of memory shows at once."""
        return np.argsort(-self.lengths, kind="stable")

    def collate(self, rows: np.ndarray) -> Batch:
        """The examples of these numbers side by side."""
        raise NotImplementedError

    def _plan(self, epoch: int) -> list[np.ndarray]:
        chance = np.random.default_rng([self.seed, epoch])
        order = chance.permutation(len(self.lengths))
        pool = max(1, POOL * self.batch_tokens // int(self.lengths.mean() + 1))
        batches: list[np.ndarray] = []
        for start in range(0, len(order), pool):
            part = order[start : start + pool]
            batches += self._cut(part[np.argsort(-self.lengths[part], kind="stable")])
        return [batches[i] for i in chance.permutation(len(batches))]

    def _cut(self, order: np.ndarray) -> list[np.ndarray]:
        """Examples, longest first, in batches."""
        return [order[part] for part in budgeted(self.lengths[order], self.batch_tokens)]


class Pairs(Bucketed):
    """Source and target sentences; the longer side of a pair counts, with padding."""

    def __init__(self, stores: list[Store], tokenizer: Tokenizer, *, batch_tokens: int, seed: int = 0):
        self.source, self.target = stores
        self.tokenizer = tokenizer
        lengths = np.maximum(self.source.lengths, self.target.lengths) + 1
        super().__init__(lengths, batch_tokens=batch_tokens, seed=seed)

    @property
    def sizes(self) -> np.ndarray:
        """How many targets each example has."""
        return self.target.lengths + 1

    def collate(self, rows: np.ndarray) -> Batch:
        return paired([self.source[i] for i in rows], [self.target[i] for i in rows], self.tokenizer)


class Labelled(Bucketed):
    """One text a row, or two, each followed by an end symbol; and one label for each row."""

    def __init__(self, stores: list[Store], tokenizer: Tokenizer, *, batch_tokens: int, seed: int = 0):
        *self.texts, self.label = stores
        self.tokenizer = tokenizer
        symbols = room(len(self.texts), tokenizer.habits.parted)
        lengths = np.sum([store.lengths for store in self.texts], axis=0) + symbols
        super().__init__(lengths, batch_tokens=batch_tokens, seed=seed)

    def collate(self, rows: np.ndarray) -> Batch:
        tokens, place = laid_out([[store[i] for store in self.texts] for i in rows], self.tokenizer)
        labels = torch.from_numpy(np.concatenate([self.label[i] for i in rows]))
        return Batch(tokens, labels, len(rows), place, whole=True)


class Documents(Bucketed):
    """Pieces of at most a context, one to a row, for systems that keep no two documents apart in one row.

    Nothing is packed, so nothing is predicted across the border of two documents. In every epoch each document is cut
    at other places. In order, documents are whole: a system without a limit carries its state through them.
    """

    def __init__(self, stores: list[Store], tokenizer: Tokenizer, *, batch_tokens: int, context: int, seed: int = 0):
        (self.store,) = stores
        self.tokenizer, self.context = tokenizer, context
        self.rows = max(1, batch_tokens // context)
        super().__init__(np.maximum(self.store.lengths - 1, 1), batch_tokens=batch_tokens, seed=seed)

    def batch(self, epoch: int, step: int) -> Batch:
        return self._side_by_side([self.store.flat[begin:end] for begin, end in self.plan(epoch)[step]])

    @property
    def sizes(self) -> np.ndarray:
        return self.store.lengths - 1

    def in_order(self) -> Iterator[Batch]:
        order = self.order
        for begin in range(0, len(order), self.rows):
            yield self._side_by_side([self.store[i] for i in order[begin : begin + self.rows]])

    def in_all(self) -> int:
        return -(-len(self.order) // self.rows)

    def _plan(self, epoch: int) -> list[np.ndarray]:
        """Where the pieces of each batch begin and end in the flat text."""
        chance = np.random.default_rng([self.seed, epoch])
        short = self.lengths <= self.context
        whole = np.stack([self.store.starts[short], self.store.ends[short]], axis=1)
        pieces = np.concatenate([whole, *(self._pieces(i, chance) for i in np.flatnonzero(~short).tolist())])
        order = chance.permutation(len(pieces))
        by_length = pieces[order[np.argsort(-np.diff(pieces[order])[:, 0], kind="stable")]]
        batches = [by_length[part] for part in budgeted(np.diff(by_length)[:, 0] - 1, self.batch_tokens)]
        return [batches[i] for i in chance.permutation(len(batches))]

    def _pieces(self, document: int, chance: np.random.Generator) -> np.ndarray:
        """One document cut into inputs and the token after them; neighbours share that token."""
        begin, last = self.store.starts[document], self.store.ends[document] - 1
        first = begin + chance.integers(1, self.context + 1)
        cuts = np.r_[begin, np.arange(first, last, self.context), last]
        return np.stack([cuts[:-1], cuts[1:] + 1], axis=1)

    def _side_by_side(self, rows: list[np.ndarray]) -> Batch:
        tokens = pad([ids[:-1] for ids in rows], self.tokenizer.pad)
        targets = pad([ids[1:] for ids in rows], IGNORE)
        return Batch(tokens, targets, sum(len(ids) - 1 for ids in rows), Place.line(tokens))


class Windows:
    """Text packed into windows of the context's length, cut anew at another offset in every epoch."""

    def __init__(self, stores: list[Store], tokenizer: Tokenizer, *, batch_tokens: int, context: int, seed: int = 0):
        (self.store,) = stores
        if len(self.store.flat) < 3:
            raise UserError("there is no text in it")
        self.tokenizer, self.seed = tokenizer, seed
        self.width = min(context, len(self.store.flat) - 1)
        self.rows = max(1, batch_tokens // self.width)
        self.context, self.batch_tokens = context, batch_tokens
        self.starts = self.store.starts
        self.plan = lru_cache(maxsize=2)(self._plan)

    @property
    def order(self) -> np.ndarray:
        """As `in_order` takes the documents."""
        return np.arange(len(self.store))

    @property
    def sizes(self) -> np.ndarray:
        """How many targets each document has in order."""
        return self.store.lengths - 1

    def steps(self, epoch: int) -> int:
        return max(1, len(self.plan(epoch)) // self.rows)

    def batch(self, epoch: int, step: int) -> Batch:
        return self.collate(self.plan(epoch)[step * self.rows : (step + 1) * self.rows])

    def collate(self, begins: np.ndarray) -> Batch:
        """The windows that begin at these places of the flat text."""
        at = begins[:, None] + np.arange(self.width + 1)
        ids = self.store.flat[at].astype(np.int64)
        document = np.searchsorted(self.starts, at, side="right")
        index = at - np.maximum(self.starts[document - 1], begins[:, None])
        follows = document[:, 1:] == document[:, :-1]
        targets = np.where(follows, ids[:, 1:], IGNORE)
        several = not follows.all()
        place = Place(
            torch.from_numpy(index[:, :-1].copy()),
            torch.from_numpy(document[:, :-1].copy()) if several else None,
        )
        return Batch(torch.from_numpy(ids[:, :-1].copy()), torch.from_numpy(targets), int(follows.sum()), place)

    def in_order(self, stride: int | None = None) -> Iterator[Batch]:
        """Every document in windows of its own, each token predicted once.

        With a `stride` shorter than the context windows overlap, and a token is predicted where more precedes it.
        """
        for rows in self._together(stride or self.context):
            yield self._whole([(self.store.flat[begin:end].astype(np.int64), known) for begin, end, known in rows])

    def in_all(self) -> int:
        return sum(1 for _ in self._together(self.context))

    def _together(self, stride: int) -> Iterator[list[Piece]]:
        """The pieces that share a batch in order."""
        rows: list[Piece] = []
        longest = 0
        for begin, end in zip(self.starts.tolist(), self.store.ends.tolist(), strict=True):
            for piece in windows_of(begin, end, self.context, stride):
                length = piece[1] - piece[0] - 1
                longest = max(longest, length)
                if rows and longest * (len(rows) + 1) > self.batch_tokens:
                    yield rows
                    rows, longest = [], length
                rows.append(piece)
        if rows:
            yield rows

    def _whole(self, pieces: list[tuple[np.ndarray, int]]) -> Batch:
        """Pieces with the number of targets at their beginning that were predicted before."""
        tokens = pad([ids[:-1] for ids, _ in pieces], self.tokenizer.pad)
        targets = pad([np.where(np.arange(len(ids) - 1) < known, IGNORE, ids[1:]) for ids, known in pieces], IGNORE)
        return Batch(tokens, targets, int((targets != IGNORE).sum()), Place.line(tokens))

    def _plan(self, epoch: int) -> np.ndarray:
        chance = np.random.default_rng([self.seed, epoch])
        room = len(self.store.flat) - 1
        offset = int(chance.integers(0, self.width)) if room >= 2 * self.width else 0
        begins = np.arange(offset, room - self.width + 1, self.width, dtype=np.int64)
        return chance.permutation(begins)


def budgeted(lengths: np.ndarray, most: int) -> list[slice]:
    """Consecutive examples, longest first, as many together as the budget of tokens holds."""
    parts, start = [], 0
    while start < len(lengths):
        size = max(1, most // int(lengths[start]))
        parts.append(slice(start, start + size))
        start += size
    return parts


class Pieces(Windows):
    """Windows of one document each, in training as in order: for systems with a limit that keep no two apart."""

    def __init__(self, stores: list[Store], tokenizer: Tokenizer, *, batch_tokens: int, context: int, seed: int = 0):
        super().__init__(stores, tokenizer, batch_tokens=batch_tokens, context=context, seed=seed)
        self.apart = Documents(stores, tokenizer, batch_tokens=batch_tokens, context=context, seed=seed)

    def steps(self, epoch: int) -> int:
        return self.apart.steps(epoch)

    def batch(self, epoch: int, step: int) -> Batch:
        return self.apart.batch(epoch, step)


def windows_of(begin: int, end: int, context: int, stride: int) -> Iterator[Piece]:
    """A document of the flat text cut for evaluation, each piece with at most `context` inputs."""
    done, last = begin, end - 1
    while done < last:
        stop = min(begin + context, last)
        yield begin, stop + 1, done - begin
        done, begin = stop, begin + stride
