"""Full attention, Linformer and BigBird at equal size: how well each guesses hidden words of long texts (S8, S11, S12).

    python benchmarks/masked.py DIR [--ways full linformer bigbird] [--seeds 0 1 2] [--steps N] [--seconds S]
        [--workers N] [--device cuda] [--out FOLDER]

DIR holds a corpus as lines of text, such as WikiText-2: train.txt, valid.txt and test.txt. For each way of looking and
each seed a small BERT learns to guess hidden words of windows of 1,024 tokens; loss and accuracy are those of the
hidden words of test. All else is the same for all: words, size, steps, and for each seed the order of the texts and
what is hidden. What was measured on these files stands in FOLDER/results.json and is not measured again.
"""

import argparse
import statistics
from functools import partial
from pathlib import Path
from typing import Any

from trials import Plan, Result, digest, ended, guessed, kept, limits, parser, recipe_in, spread, table, varied

SPLITS = ("train", "valid", "test")
WAYS: dict[str, dict[str, Any]] = {
    "full": {},
    "linformer": {"attention": "linformer", "projected": 128},
    "bigbird": {"attention": "bigbird", "block": 32},
}
SETTINGS: dict[str, Any] = {
    "text": {"kind": "bpe", "vocabulary": 8000},
    "system": {
        "kind": "bert",
        "width": 256,
        "heads": 4,
        "depth": 4,
        "hidden": 1024,
        "context": 1024,
        "segments": 1,
        "norm": "pre",
        "position": "rotary",
        "dropout": 0.1,
    },
    "objective": {"kind": "masked"},
    "train": {
        "steps": 12_000,
        "batch_tokens": 16_384,
        "rate": 1e-3,
        "warmup": 500,
        "schedule": "cosine",
        "evaluate_every": 10**6,
        "threads": 1,
        "compile": False,
    },
}


def files(folder: Path) -> dict[str, str]:
    """The corpus' three files."""
    from regard.errors import UserError

    found = {split: folder / f"{split}.txt" for split in SPLITS}
    for path in found.values():
        if not path.is_file():
            raise UserError(f"no such file: {path}; a folder with train.txt, valid.txt and test.txt is needed")
    return {split: str(path.absolute()) for split, path in found.items()}


def plan(way: str, seed: int, asked: dict[str, Any]) -> Plan:
    """All that a result depends on, but for the data."""
    return varied(SETTINGS, seed, system=WAYS[way], train=asked)


def measure(plan: Plan, data: dict[str, str]) -> Result:
    """Train one model and let it guess."""
    return guessed({**recipe_in(plan), "data": data}, "masked.py")


def row(way: str, same: list[Result]) -> list[str]:
    losses, right = ([each[score] for each in same] for score in ("loss", "accuracy"))
    steps, seconds = (statistics.mean(each[fact] for each in same) for fact in ("steps", "train_seconds"))
    size = f"{same[0]['parameters']:,}"
    return [f"`{way}`", spread(losses, 3), spread(right, 1, times=100), size, f"{steps:,.0f}", f"{seconds:.0f}"]


def way_of(result: Result) -> str:
    return result["plan"]["system"].get("attention", "full")


def arguments() -> argparse.Namespace:
    about = parser(__doc__, "masked-benchmark")
    about.add_argument("folder", type=Path)
    about.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    about.add_argument("--device", default="auto")
    return about.parse_args()


def main() -> None:
    given = arguments()
    data, asked = files(given.folder), {**limits(given.steps, given.seconds), "device": given.device}
    corpus = {"corpus": digest(data.values())}
    plans = [plan(way, seed, asked) | corpus for seed in given.seeds for way in given.ways]
    results = kept(plans, partial(measure, data=data), given.out, workers=given.workers)
    rows = [row(way, same) for way in given.ways if (same := [each for each in results if way_of(each) == way])]
    print(table(["attention", "loss", "right words, %", "parameters", "steps", "seconds"], *rows))


if __name__ == "__main__":
    ended(main)
