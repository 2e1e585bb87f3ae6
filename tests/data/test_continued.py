"""Rows of a source and its target against a loop: what is read, what is asked, what is cut where room ends."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.data import IGNORE
from regard.data.continued import Continued, write_continued
from regard.data.sources import Record, Source
from regard.text import Text, Tokenizer
from tests.helpers import refused

LETTERS = Tokenizer.train(["abcdefgh"], Text(kind="char"))
RECORDS: list[Record] = [("abc", "de"), ("a", "fgh"), ("hgfed", "c"), ("ab", "ba")]


def stored(records: list[Record], folder: Path, *, context: int = 11, too_long: str = "drop") -> tuple[list, Any]:
    source = Source("test", lambda: iter(records), len(records))
    columns = ("source", "target")
    return write_continued(source, LETTERS, folder, columns=columns, context=context, too_long=too_long)


def texts(stores: list) -> list[Record]:
    """What is in the stores."""
    return [tuple(LETTERS.decode(store[i].tolist()) for store in stores) for i in range(len(stores[0]))]


def slow_row(source: str, target: str) -> tuple[list[int], list[int]]:
    """What is read, and what is asked after each token of it, one step at a time."""
    start, end = LETTERS.start, LETTERS.end
    read, asked = [], []
    row = [start, *LETTERS.encode(source), end, *LETTERS.encode(target), end]
    for place in range(len(row) - 1):
        read.append(row[place])
        asked.append(row[place + 1] if place > len(source) else IGNORE)
    return read, asked


def test_a_batch_is_what_a_loop_makes_of_its_records(tmp_path: Path) -> None:
    stores, _ = stored(RECORDS, tmp_path)
    batch = Continued(stores, LETTERS, batch_tokens=100).collate(np.array([0, 2, 1]))
    assert batch.tokens.shape == batch.targets.shape == (3, 8)
    for i, record in enumerate([RECORDS[0], RECORDS[2], RECORDS[1]]):
        read, asked = slow_row(*record)
        rest = 8 - len(read)
        assert batch.tokens[i].tolist() == read + [LETTERS.pad] * rest
        assert batch.targets[i].tolist() == asked + [IGNORE] * rest
    assert batch.count == int((batch.targets != IGNORE).sum()) == 3 + 2 + 4
    present = batch.places().present
    assert present is not None and present.sum(1).tolist() == batch.lengths == [7, 8, 6]


def test_rows_of_like_length_go_together_within_the_budget(tmp_path: Path) -> None:
    stores, _ = stored(RECORDS * 5, tmp_path)
    batches = Continued(stores, LETTERS, batch_tokens=17)
    made = [batches.batch(0, step) for step in range(batches.steps(0))]
    assert all(batch.tokens.numel() <= 17 for batch in made)
    assert sum(map(len, made)) == 20
    assert sum(batch.count for batch in made) == int(batches.sizes.sum()) == 5 * (3 + 4 + 2 + 3)
    in_order = torch.cat([batch.targets[batch.targets != IGNORE] for batch in batches.in_order()])
    assert len(in_order) == batches.sizes.sum()


def test_what_has_no_room_is_dropped_or_its_source_loses_its_end(tmp_path: Path) -> None:
    """A context of 7 has room for 5 letters beside the start and the end of the source."""
    records = [("abc", "de"), ("abcd", "ef"), ("", "a"), ("a", ""), ("a", "bcdef"), ("abcdefgh", "a"), ("ab", "cdef")]
    stores, counts = stored(records, tmp_path / "drop", context=7)
    assert texts(stores) == [("abc", "de")]
    assert (counts.records, counts.kept, counts.empty, counts.dropped, counts.truncated) == (7, 1, 2, 4, 0)
    assert counts.tokens == 3 and counts.longest == 11, "with a start and an end"

    stores, counts = stored(records, tmp_path / "cut", context=7, too_long="truncate")
    assert texts(stores) == [("abc", "de"), ("abc", "ef"), ("abcd", "a"), ("a", "cdef")]
    assert (counts.kept, counts.empty, counts.dropped, counts.truncated) == (4, 2, 1, 3)
    batch = Continued(stores, LETTERS, batch_tokens=100).collate(np.arange(4))
    assert batch.tokens.shape[1] == 7, "the end of the target is not read"


def test_what_has_no_room_may_stop(tmp_path: Path) -> None:
    with refused("test: a source with its target has 6 tokens and the context holds 5, a start and an end"):
        stored([("abc", "de"), ("abcd", "ef")], tmp_path, context=7, too_long="stop")


@pytest.mark.parametrize("context", [4, 11])
def test_all_that_is_kept_fits_the_context(tmp_path: Path, context: int) -> None:
    stores, _ = stored(
        [("abcdefgh"[:n], "hgfedcba"[:m]) for n in range(9) for m in range(9)], tmp_path, context=context
    )
    made = Continued(stores, LETTERS, batch_tokens=100)
    widths = [made.collate(np.array([i])).tokens.shape[1] for i in range(len(stores[0]))]
    assert max(widths) == context and len(widths) > 0
