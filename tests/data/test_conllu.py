"""CoNLL-U files to words, tags and text; broken input stops with the file and the line."""

from pathlib import Path

import pytest

from regard.data import Data, splits
from regard.data.conllu import sentences
from regard.data.sources import Columns, lines, open_files
from tests.helpers import lines_file, refused

TAGGED, TEXT = ("words", "tags"), ("text",)


def row(number: str | int, form: str, upos: str = "X", xpos: str = "Y", *, head: str | int = 0) -> str:
    return "\t".join((str(number), form, form.lower(), upos, xpos, "_", str(head), "dep", "_", "_"))


FILE = [
    "# newdoc id = a",
    "# text = I don't  know 10 000.",
    row(1, "I", "PRON", "PRP", head=4),
    row("2-3", "don't", "_", "_", head="_"),
    row(2, "do", "AUX", "VBP", head=4),
    row(3, "n't", "PART", "RB", head=4),
    row(4, "know", "VERB", "VB"),
    row("4.1", "of", "ADP", "IN", head="_"),
    row(5, "10 000", "NUM", "CD", head=4),
    row(6, ".", "PUNCT", ".", head=4),
    "",
    "# text = of nothing",
    "",
    "# sent_id = 2",
    row(1, "Yes", "INTJ", "UH"),
    row(2, "!", "PUNCT", ".", head=1),
]


def read(path: str | Path, columns: tuple[str, ...] = TAGGED, tags: str = "upos") -> list:
    source = open_files((str(path),), Columns(columns, tags=tags), document="file")
    assert not source.joined, "each sentence is a record of its own"
    assert len(source) == len(list(source))
    return list(source)


@pytest.fixture
def file(tmp_path: Path) -> str:
    return lines_file(tmp_path / "a.conllu", FILE)


def test_words_and_tags(file: str) -> None:
    """No multiword token, no empty node; a blank inside a word is written "_"; the last empty line may lack."""
    assert read(file) == [
        ("I do n't know 10_000 .", "PRON AUX PART VERB NUM PUNCT"),
        ("Yes !", "INTJ PUNCT"),
    ]
    assert read(file, tags="xpos") == [("I do n't know 10_000 .", "PRP VBP RB VB CD ."), ("Yes !", "UH .")]


def test_the_text_is_the_comment_s_where_there_is_one(file: str) -> None:
    assert read(file, TEXT) == [("I don't  know 10 000.",), ("Yes !",)]


def test_line_ends_of_windows_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_bytes("\ufeff".encode() + "\r\n".join((*FILE, "", "")).encode())
    assert read(path)[1] == ("Yes !", "INTJ PUNCT")
    assert read(path, TEXT)[0] == ("I don't  know 10 000.",)


def test_heads_count_the_words_of_the_sentence(file: str) -> None:
    first, second = sentences(lines(Path(file)), file)
    assert [word.head for word in first.words] == [4, 4, 4, 0, 4, 4]
    assert [(word.lemma, word.relation, word.line) for word in second.words] == [("yes", "dep", 15), ("!", "dep", 16)]


BROKEN = {
    "columns": ([row(1, "a"), "2\tb"], "line 2: 2 column(s) between tabs; CoNLL-U has 10"),
    "spaces": ([row(1, "a").replace("\t", "  ")], "line 1: 1 column(s) between tabs"),
    "order": ([row(1, "a"), row(3, "b")], "line 2: word number '3', expected 2 (an empty line ends a sentence)"),
    "joined": ([row(1, "a"), row(1, "b")], "line 2: word number '1', expected 2"),
    "number": ([row("one", "a")], "line 1: word number 'one', expected 1"),
    "form": (["# text = a", row(1, " ")], "line 2: a word without a form"),
    "head": ([row(1, "a", head="b")], "line 1: head 'b' is not the number of a word"),
    "far": ([row(1, "a", head=3), row(2, "b")], "line 1: head 3 in a sentence of 2 word(s)"),
    "tag": ([row(1, "a"), row(2, "b", "_", head=1)], "line 2: 'b' has no UPOS tag; data.tags may be 'xpos'"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_input_stops_with_file_and_line(tmp_path: Path, name: str) -> None:
    content, message = BROKEN[name]
    path = lines_file(tmp_path / "a.conllu", content)
    with refused(f"{path} {message}"):
        read(path)


def test_a_file_without_tags_of_the_kind_asked_for_is_refused_and_its_text_is_read(tmp_path: Path) -> None:
    path = lines_file(tmp_path / "a.conllu", [row(1, "a", "NOUN", "_")])
    assert read(path) == [("a", "NOUN")]
    assert read(path, TEXT, "xpos") == [("a",)]
    with refused(f"{path} line 1: 'a' has no XPOS tag; data.tags may be 'upos'"):
        read(path, tags="xpos")


def test_other_columns_are_not_in_such_a_file(file: str) -> None:
    with refused(f"{file} holds words, tags and heads, or text; needed: text and label"):
        read(file, ("text", "label"))


def test_data_tags_says_which(file: str) -> None:
    found, _ = splits(Data(train=file, valid=file, test=file, tags="xpos"), TAGGED)
    assert list(found["test"])[1] == ("Yes !", "UH .")
    with refused("data.tags = 'udpos' is not known; did you mean 'upos'?"):
        Data(tags="udpos")


def test_tags_that_nobody_reads_are_refused(tmp_path: Path, file: str) -> None:
    lacking = "data.tags = 'xpos' is for the tags of .conllu files, and none are read"
    with refused(lacking):
        splits(Data(train=lines_file(tmp_path / "a.tsv", ["a b\tX Y"] * 23), tags="xpos"), TAGGED)
    with refused(lacking):
        splits(Data(train=file, valid=file, test=file, tags="xpos"), TEXT)
