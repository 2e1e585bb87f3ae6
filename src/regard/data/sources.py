"""Where records come from: lines, parallel lines, TSV, CSV, JSONL or CoNLL-U, read one at a time and never held.

A record is a tuple of texts, one for each column that the objective asks for. Broken input stops with file and line.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from regard.data import conllu
from regard.data.given import CHECKS, HEADS
from regard.data.tables import Columns, Numbered, csv_rows, tab_rows, table, without_header
from regard.errors import UserError

Record = tuple[str, ...]
LISTED = ("words", "tags")  # columns that hold one entry for each word
TABLES = (".tsv", ".tab", ".csv")
COLUMNED = (".jsonl", ".ndjson", ".conllu", *TABLES)  # endings of files that name what they hold


@dataclass(frozen=True)
class Source:
    """Records that can be read again and again. `joined` records are pieces of one document. `told` is what a reader
    should know of how they were read."""

    name: str
    read: Callable[[], Iterator[Record]]
    size: int
    joined: bool = False
    told: str = ""

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Record]:
        return self.read()

    def column(self, *places: int) -> "Source":
        """One column of the records, or several, as a source of its own."""

        def read() -> Iterator[Record]:
            return (tuple(record[place] for place in places) for record in self.read())

        return Source(self.name, read, self.size, self.joined)

    def part(self, start: int, stop: int) -> "Source":
        """Records `start` to `stop`, as a source of their own."""
        stop = min(stop, self.size)
        name = f"{self.name} [{start}:{stop}]"
        return Source(name, lambda: islice(self.read(), start, stop), stop - start, self.joined)


def open_files(paths: tuple[str, ...], columns: Columns, *, document: str) -> Source:
    """The source that one path or several name; the ending decides the format."""
    files = [existing(Path(path)) for path in paths]
    if len(files) > 1:
        if len(files) != len(columns.names):
            wanted = f"{len(columns.names)} column(s) ({', '.join(columns.names)})"
            raise UserError(f"{len(files)} files for {wanted}: {', '.join(paths)}")
        return parallel(files)
    path = files[0]
    if path.suffix in (".jsonl", ".ndjson"):
        return counted(str(path), lambda: sound(jsonl(path, columns), path, columns))
    if path.suffix in TABLES:
        return table_source(path, columns)
    if path.suffix == ".conllu":
        return treebank(path, columns)
    if columns.names == ("first", "second"):
        return counted(str(path), lambda: neighbours(path))
    if HEADS in columns.names:
        raise UserError(f"{path} has no trees, which objective.trees asks for: give a .conllu file")
    if len(columns.names) > 1:
        raise UserError(
            f"{path} is one file of lines, and {' and '.join(columns.names)} are needed: "
            f"give {'two' if len(columns.names) == 2 else len(columns.names)} files, a .tsv, a .csv or a .jsonl"
        )
    if document == "file":
        return counted(str(path), lambda: ((line,) for _, line in lines(path)), joined=True)
    return counted(str(path), lambda: ((line.rstrip("\n"),) for _, line in lines(path)))


def is_plain(paths: tuple[str, ...]) -> bool:
    """Whether this is one file of lines, told by its ending."""
    return len(paths) == 1 and Path(paths[0]).is_file() and Path(paths[0]).suffix not in COLUMNED


def existing(path: Path) -> Path:
    if not path.exists():
        raise UserError(f"no such file: {path}")
    if path.is_dir():
        raise UserError(f"{path} is a folder, not a file of text")
    if path.stat().st_size == 0:
        raise UserError(f"{path} is empty")
    return path


def file_hash(path: Path) -> str:
    """A hash of the content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def counted(name: str, read: Callable[[], Iterator[Record]], *, joined: bool = False) -> Source:
    """A source whose every record was read once, so that a broken one is found before training begins."""
    return Source(name, read, sum(1 for _ in read()), joined)


def lines(path: Path) -> Iterator[Numbered]:
    """The numbered lines of a file."""
    with path.open("rb") as file:
        yield from decoded(file, str(path))


def decoded(raw_lines: Iterable[bytes], name: str) -> Iterator[Numbered]:
    """Numbered lines with their ends. Only `\\n` ends a line; a byte-order mark is dropped."""
    for number, raw in enumerate(raw_lines, 1):
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UserError(f"{name} line {number}: not UTF-8 ({error.reason} at byte {error.start})") from None
        yield number, line.removeprefix("\ufeff") if number == 1 else line


def parallel(paths: list[Path]) -> Source:
    """Line n of each file belongs together."""
    sizes = [sum(1 for _ in lines(path)) for path in paths]
    if len(set(sizes)) > 1:
        counts = ", ".join(f"{path} has {size} lines" for path, size in zip(paths, sizes, strict=True))
        raise UserError(f"parallel files differ in length: {counts}")

    def read() -> Iterator[Record]:
        for row in zip_longest(*(lines(path) for path in paths)):
            yield tuple(line.strip() for _, line in row)

    return Source(" ".join(map(str, paths)), read, sizes[0])


def neighbours(path: Path) -> Iterator[Record]:
    """Every two lines in a row, as BERT reads text: a sentence a line, an empty line between documents."""
    before, alone = "", True
    for _, line in lines(path):
        text = line.strip()
        if before and text:
            yield before, text
            alone = False
        before = text
    if alone:
        raise UserError(
            f"{path} has no two lines in a row: pairs want a sentence a line, documents apart by empty lines"
        )


def treebank(path: Path, columns: Columns) -> Source:
    """Words and tags of a CoNLL-U file, words and heads, or its sentences as text."""
    if columns.names == ("words", "tags"):
        return counted(str(path), lambda: conllu.tagged(lines(path), str(path), columns.tags))
    if columns.names == ("words", HEADS):
        return counted(str(path), lambda: conllu.parsed(lines(path), str(path)))
    if columns.names == ("text",):
        return counted(str(path), lambda: ((each.text,) for each in conllu.sentences(lines(path), str(path))))
    raise UserError(f"{path} holds words, tags and heads, or text; needed: {' and '.join(columns.names)}")


def table_source(path: Path, columns: Columns) -> Source:
    """The rows of a table. Whether the first one was taken for a header is no secret."""
    comma = path.suffix == ".csv"

    def rows() -> Iterator[tuple[int, list[str]]]:
        return csv_rows(lines(path), str(path)) if comma else tab_rows(lines(path))

    source = counted(str(path), lambda: sound(table(rows(), str(path), columns, comma=comma), path, columns))
    first = next(rows(), None)
    if first is None:
        raise UserError(f"{path} has no row: its lines are all blank")
    return replace(source, told=without_header(first, str(path), columns))


def sound(records: Iterable[tuple[int, Record]], path: Path, columns: Columns) -> Iterator[Record]:
    """Numbered records, each checked where its columns belong together word by word."""
    check = CHECKS.get(columns.names)
    for number, record in records:
        if check is not None:
            check(record, f"{path} line {number}")
        yield record


def jsonl(path: Path, columns: Columns) -> Iterator[tuple[int, Record]]:
    for number, line in lines(path):
        if not line.strip():
            continue
        try:
            row = json.loads(line.rstrip())
        except json.JSONDecodeError as error:
            raise UserError(f"{path} line {number}: not JSON ({error.msg} at column {error.colno})") from None
        if not isinstance(row, dict):
            raise UserError(f"{path} line {number}: expected an object, found {type(row).__name__}")
        found = {name: columns.label(name) for name in columns.names}
        yield number, tuple(text_of(row, key, f"{path} line {number}", name) for name, key in found.items())


def text_of(row: dict, key: str | int, where: str, name: str) -> str:
    """The text of a field. What has an entry for each word may also be a list: a blank inside one becomes "_".

    A label may also be a whole number, true or false.
    """
    text = entry_of(row, key, where)
    if name == "label" and isinstance(text, int):
        return json.dumps(text)
    if name in LISTED and isinstance(text, list) and all(isinstance(word, str) and word.strip() for word in text):
        text = " ".join(re.sub(r"\s", "_", word) for word in text)
    if not isinstance(text, str):
        pick = f"; data.fields may name '{key}.*', all of it, or '{key}.0'" if isinstance(text, list) else ""
        raise UserError(f"{where}: field '{key}' is {type(text).__name__}, not text{pick}")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise UserError(f"{where}: field '{key}' holds half a character (a lone surrogate)")
    return text


def entry_of(row: dict, key: str | int, where: str) -> Any:
    """What a field holds. Of a list, "summaries.0" is the first entry, "sentences.*" are all with blanks between."""
    name, _, place = str(key).rpartition(".")
    found = row.get(name)
    if key in row:
        return row[key]
    if isinstance(found, str):
        raise UserError(f"{where}: field '{name}' is text, no list: name '{name}' in data.fields, not '{key}'")
    if not isinstance(found, list):
        raise UserError(f"{where}: no field '{key}' (there are {', '.join(row)}); name it with data.fields")
    if place == "*" and all(isinstance(text, str) for text in found):
        return " ".join(found)
    if not place.isdecimal():
        raise UserError(f"{where}: field '{name}' is a list: '{name}.0' is its first text, '{name}.*' are all of texts")
    if not found:
        raise UserError(f"{where}: field '{name}' is an empty list")
    if int(place) >= len(found):
        raise UserError(f"{where}: field '{name}' has {len(found)} entries, and '{key}' counts from 0")
    return found[int(place)]
