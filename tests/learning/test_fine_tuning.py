"""Pre-training is worth something (C17): words that were never labelled are known by the company they kept."""

import random
from pathlib import Path

from regard.checkpoint import load
from regard.evaluate import evaluate
from regard.train import train
from tests.helpers import lines_file, recipe

WARM, COLD = "abcdefgh", "stuvwxyz"  # in the few labelled texts stand the first two of each alone
SYSTEM = {"width": 24, "heads": 2, "depth": 2, "context": 12}


def said(chance: random.Random, words: str) -> str:
    return " ".join(chance.choice(words) for _ in range(3))


def stories(folder: Path) -> str:
    """What is said of warm things ends with 1, of cold ones with 0."""
    chance = random.Random(1)
    lines = [f"{said(chance, group)}\t{end}" for _ in range(600) for group, end in ((WARM, "1"), (COLD, "0"))]
    return lines_file(folder / "stories.tsv", lines)


def labelled(folder: Path, name: str, warm: str, cold: str, count: int) -> str:
    chance = random.Random(2)
    lines = [
        f"{said(chance, group)}\t{label}" for _ in range(count) for group, label in ((warm, "warm"), (cold, "cold"))
    ]
    return lines_file(folder / name, lines)


def accuracy(folder: Path, name: str, start_from: Path | None) -> float:
    few = labelled(folder, "few.tsv", WARM[:2], COLD[:2], 8)
    test = labelled(folder, "test.tsv", WARM[2:], COLD[2:], 100)
    made = recipe(
        "bert",
        data={"train": few, "valid": few, "test": test},
        text={"kind": "word"},
        system=SYSTEM,
        objective={"kind": "classification"},
        train={"steps": 40, "batch_tokens": 200, "rate": 3e-3, "warmup": 5, "evaluate_every": 40, "threads": 1},
    )
    return evaluate([load(train(made, folder / name, start_from=start_from, quiet=True))])["accuracy"]


def test_a_pre_trained_body_knows_words_that_no_label_was_given_for(tmp_path: Path) -> None:
    made = recipe(
        "bert",
        data={"train": stories(tmp_path)},
        text={"kind": "word"},
        system=SYSTEM,
        objective={"kind": "masked-pairs", "share": 0.3},
        train={"steps": 400, "batch_tokens": 300, "rate": 4e-3, "warmup": 20, "evaluate_every": 400, "threads": 1},
    )
    body = train(made, tmp_path / "body", quiet=True)
    found = evaluate([load(body)])
    assert found["loss"] < found["unigram_entropy"] - 0.5
    assert accuracy(tmp_path, "tuned", body) >= 0.9
    assert accuracy(tmp_path, "scratch", None) <= 0.75
