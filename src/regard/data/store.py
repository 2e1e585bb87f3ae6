"""Token files: ids in a row, memory-mapped, and where each sequence ends. A corpus may be larger than RAM."""

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np

from regard.data.rows import room, shortened
from regard.data.sources import Record, Source
from regard.errors import UserError, suggest, writing
from regard.text import Tokenizer

SELDOM = ("most", "targets", "sides")  # of counts: told where they hold
AT_ONCE = 1_000_000  # characters encoded together: what is held does not grow with the corpus


class Store:
    """Sequences of token ids: `store[i]` is one, `lengths` all their lengths, `flat` all ids in a row."""

    def __init__(self, path: Path):
        width = np.uint16 if path.with_suffix(".u16").exists() else np.uint32
        file = path.with_suffix(".u16" if width is np.uint16 else ".u32")
        try:
            ends = np.load(path.with_suffix(".ends.npy"), mmap_mode="r")
            flat = np.memmap(file, dtype=width, mode="r") if file.stat().st_size else np.zeros(0, width)
        except (FileNotFoundError, EOFError, ValueError) as error:
            raise UserError(f"the tokens in {path.parent} are damaged: {error}") from None
        self.ends, self.flat = np.asarray(ends), np.asarray(flat)  # a slice of a memmap takes four times as long
        if len(self.flat) != (int(self.ends[-1]) if len(self.ends) else 0):
            raise UserError(f"the tokens in {path.parent} are damaged: {file.name} does not end where its texts do")

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def starts(self) -> np.ndarray:
        return np.concatenate(([0], self.ends[:-1]))

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.ends, prepend=0)

    def __getitem__(self, i: int) -> np.ndarray:
        start = self.ends[i - 1] if i else 0
        return self.flat[start : self.ends[i]].astype(np.int64)


@dataclass
class Counts:
    """What happened to the records of one split on their way to tokens.

    `tokens` are those of what was kept, where `targets` of the targets alone. `longest` is that of all records, or
    where `sides` of their texts one by one. Both count the symbols around a text, and so does `most`, what a text may
    have where that is not the context: one of two that share a row has half of it.
    """

    records: int = 0
    kept: int = 0
    empty: int = 0
    dropped: int = 0
    truncated: int = 0
    tokens: int = 0
    unknown: int = 0
    longest: int = 0
    most: int = 0
    targets: bool = False
    sides: bool = False
    hashes: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint64))

    @property
    def duplicated(self) -> int:
        """Records that had been there before."""
        return len(self.hashes) - len(np.unique(self.hashes))

    def summary(self) -> dict[str, int]:
        told = {name: value for name, value in vars(self).items() if name != "hashes" and (value or name not in SELDOM)}
        return told | {"duplicated": self.duplicated}


class Writer:
    """Appends sequences to a store; `close` makes it readable."""

    def __init__(self, path: Path, vocabulary: int):
        small = vocabulary <= 2**16
        self.path, self.dtype = path, np.uint16 if small else np.uint32
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self.file = path.with_suffix(".u16" if small else ".u32").open("wb")
        self.ends = array("q")
        self.total = 0

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *error) -> None:
        self.file.close()

    def add(self, ids: list[int], *, ends: bool = True) -> None:
        with writing(self.path):
            self.file.write(np.asarray(ids, self.dtype).tobytes())
        self.total += len(ids)
        if ends:
            self.ends.append(self.total)

    def close(self) -> Store:
        with writing(self.path):
            self.file.close()
            np.save(self.path.with_suffix(".ends.npy"), np.asarray(self.ends, np.int64))
        return Store(self.path)


def write_pairs(
    source: Source,
    tokenizer: Tokenizer,
    folder: Path,
    *,
    columns: tuple[str, ...],
    context: int,
    too_long: str,
) -> tuple[list[Store], Counts]:
    """One store per column, example i at the same place in each. Each side has room for a start or end symbol."""
    counts, most = Counts(targets=True, sides=True), context - 1

    def kept() -> Iterator[list[list[int]]]:
        for row in encoded(source, tokenizer, columns, counts):
            what = f"{source.name}: an example"
            if fits(row, most, counts, what, f"{most} and an end", symbols=1, too_long=too_long):
                yield [ids[:most] for ids in row]

    return write_columns(kept(), tokenizer, folder, columns=columns, counts=counts), counts


def write_columns(
    rows: Iterable[list[list[int]]], tokenizer: Tokenizer, folder: Path, *, columns: tuple[str, ...], counts: Counts
) -> list[Store]:
    """One store per column. What is predicted is the last column, each text with an end: that is counted."""
    with ExitStack() as stack:
        writers = [stack.enter_context(Writer(folder / column, len(tokenizer))) for column in columns]
        for row in rows:
            for writer, ids in zip(writers, row, strict=True):
                writer.add(ids)
            counts.tokens += len(row[-1]) + 1
        return [writer.close() for writer in writers]


def write_labelled(
    source: Source,
    tokenizer: Tokenizer,
    folder: Path,
    *,
    columns: tuple[str, ...],
    labels: tuple[str, ...],
    context: int,
    too_long: str,
) -> tuple[list[Store], Counts]:
    """A store for each column of texts and one of labels by number. The texts of a row have room for their symbols."""
    *kept, last = columns
    counts, symbols, numbers = Counts(), room(len(kept), tokenizer.habits.parted), {n: i for i, n in enumerate(labels)}
    texts, names = encoded(source.column(*range(len(kept))), tokenizer, kept, counts), source.column(len(kept))
    most = context - symbols
    what, ends = ("a text", "an end") if len(kept) == 1 else ("a pair", f"{symbols - 1} ends")
    with ExitStack() as stack:
        writers = [stack.enter_context(Writer(folder / column, len(tokenizer))) for column in kept]
        label = stack.enter_context(Writer(folder / last, len(labels)))
        for number, (row, (name,)) in enumerate(zip(texts, names, strict=True), 1):
            if name not in numbers:
                raise UserError(
                    f"{source.name}: record {number} has the label '{name}', which no training text has"
                    f"{suggest(name, list(labels))}"
                )
            whole = [list(chain(*row))] if all(row) else [[]]
            about = f"{source.name}: {what}", f"{most}, a start and {ends}"
            if fits(whole, most, counts, *about, symbols=symbols, too_long=too_long):
                for writer, ids in zip(writers, shortened(row, most), strict=True):
                    writer.add(ids)
                label.add([numbers[name]])
                counts.tokens += min(len(whole[0]), most) + symbols
        return [*(writer.close() for writer in writers), label.close()], counts


def fits(row: list[list[int]], most: int, counts: Counts, what: str, room: str, *, symbols: int, too_long: str) -> bool:
    """Whether an example is kept, cut to `most` tokens, `symbols` not counted, where it is longer; what becomes of it
    is counted."""
    if not all(row):
        counts.empty += 1
        return False
    longest = max(map(len, row))
    counts.longest = max(counts.longest, longest + symbols)
    if longest > most and too_long == "stop":
        raise UserError(
            f"{what} has {longest} tokens and the context holds {room}: raise system.context, or let data.too_long "
            "be 'truncate' or 'drop'"
        )
    if longest > most and too_long == "drop":
        counts.dropped += 1
        return False
    counts.truncated += longest > most
    counts.kept += 1
    return True


def write_documents(source: Source, tokenizer: Tokenizer, folder: Path) -> tuple[list[Store], Counts]:
    """One store of documents, each between a start and an end symbol. Nothing is dropped: long ones become windows."""
    counts = Counts()
    with Writer(folder / "text", len(tokenizer)) as writer:
        if source.joined:
            writer.add([tokenizer.start], ends=False)
        for (ids,) in encoded(source, tokenizer, ("text",), counts):
            if source.joined:
                writer.add(ids, ends=False)
            elif ids:
                writer.add([tokenizer.start, *ids, tokenizer.end])
            else:
                counts.empty += 1
                continue
            counts.kept += 1
        if source.joined:
            writer.add([tokenizer.end])
        counts.tokens = writer.total
        store = writer.close()
    counts.longest = int(store.lengths.max(initial=0))
    return [store], counts


def encoded(source: Source, tokenizer: Tokenizer, columns: Sequence[str], counts: Counts) -> Iterator[list[list[int]]]:
    """The records as tokens, counted and hashed on the way."""
    hashes, cutters = array("Q"), [tokenizer.of(column) for column in columns]
    for chunk in chunks(iter(source), AT_ONCE):
        found = [cut.encode_batch(list(texts)) for cut, texts in zip(cutters, zip(*chunk, strict=True), strict=True)]
        for record, row in zip(chunk, zip(*found, strict=True), strict=True):
            counts.records += 1
            counts.unknown += sum(ids.count(tokenizer.unknown) for ids in row)
            if any(text.strip() for text in record):
                hashes.append(digest(record))
            yield list(row)
    counts.hashes = np.asarray(hashes, np.uint64)


def digest(record: Record) -> int:
    """A number that two records share only if they are the same, but for blanks around their texts."""
    found = hashlib.blake2b("\t".join(text.strip() for text in record).encode(), digest_size=8)
    return int.from_bytes(found.digest(), "little")


def chunks(records: Iterator[Record], most: int) -> Iterator[list[Record]]:
    """Consecutive records of about `most` characters together, at least one."""
    chunk: list[Record] = []
    size = 0
    for record in records:
        chunk.append(record)
        size += sum(map(len, record)) + 1
        if size >= most:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
