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


def spelt(
    folder: Path, kind: str, *, steps: int = 200, longest: int = 5, tokens: int = 300, rate: float = 1e-2, **system: Any
) -> float:
    """The share of short words never seen that a small translator spells backwards without a mistake."""
    files = {}
    for split, count in (("train", 2000), ("test", 200)):
        pairs = [f"{word}\t{word[::-1]}" for word in words(count, range(2, longest + 1), split)]
        files[split] = lines_file(folder / f"{split}.tsv", pairs)
    run = trained(
        folder,
        kind,
        {**files, "valid": files["test"]},
        system={"width": 48, "context": 16, **system},
        objective={"smoothing": 0.0},
        train={"steps": steps, "batch_tokens": tokens, "rate": rate},
    )
    return evaluate([run])["exact_match"]


def copied(
    folder: Path, kind: str, lengths: range, *, steps: int, tokens: int = 500, rate: float = 1e-2, **system: Any
) -> tuple[float, float]:
    """Nats per letter that a small language model needs for both halves of `abcd|abcd`.

    The first half is chance; the second is there to be read off, so a model that can look back needs none for it.
    """
    files = {}
    for split, count in (("train", 3000), ("test", 100)):
        lines = [f"{word}|{word}" for word in words(count, lengths, split, "abcdefgh")]
        files[split] = lines_file(folder / f"{split}.txt", lines)
    run = trained(
        folder,
        kind,
        {**files, "valid": files["test"], "document": "line"},
        system=system,
        train={"steps": steps, "batch_tokens": tokens, "rate": rate},
    )
    lines = Path(files["test"]).read_text().splitlines()
    found = decode.score(run.model, run.tokenizer, [run.tokenizer.encode(line) for line in lines])
    first = [x for line, row in zip(lines, found, strict=True) for x in row[: line.index("|")]]
    second = [x for line, row in zip(lines, found, strict=True) for x in row[line.index("|") + 1 : len(line)]]
    return -mean(first), -mean(second)
