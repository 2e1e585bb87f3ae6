"""A source and the target that goes on from it in one row (O9), for systems that read no source of their own.

<s> source </s> target </s>     the target and its end are predicted
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from regard.data.batch import IGNORE, Batch, pad
from regard.data.batching import Bucketed
from regard.data.rows import between
from regard.data.sources import Source
from regard.data.store import Counts, Store, encoded, fits, write_columns
from regard.text import Tokenizer

SYMBOLS = 2  # that are read beside the texts: the start, and the end of the source; the end of the target is not read


def write_continued(
    source: Source,
    tokenizer: Tokenizer,
    folder: Path,
    *,
    columns: tuple[str, ...],
    context: int,
    too_long: str,
) -> tuple[list[Store], Counts]:
    """One store per column. Of a row that is to be truncated the source loses its end; a target that would leave it
    nothing is dropped."""
    counts, most = Counts(targets=True), context - SYMBOLS

    def kept() -> Iterator[list[list[int]]]:
        for first, second in encoded(source, tokenizer, columns, counts):
            whole = [*first, *second] if first and second else []
            alone = too_long == "truncate" and len(second) >= most
            what, rule = f"{source.name}: a source with its target", "drop" if alone else too_long
            if fits([whole], most, counts, what, f"{most}, a start and an end", symbols=SYMBOLS, too_long=rule):
                yield [first[: most - len(second)], second]

    return write_columns(kept(), tokenizer, folder, columns=columns, counts=counts), counts


class Continued(Bucketed):
    """Rows of like length together; what is known of a row, its source, is no target."""

    def __init__(self, stores: list[Store], tokenizer: Tokenizer, *, batch_tokens: int, seed: int = 0):
        self.source, self.target = stores
        self.tokenizer = tokenizer
        lengths = self.source.lengths + self.target.lengths + SYMBOLS
        super().__init__(lengths, batch_tokens=batch_tokens, seed=seed)

    @property
    def sizes(self) -> np.ndarray:
        """How many targets each example has."""
        return self.target.lengths + 1

    def collate(self, rows: np.ndarray) -> Batch:
        start, end = self.tokenizer.start, self.tokenizer.end
        lines = [between((self.source[i], self.target[i]), start, end) for i in rows]
        wanted = [line[1:].copy() for line in lines]
        for line, known in zip(wanted, self.source.lengths[rows] + 1, strict=True):
            line[:known] = IGNORE
        tokens, targets = pad([line[:-1] for line in lines], self.tokenizer.pad), pad(wanted, IGNORE)
        return Batch(tokens, targets, int(self.sizes[rows].sum()), few=True)
