"""Full attention, Linformer and BigBird at equal size: how well each guesses hidden words of long texts (S8, S11, S12).

    python benchmarks/masked.py DIR [--ways full linformer bigbird] [--seeds 0 1 2] [--steps N] [--seconds S]
        [--workers N] [--device cuda] [--out FOLDER]

DIR holds a corpus as lines of text, such as WikiText-2: train.txt, valid.txt and test.txt. For each way of looking and
each seed a small BERT learns to guess hidden words of windows of 1,024 tokens; loss and accuracy are those of the
hidden words of test. All else is the same for all: words, size, steps, and for each seed the order of the texts and
what is hidden. What was measured on these files stands in FOLDER/results.json and is not measured again.
"""

import argparse
import json
import statistics
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from trials import Plan, Result, digest, ended, kept, limits, recipe_in, spread, table

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
    system, train = {**SETTINGS["system"], **WAYS[way]}, {**SETTINGS["train"], **asked}
    return {**SETTINGS, "seed": seed, "system": system, "train": train}


def measure(plan: Plan, data: dict[str, str]) -> Result:
    """Train one model and let it guess."""
    import regard
    from regard.evaluate import evaluate
    from regard.recipe import Recipe
    from regard.systems import parameters
    from regard.train.device import choose_device

    recipe = Recipe.parse({**recipe_in(plan), "data": data}, where="masked.py")
    with tempfile.TemporaryDirectory() as folder:
        run = regard.train(recipe, Path(folder) / "run", quiet=True)
        told = json.loads((run / "report.json").read_text())["measured"]
        loaded = regard.load(run, device=str(choose_device(recipe.train.device)))
        found = evaluate([loaded])
    return {
        **{name: found[name] for name in ("loss", "accuracy", "unigram_entropy", "tokens")},
        "parameters": parameters(loaded.model),
        "steps": told["steps"],
        "train_seconds": round(told["seconds"], 1),
    }


def row(way: str, same: list[Result]) -> list[str]:
    losses, right = ([each[score] for each in same] for score in ("loss", "accuracy"))
    steps, seconds = (statistics.mean(each[fact] for each in same) for fact in ("steps", "train_seconds"))
    size = f"{same[0]['parameters']:,}"
    return [f"`{way}`", spread(losses, 3), spread(right, 1, times=100), size, f"{steps:,.0f}", f"{seconds:.0f}"]


def way_of(result: Result) -> str:
    return result["plan"]["system"].get("attention", "full")


def arguments() -> argparse.Namespace:
    about = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about.add_argument("folder", type=Path)
    about.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    about.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    about.add_argument("--steps", type=int, help=f"of each training; by default {SETTINGS['train']['steps']:,}")
    about.add_argument("--seconds", type=float, help="the most that a training may take")
    about.add_argument("--workers", type=int, default=1, help="trainings at a time, one thread each")
    about.add_argument("--device", default="auto")
    about.add_argument("--out", type=Path, default=Path("runs/masked-benchmark"))
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
