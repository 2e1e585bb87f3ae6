"""Do trees help to guess hidden words? Positions by dependency syntax (Wang et al., 2019) beside those in the line.

    python benchmarks/syntax.py DIR [--positions sinusoidal shaw syntax] [--seeds 0 1 2] [--steps N] [--seconds S]
        [--workers N] [--out FOLDER]

DIR holds a treebank of Universal Dependencies, such as English-EWT: NAME-ud-train.conllu, NAME-ud-dev.conllu and
NAME-ud-test.conllu. For each position and seed a small BERT learns to guess hidden words of train; loss and accuracy
are those of the hidden words of test. All else is the same for all: words, vocabulary, size, steps, and for each seed
the order of the sentences and what is hidden. What was measured on these files stands in
FOLDER/results.json, and is not measured again.
"""

import argparse
import statistics
from functools import partial
from pathlib import Path
from typing import Any

from trials import Plan, Result, digest, ended, guessed, kept, limits, parser, recipe_in, spread, table, varied

SPLITS = {"train": "train", "valid": "dev", "test": "test"}
POSITIONS = ("sinusoidal", "shaw", "syntax")
SETTINGS: dict[str, Any] = {
    "text": {"kind": "bpe", "vocabulary": 4000},
    "system": {"kind": "bert", "width": 128, "heads": 4, "depth": 3, "hidden": 256, "context": 128, "segments": 1},
    "objective": {"kind": "masked", "trees": True, "whole_words": True},
    "train": {"steps": 2000, "batch_tokens": 1024, "rate": 1e-3, "warmup": 200, "evaluate_every": 10**6, "threads": 1},
}


def files(folder: Path) -> dict[str, str]:
    """The treebank's three files."""
    from regard.errors import UserError

    found = {split: sorted(folder.glob(f"*-ud-{name}.conllu")) for split, name in SPLITS.items()}
    for split, paths in found.items():
        if len(paths) != 1:
            raise UserError(f"{folder} has {len(paths)} files *-ud-{SPLITS[split]}.conllu; one is needed, see --help")
    return {split: str(path.absolute()) for split, (path,) in found.items()}


def plan(position: str, seed: int, asked: dict[str, Any]) -> Plan:
    """All that a result depends on, but for the data."""
    return varied(SETTINGS, seed, system={"position": position}, train=asked)


def measure(plan: Plan, data: dict[str, str]) -> Result:
    """Train one model and let it guess."""
    return guessed({**recipe_in(plan), "data": data}, "syntax.py")


def rows(results: list[Result]) -> list[list[str]]:
    """For each position the means and spreads over seeds, and by how much it is below the first of them."""
    by_seed = {(each["plan"]["system"]["position"], each["plan"]["seed"]): each for each in results}
    names = [name for name in POSITIONS if any(name == key[0] for key in by_seed)]
    seeds = sorted({seed for _, seed in by_seed})
    found = [["position", "loss", "accuracy", f"loss below {names[0]}, seed by seed", "parameters", "steps", "seconds"]]
    for name in names:
        mine = [by_seed[name, seed] for seed in seeds if (name, seed) in by_seed]
        below = [
            f"{by_seed[names[0], seed]['loss'] - by_seed[name, seed]['loss']:+.3f}"
            for seed in seeds
            if (name, seed) in by_seed and (names[0], seed) in by_seed
        ]
        seconds = statistics.mean(each["train_seconds"] for each in mine)
        losses, right = ([each[score] for each in mine] for score in ("loss", "accuracy"))
        rest = [f"{mine[0]['parameters']:,}", str(mine[0]["steps"]), f"{seconds:.0f}"]
        found.append([name, spread(losses, 3), spread(right, 1, times=100), " ".join(below), *rest])
    return found


def arguments() -> argparse.Namespace:
    about = parser(__doc__, "syntax-benchmark")
    about.add_argument("folder", type=Path)
    about.add_argument("--positions", nargs="+", choices=POSITIONS, default=list(POSITIONS))
    return about.parse_args()


def main() -> None:
    given = arguments()
    data, asked = files(given.folder), limits(given.steps, given.seconds)
    corpus = {"corpus": digest(data.values())}
    plans = [plan(position, seed, asked) | corpus for seed in given.seeds for position in given.positions]
    results = kept(plans, partial(measure, data=data), given.out, workers=given.workers)
    print(table(*rows(results)))


if __name__ == "__main__":
    ended(main)
