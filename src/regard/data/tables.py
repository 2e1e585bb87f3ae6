"""Tables of cells, between tabs or as CSV has it: rows to records. Broken input stops with file and line.

A first row that holds the names of the columns is a header. Without one the order of the columns counts, or their
numbers.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from regard.errors import UserError

LONGEST = 2**30  # characters of a cell
SHOWN = 30  # characters of a cell that a message shows
Numbered = tuple[int, str]  # a line and its number
Row = tuple[int, list[str]]  # the line that it begins in, and its cells


@dataclass(frozen=True)
class Columns:
    """Which columns to read, what they are called in a TSV header or a JSONL object, and which tags of CoNLL-U."""

    names: tuple[str, ...]
    called: dict[str, str | int] = field(default_factory=dict)
    tags: str = "upos"

    def label(self, name: str) -> str | int:
        return self.called.get(name, name)

    @property
    def labels(self) -> list[str | int]:
        return [self.label(name) for name in self.names]

    @property
    def fields(self) -> str:
        """The settings that say what the columns are called."""
        return " and ".join(f"data.fields.{name}" for name in self.names)


def table(rows: Iterable[Row], name: str, columns: Columns, *, comma: bool) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The columns that are read of each row, and its line."""
    places: list[int] = []
    for number, cells in rows:
        if not places:
            places, header = column_places(cells, columns, f"{name} line {number}")
            if header:
                continue
            if comma and not by_number(columns):
                wanted = ", ".join(map(str, columns.labels))
                raise UserError(
                    f"{name} line {number} names {', '.join(cells)}, not {wanted}: "
                    f"say which is which with {columns.fields}, by name or, without a line of names, by number"
                )
        if len(cells) <= max(places):
            raise UserError(f"{name} line {number}: {len(cells)} column(s), column {max(places) + 1} is needed")
        yield number, tuple(cells[place].strip() for place in places)


def without_header(row: Row, name: str, columns: Columns) -> str:
    """What a first row that is no header is taken for, in words; "" of a header."""
    number, first = row
    places, header = column_places(first, columns, f"{name} line {number}")
    if header or max(places) >= len(first):
        return ""
    found = ", ".join(
        f"{column} {cut(first[place].strip())!r}" for column, place in zip(columns.names, places, strict=True)
    )
    why = "is read by number" if by_number(columns) else "has no line of names"
    return f"{name} {why}: its first line is a record, {found}"


def cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 4]} ..."


def by_number(columns: Columns) -> bool:
    return all(isinstance(label, int) for label in columns.labels)


def tab_rows(lines: Iterable[Numbered]) -> Iterator[Row]:
    """Cells between tabs; quotes are text."""
    return ((number, line.rstrip("\r\n").split("\t")) for number, line in lines)


def csv_rows(lines: Iterable[Numbered], name: str) -> Iterator[Row]:
    """Between commas, or semicolons where the first line with text has more; quotes may hold these and line ends."""
    csv.field_size_limit(LONGEST)
    rest = (line for _, line in lines)
    begun = list(up_to_text(rest))
    between = max(",", ";", key=begun[-1].count) if begun else ","
    whole = chain(begun, rest)
    reader = csv.reader(whole, delimiter=between, skipinitialspace=True, strict=True)
    width = 0
    while True:
        begin = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise UserError(f"{name} line {begin}: not CSV ({error}) in the row that begins there") from None
        if cells is None:
            return
        width = width or len(cells)
        if cells and len(cells) != width:
            rule = f"the first line has {width}; a text with '{between}' in it stands between quotes"
            raise UserError(f"{name} line {begin}: {len(cells)} column(s), {rule}")
        if cells:
            yield begin, cells


def up_to_text(lines: Iterator[str]) -> Iterator[str]:
    """Lines as they come, up to the first that is not blank."""
    for line in lines:
        yield line
        if line.strip():
            return


def column_places(first: Sequence[str], columns: Columns, where: str) -> tuple[list[int], bool]:
    """Where each column stands, and whether the first row is a header."""
    labels, fields = columns.labels, columns.fields
    if all(label in first for label in labels):
        return [first.index(str(label)) for label in labels], True
    for name, label in columns.called.items():
        if isinstance(label, int) and label < 0:
            raise UserError(f"{where}: data.fields.{name}={label}: columns are numbered from 0")
    if by_number(columns):
        return [int(label) for label in labels], False
    if any(isinstance(label, int) for label in labels):
        raise UserError(f"{where}: {fields} are all names, or all numbers from 0, not both")
    missing = ", ".join(str(label) for label in labels if label not in first)
    if columns.called:
        raise UserError(f"{where}: no columns named {missing} (there are {', '.join(first)})")
    if named := [str(label) for label in labels if label in first]:
        raise UserError(
            f"{where} names {', '.join(named)} but not {missing}: say which is which with {fields}, "
            "or, where this is no line of names, by number from 0"
        )
    if all(str(label) in map(spelt, first) for label in labels):
        raise UserError(f"{where} names {', '.join(first)}: names are {' and '.join(columns.names)}, or say {fields}")
    if len(first) > len(labels):
        raise UserError(
            f"{where}: {len(first)} columns, {len(labels)} are needed: say which with {fields}, "
            f"by number from 0 or by the names on the first line, as in --set data.fields.{columns.names[0]}=NAME"
        )
    return list(range(len(labels))), False


def spelt(cell: str) -> str:
    """A name without capitals and the blanks around it."""
    return cell.strip().lower()
