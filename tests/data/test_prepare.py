"""From sections to token files, and the report in which nothing is lost in silence."""

from pathlib import Path
from typing import Any

import pytest

from regard.data import Data, Pairs, Windows
from regard.data.prepare import Prepared, prepare, report_lines, stores
from regard.objectives import Classification, Continuation, MaskedPairs, NextToken, Translation
from regard.text import Text
from tests.helpers import lines_file

PAIR = Translation()


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    train = lines_file(tmp_path / "train.tsv", ["ab\tcd", "ab\tcd", "abcdefg\tb", "a\t", "b\ta", "aa\tbb"])
    valid = lines_file(tmp_path / "valid.tsv", ["ab\tcd", "a?\tb"])
    test = lines_file(tmp_path / "test.tsv", ["b\ta", "b\ta", "aa\tbb", "c\td"])
    return prepare(
        Data(train=train, valid=valid, test=test),
        Text(kind="char"),
        PAIR,
        context=5,
        folder=tmp_path / "tokens",
        say=lambda line: None,
    )


def test_the_report_counts_what_was_lost_and_what_stands_in_two_splits(prepared: Prepared) -> None:
    report = prepared.report
    train, valid, test = (report["splits"][split] for split in ("train", "valid", "test"))
    assert (train["records"], train["kept"], train["dropped"], train["empty"], train["duplicated"]) == (6, 4, 1, 1, 1)
    assert (valid["unknown"], train["unknown"]) == (1, 0)
    assert test["duplicated"] == 1
    assert report["also_in_train"] == {"valid": 1, "test": 2}


def test_the_report_can_be_read(prepared: Prepared) -> None:
    assert report_lines(prepared.report)[-3:] == [
        "train: 4 of 6 records, 11 target tokens, longest side 8; "
        "1 dropped as longer than 5 tokens; 1 empty; 1 duplicated",
        "valid: 2 of 2 records, 5 target tokens, longest side 3; 1 unknown tokens; 1 also in train",
        "test: 4 of 4 records, 9 target tokens, longest side 3; 1 duplicated; 2 also in train",
    ]


def lossy(folder: Path, pairs: list[str], *, context: int, too_long: str = "drop", task: Any = PAIR) -> list[str]:
    """The warnings about a training file."""
    header = "\t".join(task.columns)
    whole = lines_file(folder / "whole.tsv", [header, *["a\tx"] * 3])
    train = lines_file(folder / "pairs.tsv", [header, *pairs])
    data, about = (
        Data(train=train, valid=whole, test=whole, too_long=too_long),
        {"folder": folder / "tokens", "say": str},
    )
    report = prepare(data, Text(kind="char"), task, context=context, **about).report
    return [line for line in report_lines(report) if line.startswith("warning")]


def test_a_large_loss_is_a_warning_that_names_the_setting(tmp_path: Path) -> None:
    """The context that is named holds all, and no smaller one does."""
    rows = ["abcdefg\ta", "a\tabcd", "b\tabcdefghi", "c\td"]
    ways = "system.context = 10 would keep them, data.too_long = 'truncate' their beginnings"
    (line,) = lossy(tmp_path, rows, context=4)
    assert line == f"warning: 3 of 4 records of train are left out: {ways}"
    (line,) = lossy(tmp_path, [*rows, "\ta"], context=4)
    assert "system.context = 10 would keep all but the empty ones, data.too_long" in line and "look at the file" in line
    assert not lossy(tmp_path, rows, context=5), "half of them is not more than half"
    assert not lossy(tmp_path, rows, context=4, too_long="truncate")
    (line,) = lossy(tmp_path, ["\ta", "b\t", "c\td"], context=4)
    assert line == (
        "warning: 2 of 3 records of train are left out: "
        "nothing keeps what is empty: look at the file, and at what data.fields names"
    )


REMEDY = ": text.kind = 'bpe' or 'char' in training cuts new words into pieces that are known"
OTHER = " that this may be another text than the tokenizer was made for"


@pytest.mark.parametrize(
    ("kind", "own", "told"),
    [
        ("word", False, f"; so many unknown{REMEDY}"),
        ("word", True, f"; so many unknown{OTHER}{REMEDY}"),
        ("char", True, f"; so many unknown{OTHER}"),
        ("char", False, "; so many unknown: text.kind = 'byte-bpe' in training has tokens for whatever is written"),
    ],
)
def test_words_that_training_never_had_are_told_with_their_remedy(
    tmp_path: Path, kind: str, own: bool, told: str
) -> None:
    """Of held-out records of the same file nobody says that they are another text."""
    known, new = ["a b\ta b"] * 36, ["123\t123"] * 4
    train = lines_file(tmp_path / "train.tsv", known if own else known + new)
    test = lines_file(tmp_path / "test.tsv", new)
    data = Data(train=train, valid=test, test=test) if own else Data(train=train)
    done = prepare(data, Text(kind=kind), PAIR, context=9, folder=tmp_path / "tokens", say=str)
    lines = {line.partition(":")[0]: line for line in report_lines(done.report)}
    assert lines["test"].endswith(told)
    assert "so many unknown" not in lines["train"]


def test_a_tokenizer_that_was_given_cannot_be_chosen(prepared: Prepared, tmp_path: Path) -> None:
    file = lines_file(tmp_path / "other.tsv", ["xyz\tuvw"] * 40)
    about = {"context": 9, "folder": tmp_path / "again", "say": str, "tokenizer": prepared.tokenizer}
    done = prepare(Data(train=file), Text(kind="char"), PAIR, **about)
    assert [line.endswith(OTHER) for line in report_lines(done.report) if "records, " in line] == [True] * 3


@pytest.mark.parametrize(
    "task", [PAIR, Continuation(), MaskedPairs(), Classification()], ids=lambda task: type(task).__name__
)
def test_longest_is_the_context_that_keeps_all(tmp_path: Path, task: Any) -> None:
    rows = ["abcdefghijk\tx", "abcdefgh\tx", "ab\ty"]
    (line,) = lossy(tmp_path, rows, context=8, task=task)
    if isinstance(task, MaskedPairs):
        assert "a larger system.context would keep them" in line
        return
    needed = int(line.partition("system.context = ")[2].split()[0])
    for context, kept in ((needed - 1, 2), (needed, 3)):
        data = Data(train=str(tmp_path / "pairs.tsv"), valid=str(tmp_path / "whole.tsv"), test="")
        about = {"context": context, "folder": tmp_path / "again", "say": str}
        assert prepare(data, Text(kind="char"), task, **about).report["splits"]["train"]["kept"] == kept


def test_the_tokenizer_is_trained_on_the_training_split_alone(prepared: Prepared) -> None:
    assert prepared.tokenizer.encode("?") == [prepared.tokenizer.unknown]
    assert prepared.tokenizer.unknown not in prepared.tokenizer.encode("abcdefg")


def test_token_files_become_batches_again(prepared: Prepared, tmp_path: Path) -> None:
    made = Pairs(stores(tmp_path / "tokens" / "train", PAIR.columns), prepared.tokenizer, batch_tokens=100)
    (batch,) = made.in_order()
    texts = {prepared.tokenizer.decode(row.tolist()) for row in batch.source}
    assert texts == {"ab", "b", "aa"}


def test_one_column_becomes_packed_windows(tmp_path: Path) -> None:
    text = lines_file(tmp_path / "a.txt", ["abc"] * 40)
    data = Data(train=text, document="line")
    done = prepare(data, Text(kind="char"), NextToken(), context=7, folder=tmp_path / "t", say=lambda line: None)
    made = Windows(stores(tmp_path / "t" / "train", ("text",)), done.tokenizer, batch_tokens=70, context=7)
    assert len(made.store) == 36
    assert done.report["decided"] == [
        f"held out for valid: records 39 to 40 of {text}",
        f"held out for test: records 37 to 38 of {text}",
    ]
    assert made.batch(0, 0).tokens.shape == (10, 7)
