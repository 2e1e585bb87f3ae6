"""C14: a table of vectors has one for "plays", a reader's vectors tell its senses apart."""

from pathlib import Path

import pytest

import regard
from regard.data import CORPORA
from regard.evaluate.senses import compared, uses_of

TELLING = ("data.train=senses", "train.device=cpu", "train.evaluate_every=1000")
STATIC = ("system.width=31", "train.steps=20", "train.batch_tokens=1024", "objective.subsample=0")
READER = ("train.steps=300",)


@pytest.fixture(scope="module")
def uses() -> list:
    records = CORPORA["senses"].source("test", ("text", "label"))
    return uses_of("plays", [(text, label.split("/")[1]) for text, label in records if label.startswith("plays/")])


def trained(preset: str, folder: Path, *settings: str) -> regard.Run:
    regard.train(regard.read(preset, [*TELLING, *settings]), folder)
    return regard.load(folder)


def test_a_reader_tells_senses_apart(tmp_path: Path, uses: list) -> None:
    found = compared(trained("rnn-classifier", tmp_path / "reader", *READER), uses).scores
    assert found["accuracy"] > 0.9 and found["separation"] > 0.05
    assert found["senses"].keys() == {"sport", "stage"}


def test_a_table_does_not(tmp_path: Path, uses: list) -> None:
    found = compared(trained("word2vec", tmp_path / "table", *STATIC), uses).scores
    assert found["accuracy"] == found["chance"] == 0.5 and found["separation"] == pytest.approx(0, abs=1e-6)
