"""What a built-in corpus is: records for each split, always the same ones."""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from zlib import crc32

from regard.data.sources import Record, Source
from regard.errors import UserError

SPLITS = ("train", "valid", "test")
TEXTS = (("text",), ("words",), ("first", "second"))  # what may be read as plain text
ANSWERED = ("text", "label")  # what a source and its answer are to a classifier


@dataclass(frozen=True)
class Corpus:
    """`make(split)` yields the records; the columns say what they are.

    Where the target `answers` the source it is its label too, and both in a row are a text. Where a record may have any
    length in `lengths`, `make(split, least, most)` yields such records.
    """

    name: str
    columns: tuple[str, ...]
    make: Callable[..., Iterator[Record]]
    answers: bool = False
    lengths: tuple[int, int] | None = None

    def of(self, length: str) -> "Corpus":
        """The same with records of another length: "32", or "4-32" for all from 4 to 32."""
        if self.lengths is None:
            raise UserError(
                f"'{self.name}:{length}': the records of '{self.name}' have one length; leave ':{length}' out"
            )
        if not (found := re.fullmatch(r"(\d+)(?:-(\d+))?", length)):
            raise UserError(f"'{self.name}:{length}' names no length; give '{self.name}:8' or '{self.name}:4-8'")
        least, most = int(found[1]), int(found[2] or found[1])
        if least > most:
            raise UserError(f"'{self.name}:{length}': the shorter length comes first: '{self.name}:{most}-{least}'")
        if not self.lengths[0] <= least <= most <= self.lengths[1]:
            raise UserError(f"'{self.name}:{length}': a length lies between {self.lengths[0]} and {self.lengths[1]}")
        return replace(self, name=f"{self.name}:{length}", make=partial(self.make, least=least, most=most))

    def source(self, split: str, columns: tuple[str, ...] = ()) -> Source:
        """The columns that are asked for, all where none are. As `text` alone a record is its own text, its words, or
        its two sentences."""
        columns = columns or self.columns
        alone = self._texts() if columns == ("text",) else ()
        if self.answers and columns == ANSWERED:
            columns = self.columns
        wanted = [self.columns.index(name) for name in alone or columns if name in self.columns]
        if len(wanted) < len(alone or columns):
            held, needed = " and ".join(self.columns), " and ".join(columns)
            raise UserError(f"'{self.name}' holds {held}; needed: {needed}")

        def read() -> Iterator[Record]:
            for record in self.make(split):
                cells = tuple(record[place] for place in wanted)
                yield (" ".join(cells),) if alone else cells

        return Source(f"{self.name} ({split})", read, sum(1 for _ in self.make(split)))

    def _texts(self) -> tuple[str, ...]:
        """The columns that are read as one text."""
        if self.answers:
            return self.columns
        return next((names for names in TEXTS if set(names) <= set(self.columns)), ())


def drawn_length(chance: random.Random, least: int, most: int) -> int:
    """As often from 2 to 4 as from 4 to 8 and from 8 to 16: short records are where learning begins."""
    return min(most, int(least * ((most + 1) / least) ** chance.random()))


def split_of(text: str) -> str:
    """One text in twenty is for validation, one in twenty for the test, whoever makes it."""
    return {0: "valid", 1: "test"}.get(crc32(text.encode()) % 20, "train")


def drawn_records(
    split: str, count: int, draw: Callable[[], Record], home: Callable[[str], str] = split_of
) -> Iterator[Record]:
    """The first `count` records of a split: each is drawn, and its first text says which split is its `home`."""
    made = 0
    while made < count:
        record = draw()
        if home(record[0]) == split:
            made += 1
            yield record
