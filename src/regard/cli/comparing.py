"""The command that compares systems."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from regard.cli.options import Json, Settings, flag, several
from regard.cli.output import emit, note, rows
from regard.errors import UserError


def compare(
    presets: Annotated[list[str], several("Names of presets or paths of .toml files.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="Folder of the comparison; the same command goes on there.")],
    set_: Settings = (),
    seeds: Annotated[int, Parameter(help="Train each so many times.")] = 3,
    budget_tokens: Annotated[float | None, Parameter(help="Predicted tokens for each training.")] = None,
    budget_flops: Annotated[float | None, Parameter(help="Counted FLOPs for each training.")] = None,
    budget_seconds: Annotated[float | None, Parameter(help="Seconds for each training.")] = None,
    sweep: Annotated[
        str, Parameter(help="How each is tuned first: full (learning rate, then dropout), rate, or none.")
    ] = "full",
    jobs: Annotated[int, Parameter(help="Trainings side by side.")] = 1,
    quiet: Annotated[bool, flag("No progress.")] = False,
    json: Json = False,
) -> int:
    """Train systems on the same data under one budget and tell which is better. Exit 1 when one of them failed."""
    from regard.lab.compare import compare as work
    from regard.lab.plan import Budget

    amounts = {"tokens": budget_tokens, "flops": budget_flops, "seconds": budget_seconds}
    given = [Budget(kind, amount) for kind, amount in amounts.items() if amount is not None]
    if len(given) > 1:
        raise UserError(f"--budget-{given[0].kind} and --budget-{given[1].kind}: give one budget")
    results = work(
        presets,
        list(set_),
        out=out,
        seeds=seeds,
        budget=given[0] if given else None,
        sweep=sweep,
        jobs=jobs,
        quiet=quiet,
        say=(lambda line: None) if quiet else note,
    )
    emit(results, json, lambda: show(results, out))
    return 1 if any(member["errors"] for member in results["members"]) else 0


def show(results: dict[str, Any], out: Path) -> None:
    """The table, translations by length, what failed, and where everything is."""
    from regard.lab.table import by_words, cost_rows, failures, length_rows, score_rows

    for table in (cost_rows(results), score_rows(results)):
        rows(table, tuple(table[0]))
        print()
    if by_length := length_rows(results):
        print(f"{by_words(results)} (how many texts)")
        rows(by_length, tuple(by_length[0]))
    for line in failures(results):
        note(f"FAILED: {line}")
    for line in results["notes"]:
        note(line)
    print(f"\n{out}/table.md  plot.svg  plot.png  results.json  sweep.json")
