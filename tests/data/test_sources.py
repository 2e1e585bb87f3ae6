"""Files to records; broken input stops with the file and the line."""

from pathlib import Path

import pytest

from regard.data.sources import Columns, open_files
from tests.helpers import lines_file, refused

PAIR, TEXT, LABELLED = ("source", "target"), ("text",), ("text", "label")


def read(*paths: str | Path, columns: tuple[str, ...] = PAIR, document: str = "file", **called: str | int) -> list:
    source = open_files(tuple(map(str, paths)), Columns(columns, called), document=document)
    records = list(source)
    assert len(source) == len(records), "the size that was told is the size that is read"
    assert list(source) == records, "a source can be read again"
    return records


def test_a_file_of_lines_is_one_document_whose_pieces_keep_their_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("one\n\n  two \r\nthree\u2028still three\nlast".encode())
    pieces = [("one\n",), ("\n",), ("  two \r\n",), ("three\u2028still three\n",), ("last",)]
    assert read(path, columns=TEXT) == pieces
    assert open_files((str(path),), Columns(TEXT), document="file").joined


def test_each_line_may_be_a_document(tmp_path: Path) -> None:
    path = lines_file(tmp_path / "a.txt", ["one", "", " two "])
    assert read(path, columns=TEXT, document="line") == [("one",), ("",), (" two ",)]
    assert not open_files((path,), Columns(TEXT), document="line").joined


def test_lines_of_two_files_belong_together(tmp_path: Path) -> None:
    a = lines_file(tmp_path / "a.en", ["one ", "two", ""])
    b = lines_file(tmp_path / "a.de", ["eins", " zwei\r", "drei"])
    assert read(a, b) == [("one", "eins"), ("two", "zwei"), ("", "drei")]


def test_a_tsv_is_read_in_order_without_a_header_and_by_name_with_one(tmp_path: Path) -> None:
    bare = lines_file(tmp_path / "bare.tsv", ["one\teins", "two\tzwei\tmore"])
    named = lines_file(tmp_path / "named.tsv", ["id\ttarget\tsource", "1\teins\tone", "2\tzwei\ttwo"])
    records = [("one", "eins"), ("two", "zwei")]
    assert read(bare) == records
    assert read(named) == records
    with refused("2 columns, 1 are needed: say which with data.fields.text"):
        read(bare, columns=TEXT)
    assert read(bare, columns=TEXT, text=0) == [("one",), ("two",)]


def test_a_first_line_that_is_no_header_is_said_to_be_a_record(tmp_path: Path) -> None:
    """Names that are not asked for look like any text: whoever reads what was made of them can tell."""

    def told(*lines: str, **called: str | int) -> str:
        path = lines_file(tmp_path / "a.tsv", list(lines))
        return open_files((path,), Columns(PAIR, called), document="file").told.removeprefix(path)

    assert told("en\tde", "one\teins") == " has no line of names: its first line is a record, source 'en', target 'de'"
    assert (
        told("a\t" + "b " * 40)
        == f" has no line of names: its first line is a record, source 'a', target '{'b ' * 13} ...'"
    )
    by_number = " is read by number: its first line is a record, source 'de', target 'en'"
    assert told("en\tde", "one\teins", source=1, target=0) == by_number
    assert told("source\ttarget", "one\teins") == told("en\tde", "one\teins", source="en", target="de") == ""


def test_fields_name_the_columns_of_a_tsv(tmp_path: Path) -> None:
    named = lines_file(tmp_path / "a.tab", ["de\ten", "eins\tone"])
    bare = lines_file(tmp_path / "b.tsv", ["x\teins\tone"])
    assert read(named, source="en", target="de") == [("one", "eins")]
    assert read(bare, source=2, target=1) == [("one", "eins")]


def test_quotes_of_a_csv_hold_commas_quotes_and_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'target, source\r\neins,"one, ""two""\nthree"\r\n\r\n"zwei", two \r\n')
    assert read(path) == [('one, "two"\nthree', "eins"), ("two", "zwei")]
    long = "word " * 40_000
    path.write_text(f"source,target\n{long},x\n")
    assert read(path) == [(long.strip(), "x")], "a cell may be as long as a document"
    path.write_text('source;target\n"a; b";c, d\n')
    assert read(path) == [("a; b", "c, d")], "as some programs write it"


def test_a_csv_without_names_is_read_by_number(tmp_path: Path) -> None:
    path = lines_file(tmp_path / "a.csv", ["one,eins", "two,zwei"])
    assert read(path, source=1, target=0) == [("eins", "one"), ("zwei", "two")]
    with refused(f"{path} line 1 names one, eins, not source, target: say which is which with data.fields.source and"):
        read(path)


def test_blank_lines_before_a_csv_do_not_hide_what_separates_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("\n\nsource;target\none;eins\n")
    assert read(path) == [("one", "eins")]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_columns_are_numbered_from_0(tmp_path: Path, ending: str) -> None:
    """Python's -1 would read the last one."""
    path = lines_file(tmp_path / f"a.{ending}", ["one,eins" if ending == "csv" else "one\teins"])
    with refused(f"{path} line 1: data.fields.target=-1: columns are numbered from 0"):
        read(path, source=0, target=-1)
    with refused(f"{path} line 1: data.fields.text=-1: columns are numbered from 0"):
        read(path, columns=TEXT, text=-1)


def test_a_label_of_json_may_be_a_number(tmp_path: Path) -> None:
    path = lines_file(
        tmp_path / "a.jsonl",
        ['{"text": "a", "label": 0}', '{"text": "b", "label": true}', '{"text": "c", "label": "0"}'],
    )
    assert read(path, columns=LABELLED) == [("a", "0"), ("b", "true"), ("c", "0")]


def test_jsonl_is_read_by_field_and_empty_lines_are_skipped(tmp_path: Path) -> None:
    path = lines_file(
        tmp_path / "a.jsonl",
        ['{"source": "one", "target": "eins", "n": 1}', "", '{"target": "zw\\u00ebi", "source": " two"}'],
    )
    assert read(path) == [("one", "eins"), (" two", "zwëi")]
    path = lines_file(tmp_path / "b.ndjson", ['{"body": "a\\nb"}'])
    assert read(path, columns=TEXT, text="body") == [("a\nb",)]


def test_of_a_list_one_text_is_read_or_all_in_a_row(tmp_path: Path) -> None:
    rows = [
        '{"sentences": ["One.", "Two. "], "short": ["A", "B"], "a.0": "dotted"}',
        '{"sentences": [], "short": ["C"]}',
    ]
    path = lines_file(tmp_path / "a.jsonl", rows[:1])
    assert read(path, source="sentences.*", target="short.1") == [("One. Two. ", "B")]
    assert read(path, columns=TEXT, text="a.0") == [("dotted",)], "a field of that very name"
    path = lines_file(tmp_path / "b.jsonl", rows)
    assert read(path, source="sentences.*", target="short.0") == [("One. Two. ", "A"), ("", "C")]
    with refused(f"{path} line 2: field 'short' has 1 entries, and 'short.1' counts from 0"):
        read(path, source="sentences.*", target="short.1")
    with refused("line 1: field 'short' is a list: 'short.0' is its first text, 'short.*' are all of texts"):
        read(path, source="sentences.*", target="short.first")
    with refused("line 1: no field 'shorts.0' (there are sentences, short, a.0); name it with data.fields"):
        read(path, source="sentences.*", target="shorts.0")
    with refused("line 1: field 'short' is list, not text; data.fields may name 'short.*', all of it, or 'short.0'"):
        read(path, source="sentences.*", target="short")
    with refused("line 1: field 'a' is text, no list: name 'a' in data.fields, not 'a.*'"):
        read(lines_file(tmp_path / "d.jsonl", ['{"a": "one"}']), columns=TEXT, text="a.*")
    with refused("line 1: field 'a' is an empty list"):
        read(lines_file(tmp_path / "d.jsonl", ['{"a": []}']), columns=TEXT, text="a.0")
    mixed = lines_file(tmp_path / "c.jsonl", ['{"text": ["a", 1]}'])
    with refused("line 1: field 'text' is a list: 'text.0' is its first text, 'text.*' are all of texts"):
        read(mixed, columns=TEXT, text="text.*")
    with refused("line 1: field 'text.1' is int, not text"):
        read(mixed, columns=TEXT, text="text.1")


@pytest.mark.parametrize("ending", ["txt", "tsv", "jsonl"])
def test_a_byte_order_mark_is_dropped(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    content = {"txt": "one\n", "tsv": "text\none\n", "jsonl": '{"text": "one"}\n'}[ending]
    path.write_bytes(b"\xef\xbb\xbf" + content.encode())
    assert [text.strip() for (text,) in read(path, columns=TEXT)] == ["one"]


def test_what_is_no_file_of_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    for path, message in (
        (tmp_path / "none.txt", f"no such file: {tmp_path / 'none.txt'}"),
        (tmp_path / "empty.txt", f"{tmp_path / 'empty.txt'} is empty"),
        (tmp_path, f"{tmp_path} is a folder, not a file of text"),
    ):
        with refused(message):
            read(path, columns=TEXT)


BROKEN = {
    "bad.txt": (b"one\ntw\xff\n", TEXT, "line 2: not UTF-8 (invalid start byte at byte 2)"),
    "utf16.txt": ("one".encode("utf-16"), TEXT, "line 1: not UTF-8"),
    "capital.tsv": (b"Source \tTARGET\na\tb\n", PAIR, "line 1 names Source , TARGET: names are source and target"),
    "wide.tsv": (b"a\tb\tc\n", PAIR, "line 1: 3 columns, 2 are needed: say which with data.fields.source and"),
    "half.tsv": (b"source\tde\none\teins\n", PAIR, "line 1 names source but not target: say which is which"),
    "short.tsv": (b"one\teins\ntwo\n", PAIR, "line 2: 1 column(s), column 2 is needed"),
    "blank.csv": (b"\n\r\n", PAIR, "has no row: its lines are all blank"),
    "late.csv": (b"\n\none,eins\n", PAIR, "line 3 names one, eins, not source, target: say which is which"),
    "latewide.csv": (b"\na,b,c\n", PAIR, "line 2: 3 columns, 2 are needed: say which with data.fields.source and"),
    "open.csv": (b'source,target\n"two,zwei\na,b\n', PAIR, "line 2: not CSV (unexpected end of data) in the row that"),
    "short.csv": (b'source,target\n"one\nmore",eins\ntwo\n', PAIR, "line 4: 1 column(s), the first line has 2"),
    "wide.csv": (b"source,target\na, b,c\n", PAIR, "line 2: 3 column(s), the first line has 2; a text with ',' in it"),
    "float.jsonl": (b'{"text": "a", "label": 0.5}\n', LABELLED, "line 1: field 'label' is float, not text"),
    "broken.jsonl": (b'{"text": "a"}\n{"text": "b"\n', TEXT, "line 2: not JSON (Expecting ',' delimiter at column 13)"),
    "list.jsonl": (b'["a"]\n', TEXT, "line 1: expected an object, found list"),
    "field.jsonl": (
        b'\n{"text": "a"}\n{"txt": "b", "n": 1}\n',
        TEXT,
        "line 3: no field 'text' (there are txt, n); name it with data.fields",
    ),
    "type.jsonl": (b'{"text": 5}\n', TEXT, "line 1: field 'text' is int, not text"),
    "half.jsonl": (
        b'{"text": "a \\ud83d b"}\n',
        TEXT,
        "line 1: field 'text' holds half a character (a lone surrogate)",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_input_stops_with_file_and_line(tmp_path: Path, name: str) -> None:
    content, columns, message = BROKEN[name]
    path = tmp_path / name
    path.write_bytes(content)
    with refused(f"{path} {message}"):
        read(path, columns=columns)


def test_a_pair_of_surrogates_is_one_character(tmp_path: Path) -> None:
    assert read(lines_file(tmp_path / "a.jsonl", ['{"text": "\\ud83d\\ude00"}']), columns=TEXT) == [("😀",)]


def test_parallel_files_of_different_length_stop_with_both_counts(tmp_path: Path) -> None:
    a, b = lines_file(tmp_path / "a.en", ["one", "two", "three"]), lines_file(tmp_path / "a.de", ["eins", "zwei"])
    with refused(f"parallel files differ in length: {a} has 3 lines, {b} has 2 lines"):
        read(a, b)


def test_a_missing_column_is_named_with_those_that_there_are(tmp_path: Path) -> None:
    path = lines_file(tmp_path / "a.tsv", ["en\tde", "one\teins"])
    with refused(f"{path} line 1: no columns named deutsch (there are en, de)"):
        read(path, source="en", target="deutsch")
    with refused(f"{path} line 1: data.fields.source and data.fields.target are all names, or all numbers from 0"):
        read(path, source=0)


def test_the_number_of_files_must_fit_the_columns(tmp_path: Path) -> None:
    a, b = lines_file(tmp_path / "a.en", ["one"]), lines_file(tmp_path / "a.de", ["eins"])
    with refused(
        f"{a} is one file of lines, and source and target are needed: give two files, a .tsv, a .csv or a .jsonl"
    ):
        read(a)
    with refused("2 files for 1 column(s) (text)"):
        read(a, b, columns=TEXT)


def test_neighbouring_lines_of_one_file_are_first_and_second(tmp_path: Path) -> None:
    """A line is the second of one pair and the first of the next; an empty line parts documents."""
    path = lines_file(tmp_path / "a.txt", ["", "a ", "b", "c\r", " \r", "alone", "", "", "x", "y"])
    assert read(path, columns=("first", "second")) == [("a", "b"), ("b", "c"), ("x", "y")]
    pairs = lines_file(tmp_path / "a.tsv", ["one\ttwo"])
    assert read(pairs, columns=("first", "second")) == [("one", "two")]


def test_lines_of_which_no_two_stand_together_are_no_pairs(tmp_path: Path) -> None:
    path = lines_file(tmp_path / "a.txt", ["a", "", "b"])
    with refused(f"{path} has no two lines in a row: pairs want a sentence a line"):
        read(path, columns=("first", "second"))


def test_a_part_is_a_source_of_its_own(tmp_path: Path) -> None:
    path = lines_file(tmp_path / "a.txt", list("abcdefg"))
    part = open_files((path,), Columns(TEXT), document="line").part(2, 5)
    assert list(part) == list(part) == [("c",), ("d",), ("e",)]
    assert len(part) == 3
    assert part.name == f"{path} [2:5]"
