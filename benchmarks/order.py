"""Where each attention and each position scheme succeeds and fails (C5, C12): recall, lists, and lengths never seen.

    python benchmarks/order.py [--tables NAME ...] [--seeds 0 1 2] [--steps N] [--seconds S]
        [--workers N] [--out FOLDER]

| table | what is trained, three seeds of each | told of each |
|---|---|---|
| recall | encoders that find a value by its key, with every `system.attention`; short rows first | accuracy by pairs |
| lists | the same encoders on lists within lists | accuracy by words |
| recall-positions, lists-positions | both, with every `system.position` but trees | the same, and longer |
| text | decoders that continue the standard library, with the same positions | nats per character by window |
| before | encoders that name the letter before each letter, with the same positions | accuracy by letters |
| above | encoders that guess letters by those they hang on, with trees and without | accuracy by letters |

In the last three the first column is the longest text of training, the others are longer. All of a table have the same
size, data, steps and, for each seed, order of the data. What was measured stands in FOLDER/results.json and is not
measured again; the tables go to FOLDER/order.md and to the screen.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from order_data import write_data
from order_tables import TABLES, Table
from trials import Plan, Result, ended, kept, limits, parser, spread, table, trained

NEVER = 10**6
TRAIN = {
    "warmup": 100,
    "schedule": "constant",
    "decay": 0.3,
    "weight_decay": 0.0,
    "batch_tokens": 1024,
    "rate": 2e-3,
    "threads": 1,
    "device": "cpu",
    "evaluate_every": NEVER,
    "save_every": NEVER,
}
VARIANTS = list(dict.fromkeys(variant for table in TABLES.values() for variant in table.variants))


def plan(name: str, variant: str, seed: int, asked: dict[str, Any]) -> Plan:
    """All that a result depends on: what each stage is trained by, and the tests."""
    table = TABLES[name]
    shared = {
        "seed": seed,
        "text": {"kind": table.text},
        "system": {**table.system, **table.variants[variant]},
        "objective": table.objective,
    }
    stages = [
        {**shared, "data": splits(data), "train": {**TRAIN, "steps": steps, **asked}} for data, steps in table.stages
    ]
    about = {"table": name, "variant": variant, "seed": seed, "score": table.score}
    return {**about, "stages": stages, "tests": table.tests}


def splits(data: str) -> dict[str, str]:
    """A built-in corpus has its own, files are named by theirs."""
    return {split: data.format(split=split) for split in ("train", "valid")} if "{" in data else {"train": data}


def found(name: str, folder: Path) -> str:
    """A built-in name as it is, a file where it was written."""
    return str(folder / name) if "." in name else name


def measure(plan: Plan, folder: Path) -> Result:
    """Train one model, stage after stage, and let it read all tests."""
    import regard
    from regard.systems import parameters

    named = [{split: found(where, folder) for split, where in values["data"].items()} for values in plan["stages"]]
    with tempfile.TemporaryDirectory() as place:
        stages = ({**values, "data": data} for values, data in zip(plan["stages"], named, strict=True))
        out, figures = trained(stages, Path(place), "order.py")
        told = {column: tested(out, found(data, folder), at) for column, (data, at) in plan["tests"].items()}
        size = parameters(regard.load(out).model)
    scores = {name: {column: each.get(name) for column, each in told.items()} for name in (plan["score"], "baseline")}
    return {**scores, "parameters": size, "train_seconds": round(sum(each["seconds"] for each in figures), 1)}


def tested(out: Path, data: str, context: int) -> dict[str, Any]:
    """What a run is told of data; nothing where it cannot read texts of that length."""
    import regard
    from regard.errors import UserError
    from regard.evaluate import evaluate

    try:
        run = regard.load(out, context=context)
    except UserError:
        return {}
    return evaluate([run], (data,))


def markdown(results: list[Result]) -> str:
    """For each table that was measured the means and spreads over seeds."""
    parts = []
    for name, about in TABLES.items():
        mine = [each for each in results if each["plan"]["table"] == name]
        rows = {variant: [each for each in mine if each["plan"]["variant"] == variant] for variant in about.variants}
        lines = [[f"`{variant}`", *row(same, about)] for variant, same in rows.items() if same]
        head = ["", *about.tests, "seeds", "parameters", "seconds"]
        if mine:
            parts.append(f"{about.about}\n\n{table(head, *lines, *commonest(about, mine))}")
    return "\n\n".join(parts) + "\n"


def row(same: list[Result], table: Table) -> list[str]:
    times, digits = (100, 1) if table.score == "accuracy" else (1, 3)
    cells = [spread([each[table.score][column] for each in same], digits, times=times) for column in table.tests]
    seconds = statistics.mean(each["train_seconds"] for each in same)
    return [*cells, str(len(same)), f"{same[0]['parameters']:,}", f"{seconds:.0f}"]


def commonest(table: Table, results: list[Result]) -> list[list[str]]:
    """What always saying the commonest answer of a test would get."""
    if table.score != "accuracy":
        return []
    cells = [max((each["baseline"][column] or 0.0 for each in results), default=0.0) for column in table.tests]
    if not any(cells):
        return []
    return [["the commonest answer", *(f"{100 * cell:.1f}" if cell else "" for cell in cells), "", "", ""]]


def arguments() -> argparse.Namespace:
    about = parser(__doc__, "order-benchmark", steps="stage", seconds="stage")
    about.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    about.add_argument("--variants", nargs="+", choices=VARIANTS, help="of the tables' rows these alone")
    given = about.parse_args()
    without = [name for name in given.tables if given.variants and not {*given.variants} & {*TABLES[name].variants}]
    if without == given.tables:
        known = ", ".join(TABLES[without[0]].variants)
        about.error(f"--variants: none of them is in {', '.join(without)}; {without[0]} has {known}")
    for name in without:
        print(f"{name} is left out: it has none of --variants", file=sys.stderr)
    return given


def plans(given: argparse.Namespace) -> Iterator[Plan]:
    """Seed by seed, so that what is there when time is out has all rows."""
    for seed in given.seeds:
        for name in given.tables:
            for variant in TABLES[name].variants:
                if not given.variants or variant in given.variants:
                    yield plan(name, variant, seed, limits(given.steps, given.seconds))


def main() -> None:
    given = arguments()
    data, wanted = (given.out / "data").absolute(), list(plans(given))
    write_data(data)
    results = kept(wanted, partial(measure, folder=data), given.out, workers=given.workers, tell=told)
    tables = markdown(results)
    (given.out / "order.md").write_text(tables)
    print(tables)


def told(result: Result) -> str:
    of = result["plan"]
    return f"{of['table']} {of['variant']} {of['seed']} {result[of['score']]}"


if __name__ == "__main__":
    ended(main)
