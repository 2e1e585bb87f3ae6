"""Token files: what goes in comes out, memory-mapped, in two bytes where they suffice, and what is lost is counted."""

import errno
from pathlib import Path

import numpy as np
import pytest

from regard.data.sources import Record, Source
from regard.data.store import Store, Writer, write_documents, write_pairs
from regard.errors import WorldError
from regard.text import Text, Tokenizer
from tests.helpers import refused


def source(records: list[Record], *, joined: bool = False) -> Source:
    return Source("test", lambda: iter(records), len(records), joined)


def letters() -> Tokenizer:
    return Tokenizer.train(["abcdefgh "], Text(kind="char"))


def pairs(records: list[Record], folder: Path, *, context: int = 7, too_long: str = "drop"):
    return write_pairs(
        source(records), letters(), folder, columns=("source", "target"), context=context, too_long=too_long
    )


@pytest.mark.parametrize(("vocabulary", "dtype", "largest"), [(2**16, np.uint16, 65535), (2**16 + 1, np.uint32, 65536)])
def test_ids_take_two_bytes_where_they_suffice(tmp_path: Path, vocabulary: int, dtype: type, largest: int) -> None:
    writer = Writer(tmp_path / "a", vocabulary)
    for ids in ([largest, 3], [5], [7, 0, 11]):
        writer.add(ids)
    store = writer.close()
    assert isinstance(store.flat.base, np.memmap)
    assert store.flat.dtype == dtype
    assert store.flat.tolist() == [largest, 3, 5, 7, 0, 11]
    assert [store[i].tolist() for i in range(len(store))] == [[largest, 3], [5], [7, 0, 11]]
    assert store.lengths.tolist() == [2, 1, 3]
    assert store.starts.tolist() == [0, 2, 3]
    assert Store(tmp_path / "a").ends.tolist() == [2, 3, 6]


def test_an_empty_store_can_be_opened(tmp_path: Path) -> None:
    store = Writer(tmp_path / "a", 9).close()
    assert len(store) == len(store.flat) == 0


def test_pairs_are_counted_on_their_way(tmp_path: Path) -> None:
    records = [("ab", "cd"), ("a", ""), ("abcdefg", "a"), ("ab", "cd"), ("ax", "y"), (" ", " "), ("abcdef", "b")]
    stores, counts = pairs(records, tmp_path)
    kept = [("ab", "cd"), ("ab", "cd"), ("ax", "y"), (" ", " "), ("abcdef", "b")]
    assert [len(store) for store in stores] == [len(kept)] * 2
    tokenizer = letters()
    for i, texts in enumerate(kept):
        for store, text in zip(stores, texts, strict=True):
            assert store[i].tolist() == tokenizer.encode(text)
    assert counts.summary() == {
        "records": 7,
        "kept": 5,
        "empty": 1,
        "dropped": 1,
        "truncated": 0,
        "tokens": 2 + 2 + 1 + 1 + 1 + 5,  # the predicted side, an end with each
        "unknown": 2,
        "longest": 8,
        "targets": True,
        "sides": True,
        "duplicated": 1,
    }


def test_a_long_pair_is_truncated_or_stops_where_asked(tmp_path: Path) -> None:
    records = [("abcdefgh", "ab"), ("a", "b")]
    stores, counts = pairs(records, tmp_path, too_long="truncate")
    assert [store.lengths.tolist() for store in stores] == [[6, 1], [2, 1]], "6 and an end fill a context of 7"
    assert (counts.truncated, counts.dropped, counts.kept) == (1, 0, 2)
    with refused("test: an example has 8 tokens and the context holds 6 and an end"):
        pairs(records, tmp_path, too_long="stop")


def test_each_document_stands_between_a_start_and_an_end(tmp_path: Path) -> None:
    tokenizer = letters()
    (store,), counts = write_documents(source([("ab",), ("",), ("cde",)]), tokenizer, tmp_path)
    a, b, c, d, e = (tokenizer.encode(letter)[0] for letter in "abcde")
    start, end = tokenizer.start, tokenizer.end
    assert [store[i].tolist() for i in range(2)] == [[start, a, b, end], [start, c, d, e, end]]
    assert (counts.kept, counts.empty, counts.tokens, counts.longest) == (2, 1, 9, 5)


def test_joined_records_are_one_document(tmp_path: Path) -> None:
    tokenizer = letters()
    (store,), counts = write_documents(source([("ab",), ("",), ("c",)], joined=True), tokenizer, tmp_path)
    assert len(store) == 1
    assert store[0].tolist() == [tokenizer.start, *tokenizer.encode("abc"), tokenizer.end]
    assert counts.tokens == 5


def test_more_records_than_are_encoded_together_keep_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.data.store.AT_ONCE", 3)
    records = [("abcdefgh"[i % 8] * (1 + i % 3), "a") for i in range(11)]
    stores, counts = pairs(records, tmp_path)
    assert counts.records == 11
    assert [letters().decode(stores[0][i].tolist()) for i in range(11)] == [text for text, _ in records]


@pytest.mark.parametrize("when", ["open", "write", "close"])
def test_a_full_disk_is_a_failure_of_the_world(tmp_path: Path, when: str) -> None:
    def full(*_) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if when == "open":
        (tmp_path / "file").touch()
        with refused(f"cannot write {tmp_path / 'file' / 'a'}", WorldError):
            Writer(tmp_path / "file" / "a", 9)
        return
    writer = Writer(tmp_path / "a", 9)
    real = writer.file

    class Full:
        write = close = full

    writer.file = Full()
    with refused("No space left on device", WorldError):
        writer.add([5]) if when == "write" else writer.close()
    real.close()
