"""Words and the word that each hangs on (B7): from records to token files, and from these to batches.

Beside the tokens of a sentence stands its tree, spread over them: the depth of each token, then what it enters, then
what it leaves.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from regard.data.batch import Batch
from regard.data.batching import Bucketed
from regard.data.given import hung
from regard.data.sentences import write_sentences
from regard.data.sources import Source
from regard.data.store import Counts, Store
from regard.data.texts import IN_ORDER, Make
from regard.data.trees import planted, spread
from regard.shapes import Int
from regard.text import Tokenizer
from regard.text.words import Spelt

MOST = 2**16  # words of a sentence


def sentences(source: Source) -> Iterator[tuple[list[str], Int[np.ndarray, "3 words"]]]:
    """The words of each record and their tree."""
    return (hung(record, f"{source.name}: record {number}") for number, record in enumerate(source, 1))


def write_parsed(source: Source, tokenizer: Tokenizer, folder: Path, **how: Any) -> tuple[list[Store], Counts]:
    """A store of tokens and one of trees."""

    def tree(spelt: Spelt, given: Int[np.ndarray, "3 words"], most: int) -> list[int]:
        return spread(given, spelt)[:, :most].ravel().tolist()

    return write_sentences(sentences(source), tokenizer, folder, name=source.name, beside=tree, values=MOST, **how)


class Parsed(Bucketed):
    """Sentences that are changed afresh in every epoch, with their trees."""

    def __init__(self, stores: list[Store], make: Make, *, batch_tokens: int, seed: int = 0):
        (self.text, self.trees), self.make = stores, make
        super().__init__(self.text.lengths + 2, batch_tokens=batch_tokens, seed=seed)

    def batch(self, epoch: int, step: int) -> Batch:
        return self._made(self.plan(epoch)[step], epoch)

    def collate(self, rows: np.ndarray) -> Batch:
        return self._made(rows, IN_ORDER)

    def tree(self, row: int) -> Int[np.ndarray, "3 tokens"]:
        return self.trees[row].reshape(3, -1)

    def _made(self, rows: np.ndarray, epoch: int) -> Batch:
        chances = [np.random.default_rng([self.seed, epoch, row]) for row in rows.tolist()]
        batch = self.make([(self.text[row],) for row in rows], chances)
        assert batch.at is not None
        return replace(batch, at=planted(batch.at, [self.tree(row) for row in rows]))
