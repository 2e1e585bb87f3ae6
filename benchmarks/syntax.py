"""Do trees help to guess hidden words? Positions by dependency syntax (Wang et al., 2019) beside those in the line.

    python benchmarks/syntax.py DIR [--positions sinusoidal shaw syntax] [--seeds 0 1 2] [--steps N] [--seconds S]
        [--workers N] [--out FOLDER]

DIR holds a treebank of Universal Dependencies, such as English-EWT: NAME-ud-train.conllu, NAME-ud-dev.conllu and
NAME-ud-test.conllu. For each position and seed a small BERT learns to guess hidden words of train; loss and accuracy
are those of the hidden words of test. All else is the same for all: words, vocabulary, size, steps, and for each seed
the order of the sentences and what is hidden. What was measured stands in FOLDER/results.json, and is not measured
again.
"""

import argparse
import json
import statistics
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

SPLITS = {"train": "train", "valid": "dev", "test": "test"}
POSITIONS = ("sinusoidal", "shaw", "syntax")
SETTINGS = {
    "text": {"kind": "bpe", "vocabulary": 4000},
    "system": {"kind": "bert", "width": 128, "heads": 4, "depth": 3, "hidden": 256, "context": 128, "segments": 1},
    "objective": {"kind": "masked", "trees": True, "whole_words": True},
    "train": {"steps": 2000, "batch_tokens": 1024, "rate": 1e-3, "warmup": 200, "evaluate_every": 10**6, "threads": 1},
}
Result = dict[str, Any]


def files(folder: Path) -> dict[str, str]:
    """The treebank's three files."""
    from regard.errors import UserError

    found = {split: sorted(folder.glob(f"*-ud-{name}.conllu")) for split, name in SPLITS.items()}
    for split, paths in found.items():
        if len(paths) != 1:
            raise UserError(f"{folder} has {len(paths)} files *-ud-{SPLITS[split]}.conllu; one is needed, see --help")
    return {split: str(path.absolute()) for split, (path,) in found.items()}


def measure(position: str, seed: int, data: dict[str, str], train: dict[str, Any]) -> Result:
    """Train one model and let it guess."""
    import regard
    from regard.evaluate import evaluate
    from regard.recipe import Recipe
    from regard.systems import parameters

    system = {**SETTINGS["system"], "position": position}
    values = {**SETTINGS, "seed": seed, "data": data, "system": system, "train": {**SETTINGS["train"], **train}}
    with tempfile.TemporaryDirectory() as folder:
        run = regard.load(regard.train(Recipe.parse(values, where="syntax.py"), Path(folder) / "run", quiet=True))
        told = json.loads((run.path / "report.json").read_text())["measured"]
        found = evaluate([run])
    about = {"position": position, "seed": seed, "parameters": parameters(run.model)}
    return {
        **about,
        **{name: found[name] for name in ("loss", "accuracy", "unigram_entropy", "tokens")},
        **of_training(told),
    }


def of_training(told: Result) -> Result:
    return {"steps": told["steps"], "train_seconds": round(told["seconds"], 1)}


def rows(results: list[Result]) -> list[list[str]]:
    """For each position the means and spreads over seeds, and by how much it is below the first of them."""
    by_seed = {(each["position"], each["seed"]): each for each in results}
    names, seeds = (list(dict.fromkeys(key[i] for key in by_seed)) for i in (0, 1))
    table = [["position", "loss", "accuracy", f"loss below {names[0]}, seed by seed", "parameters", "steps", "seconds"]]
    for name in names:
        mine = [by_seed[name, seed] for seed in seeds if (name, seed) in by_seed]
        below = [
            f"{by_seed[names[0], seed]['loss'] - by_seed[name, seed]['loss']:+.3f}"
            for seed in seeds
            if (name, seed) in by_seed and (names[0], seed) in by_seed
        ]
        seconds = statistics.mean(each["train_seconds"] for each in mine)
        spreads = [spread([each["loss"] for each in mine], 1, 3), spread([each["accuracy"] for each in mine], 100, 1)]
        rest = [f"{mine[0]['parameters']:,}", str(mine[0]["steps"]), f"{seconds:.0f}"]
        table.append([name, *spreads, " ".join(below), *rest])
    return table


def spread(values: list[float], times: float, digits: int) -> str:
    """Mean and standard deviation over seeds."""
    values = [times * value for value in values]
    beside = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{beside}"


def show(table: list[list[str]]) -> None:
    for row in [table[0], ["---"] * len(table[0]), *table[1:]]:
        print("| " + " | ".join(row) + " |", flush=True)


def wanted(given: argparse.Namespace) -> dict[str, Any]:
    limits = {"steps": given.steps, "max_seconds": given.seconds}
    return {name: value for name, value in limits.items() if value is not None}


def arguments() -> argparse.Namespace:
    about = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about.add_argument("folder", type=Path)
    about.add_argument("--positions", nargs="+", default=list(POSITIONS))
    about.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    about.add_argument("--steps", type=int, help=f"of each training; by default {SETTINGS['train']['steps']}")
    about.add_argument("--seconds", type=float, help="the most that a training may take")
    about.add_argument("--workers", type=int, default=1, help="trainings at a time, one thread each")
    about.add_argument("--out", type=Path, default=Path("runs/syntax-benchmark"))
    return about.parse_args()


def main() -> None:
    given = arguments()
    data, train, out = files(given.folder), wanted(given), given.out / "results.json"
    setting = json.loads(json.dumps({**SETTINGS, "given": train}))
    kept = json.loads(out.read_text()) if out.is_file() else {}
    results = kept["results"] if kept.get("setting") == setting else []
    done = {(each["position"], each["seed"]) for each in results}
    left = [(p, s) for s in given.seeds for p in given.positions if (p, s) not in done]
    given.out.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(given.workers, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(measure, position, seed, data, train) for position, seed in left]
        for each in waiting:
            results.append(each.result())
            out.write_text(json.dumps({"setting": setting, "results": results}, indent=2) + "\n")
            print(json.dumps(results[-1]), flush=True)
    order = {name: i for i, name in enumerate(given.positions)}
    chosen = [each for each in results if each["position"] in order and each["seed"] in given.seeds]
    show(rows(sorted(chosen, key=lambda each: (order[each["position"]], each["seed"]))))


if __name__ == "__main__":
    main()
