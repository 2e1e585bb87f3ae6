"""Classifiers learn what only order tells; a bag of words does not."""

import random
from pathlib import Path

import pytest

from regard.evaluate import evaluate
from tests.helpers import lines_file
from tests.learning.toys import trained


def accuracy(folder: Path, kind: str, **system: object) -> float:
    """Which of a and b comes first, among other letters, on texts never seen. Chance is one half."""
    files = {}
    for split, count in (("train", 1500), ("test", 300)):
        chance, rows = random.Random(split), []
        for _ in range(count):
            pair = chance.choice(("ab", "ba"))
            before, after = ("".join(chance.choices("cdef", k=chance.randint(0, 3))) for _ in range(2))
            rows.append(f"{before}{pair}{after}\t{pair[0]} first")
        files[split] = lines_file(folder / f"{split}.tsv", rows)
    run = trained(
        folder,
        kind,
        {**files, "valid": files["test"]},
        system={"width": 16, **system},
        train={"steps": 120, "batch_tokens": 400, "rate": 1e-2},
    )
    assert run.labels == ("a first", "b first")
    return evaluate([run])["accuracy"]


@pytest.mark.parametrize("pool", ["ends", "mean", "max"])
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_the_recurrent_classifier_learns_order(tmp_path: Path, cell: str, pool: str) -> None:
    assert accuracy(tmp_path, "rnn-encoder", cell=cell, pool=pool) >= 0.95


def test_the_window_classifier_learns_order(tmp_path: Path) -> None:
    assert accuracy(tmp_path, "window-encoder", windows=[3]) >= 0.95


def test_windows_of_one_word_cannot(tmp_path: Path) -> None:
    """The threshold above is not reached by chance or by counting."""
    assert accuracy(tmp_path, "window-encoder", windows=[1]) < 0.65
