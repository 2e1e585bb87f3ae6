"""Toy tasks on which a model either learns in seconds or does not learn, and how well it did on what it never saw."""

import random
from pathlib import Path
from statistics import mean
from typing import Any

from regard import decode
from regard.checkpoint import Run, load
from regard.evaluate import evaluate
from regard.train import train
from tests.helpers import lines_file, recipe


def words(count: int, lengths: range, seed: str, letters: str = "abcdef") -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choices(letters, k=chance.choice(lengths))) for _ in range(count)]


def trained(folder: Path, kind: str, data: dict[str, Any], **sections: dict[str, Any]) -> Run:
    """A model after a short training on one thread."""
    settings = {"log_every": 100, "save_every": 10_000, "evaluate_every": 10_000, "warmup": 30, "threads": 1}
    sections["train"] = {**settings, **sections["train"]}
    return load(train(recipe(kind, data=data, **sections), folder / "run", quiet=True))


def backwards(folder: Path, **system: Any) -> float:
    """The share of short words never seen that a small Transformer spells backwards without a mistake."""
    files = {}
    for split, count in (("train", 2000), ("test", 200)):
        pairs = [f"{word}\t{word[::-1]}" for word in words(count, range(2, 6), split)]
        files[split] = lines_file(folder / f"{split}.tsv", pairs)
    run = trained(
        folder,
        "transformer",
        {**files, "valid": files["test"]},
        system={"width": 32, "hidden": 64, "context": 16, **system},
        objective={"smoothing": 0.0},
        train={"steps": 500, "batch_tokens": 400, "rate": 5e-3},
    )
    return evaluate([run])["exact_match"]


def copied(folder: Path, lengths: range, **system: Any) -> tuple[float, float]:
    """Nats per token that a small GPT needs for the first half of `abcd|abcd`, which is chance, and for the second.

    The second half and the end are there to be read off, so a model that can look back needs none.
    """
    files = {}
    for split, count in (("train", 3000), ("test", 100)):
        lines = [f"{word}|{word}" for word in words(count, lengths, split, "abcdefgh")]
        files[split] = lines_file(folder / f"{split}.txt", lines)
    run = trained(
        folder,
        "gpt",
        {**files, "valid": files["test"], "document": "line"},
        system={"width": 32, "hidden": 64, "depth": 2, "context": 60, **system},
        train={"steps": 250, "batch_tokens": 1000, "rate": 5e-3},
    )
    lines = Path(files["test"]).read_text().splitlines()
    found = decode.score(run.model, run.tokenizer, [run.tokenizer.encode(line) for line in lines])
    first = [value for line, values in zip(lines, found, strict=True) for value in values[: line.index("|")]]
    second = [value for line, values in zip(lines, found, strict=True) for value in values[line.index("|") + 1 :]]
    return -mean(first), -mean(second)
