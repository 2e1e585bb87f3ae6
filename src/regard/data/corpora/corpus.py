"""What a built-in corpus is: records for each split, always the same ones."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from regard.data.sources import Record, Source
from regard.errors import UserError

SPLITS = ("train", "valid", "test")
TEXTS = (("text",), ("words",), ("first", "second"))  # what may be read as plain text


@dataclass(frozen=True)
class Corpus:
    """`make(split)` yields the records; the columns say what they are."""

    name: str
    columns: tuple[str, ...]
    make: Callable[[str], Iterator[Record]]

    def source(self, split: str, columns: tuple[str, ...] = ()) -> Source:
        """The columns that are asked for, all where none are. As `text` alone a record is its own text, its words, or
        its two sentences."""
        columns = columns or self.columns
        alone = next((names for names in TEXTS if set(names) <= set(self.columns)), ()) if columns == ("text",) else ()
        wanted = [self.columns.index(name) for name in alone or columns if name in self.columns]
        if len(wanted) < len(alone or columns):
            held, needed = " and ".join(self.columns), " and ".join(columns)
            raise UserError(f"'{self.name}' holds {held}; needed: {needed}")

        def read() -> Iterator[Record]:
            for record in self.make(split):
                cells = tuple(record[place] for place in wanted)
                yield (" ".join(cells),) if alone else cells

        return Source(f"{self.name} ({split})", read, sum(1 for _ in self.make(split)))
