"""The letter before each letter, in rows as long as those of training and in longer ones (C5)."""

from itertools import islice
from pathlib import Path

from regard.checkpoint import load
from regard.data.corpora import CORPORA
from regard.evaluate import evaluate
from tests.helpers import lines_file
from tests.learning.toys import trained

LONGEST = 8


def rows(folder: Path, split: str, length: str, count: int) -> str:
    texts = (text for text, _ in islice(CORPORA["copy"].of(length).make(split), count))
    lines = [f"{text}\t{' '.join(['-', *text.split()[:-1]])}" for text in texts]
    return lines_file(folder / f"{split}-{length}.tsv", lines)


def learned(folder: Path, position: str) -> float:
    """Train on short rows; the accuracy on rows of the greatest length among them."""
    train, test = rows(folder, "train", f"2-{LONGEST}", 3000), rows(folder, "test", str(LONGEST), 100)
    run = trained(
        folder,
        "bert",
        {"train": train, "valid": test, "test": test},
        text={"kind": "word"},
        system={"width": 32, "heads": 2, "depth": 2, "context": LONGEST + 2, "position": position, "norm": "pre"},
        objective={"kind": "tagging"},
        train={"steps": 160, "batch_tokens": 700, "rate": 1e-2},
    )
    return evaluate([run])["accuracy"]


def longer(folder: Path, times: int) -> float:
    """The accuracy of the same run on rows that are so many times as long."""
    data = rows(folder, "test", str(times * LONGEST), 100)
    return evaluate([load(folder / "run", context=times * LONGEST + 2)], (data,))["accuracy"]


def test_distances_are_the_same_in_a_longer_row(tmp_path: Path) -> None:
    assert learned(tmp_path, "shaw") >= 0.98
    assert longer(tmp_path, 4) >= 0.95


def test_waves_are_learnt_for_the_places_of_training_alone(tmp_path: Path) -> None:
    assert learned(tmp_path, "sinusoidal") >= 0.95
    assert longer(tmp_path, 4) < 0.6
