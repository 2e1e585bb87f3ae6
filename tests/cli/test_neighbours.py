"""`regard neighbours`: the nearest words, analogies, and both measured on files."""

from pathlib import Path

import pytest

import regard
from regard.evaluate.words import Words
from tests.cli.conftest import Place
from tests.cli.shell import fine, refused, settings
from tests.helpers import lines_file

LINES = ["the cat sits on the mat", "a dog sits on a rug", "the dog eats", "a cat eats"] * 20


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("table")
    path = lines_file(folder / "lines.txt", LINES)
    small = ("train.device=cpu", "train.steps=3", "train.batch_tokens=200", "text.kind=word", "data.document=line")
    fine("train", "word2vec", "--out", folder / "run", "--quiet", *settings(f"data.train={path}", *small, tiny=False))
    return folder / "run"


def test_words_and_analogies(table: Path) -> None:
    words = Words.of(regard.load(table))
    done = fine("neighbours", table, "cat", "dog", "--analogy", "cat mat dog", "--top", "3", "--json").json
    assert [entry["asked"] for entry in done["nearest"]] == ["cat", "dog", "cat : mat = dog : ?"]
    for entry, wanted in zip(
        done["nearest"],
        (words.neighbours("cat", 3), words.neighbours("dog", 3), words.analogy("cat", "mat", "dog", 3)),
        strict=True,
    ):
        assert [(each["word"], each["cosine"]) for each in entry["words"]] == wanted
    printed = fine("neighbours", table, "cat", "--top", "2").lines
    assert printed[0].split() == ["cat"]
    assert [line.split()[0] for line in printed[-2:]] == [word for word, _ in words.neighbours("cat", 2)]


def test_files(table: Path, tmp_path: Path) -> None:
    rated = lines_file(tmp_path / "pairs.tsv", ["cat\tdog\t9", "cat\ton\t1", "dog\tzebra\t5"])
    questions = lines_file(tmp_path / "questions.txt", [": pets", "cat mat dog rug", "cat mat dog zebra"])
    done = fine("neighbours", table, "--rated", rated, "--questions", questions, "--json").json
    assert done["nearest"] == []
    assert (done["similarity"]["pairs"], done["similarity"]["covered"]) == (3, 2)
    assert done["analogies"]["sections"]["pets"]["covered"] == 1
    shown = fine("neighbours", table, "--rated", rated, "--questions", questions).out
    assert "over 2 of 3 pairs" in shown and "pets" in shown


def test_mistakes(table: Path, place: Place) -> None:
    refused("neighbours", table, because="nothing is asked")
    refused("neighbours", table, "catt", because="no vector for 'catt'; did you mean")
    refused("neighbours", table, "--analogy", "cat dog", because="2 words; give three")
    refused("neighbours", table, "cat", "--top", "0", because="--top 0")
    refused("neighbours", place.model, "cat", because="only word2vec has a table")


def test_a_table_has_nothing_to_explain(table: Path) -> None:
    refused("explain", table, "--text", "the cat", because="nothing to look into; use 'regard neighbours'")
