"""What a built-in corpus is: records for each split, always the same ones."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from regard.data.sources import Record, Source

SPLITS = ("train", "valid", "test")


@dataclass(frozen=True)
class Corpus:
    """`make(split)` yields the records; the columns say what they are."""

    name: str
    columns: tuple[str, ...]
    make: Callable[[str], Iterator[Record]]

    def source(self, split: str) -> Source:
        return Source(f"{self.name} ({split})", lambda: self.make(split), sum(1 for _ in self.make(split)))
