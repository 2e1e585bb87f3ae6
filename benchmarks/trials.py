"""What the measurements share: plans worked off by several processes, results that are kept, and tables of them."""

import argparse
import hashlib
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

Plan = dict[str, Any]
Result = dict[str, Any]


def ended(main: Callable[[], None]) -> None:
    """Run a script: a user's mistake, or a file that cannot be read, is one line on stderr and exit code 2."""
    from regard.errors import UserError

    try:
        main()
    except (UserError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


def digest(files: Iterable[str | Path]) -> str:
    """What files hold, in a word: a plan with it belongs to these data alone."""
    found = hashlib.sha256()
    for path in files:
        found.update(hashlib.sha256(Path(path).read_bytes()).digest())
    return found.hexdigest()[:12]


def recipe_in(plan: Plan) -> dict[str, Any]:
    """A plan's settings, without what only says which data it belongs to."""
    return {name: value for name, value in plan.items() if name != "corpus"}


def kept(
    plans: list[Plan],
    measure: Callable[[Plan], Result],
    folder: Path,
    *,
    workers: int = 1,
    tell: Callable[[Result], str] = json.dumps,
) -> list[Result]:
    """The results of all plans, each with its plan: what stands in FOLDER/results.json is not measured again."""
    file = folder / "results.json"
    results = found_in(file)
    plans = json.loads(json.dumps(plans))  # as they are read from the file
    done = [each["plan"] for each in results]
    folder.mkdir(parents=True, exist_ok=True)
    for plan, result in measured([plan for plan in plans if plan not in done], measure, workers):
        results.append({"plan": plan, **result})
        part = file.with_suffix(".part")
        part.write_text(json.dumps(results, indent=1) + "\n")
        part.replace(file)
        print(tell(results[-1]), file=sys.stderr, flush=True)
    return [each for each in results if each["plan"] in plans]


def found_in(file: Path) -> list[Result]:
    """What was measured before."""
    from regard.errors import UserError

    try:
        return json.loads(file.read_text()) if file.is_file() else []
    except json.JSONDecodeError as error:
        raise UserError(f"{file} is damaged ({error}): mend it, or give another --out") from None


def measured(plans: list[Plan], measure: Callable[[Plan], Result], workers: int) -> Iterator[tuple[Plan, Result]]:
    """Results as they are there, of so many processes."""
    if workers == 1:
        yield from ((plan, measure(plan)) for plan in plans)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(measure, plan): plan for plan in plans}
        for each in as_completed(waiting):
            yield waiting[each], each.result()


def spread(values: Sequence[float | None], digits: int, *, times: float = 1.0) -> str:
    """Mean and standard deviation over seeds; "cannot" where there is nothing."""
    known = [times * value for value in values if value is not None]
    if not known:
        return "cannot"
    beside = f" ± {statistics.stdev(known):.{digits}f}" if len(known) > 1 else ""
    return f"{statistics.mean(known):.{digits}f}{beside}"


def table(head: list[str], *rows: list[str]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def limits(steps: int | None, seconds: float | None) -> dict[str, Any]:
    """What was asked for of settings of a training."""
    found = {"steps": steps, "max_seconds": seconds}
    return {name: value for name, value in found.items() if value is not None}


def parser(
    about: str | None, out: str, *, seeds: Sequence[int] = (0, 1, 2), steps: str = "training", seconds: str = "training"
) -> argparse.ArgumentParser:
    """The options that all have which train; limits of `steps` and `seconds` belong to a training or to a stage."""
    found = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--seeds", type=int, nargs="+", default=list(seeds))
    found.add_argument("--steps", type=int, help=f"of each {steps}, in place of its own")
    found.add_argument("--seconds", type=float, help=f"the most that a {seconds} may take")
    found.add_argument("--workers", type=int, default=1, help="trainings at a time, one thread each")
    found.add_argument("--out", type=Path, default=Path("runs") / out)
    return found


def varied(settings: Plan, seed: int, *, system: dict[str, Any], train: dict[str, Any]) -> Plan:
    """Settings with another seed, and others of the system and of training."""
    parts = {"system": {**settings["system"], **system}, "train": {**settings["train"], **train}}
    return {**settings, "seed": seed, **parts}


def trained(stages: Iterable[Plan], place: Path, where: str) -> tuple[Path, list[Result]]:
    """A run that learnt stage after stage, each from the one before, and what each stage measured."""
    import regard
    from regard.recipe import Recipe

    out, told = None, []
    for number, values in enumerate(stages):
        recipe = Recipe.parse(values, where=where)
        out = regard.train(recipe, place / str(number), start_from=out, quiet=True)
        told.append(json.loads((out / "report.json").read_text())["measured"])
    assert out is not None
    return out, told


def guessed(values: Plan, where: str) -> Result:
    """What one model learns to guess of the hidden words of its test."""
    import regard
    from regard.evaluate import evaluate
    from regard.systems import parameters

    with tempfile.TemporaryDirectory() as folder:
        out, (told,) = trained([values], Path(folder), where)
        run = regard.load(out, device=device_of(values))
        found = evaluate([run])
    return {
        **{name: found[name] for name in ("loss", "accuracy", "unigram_entropy", "tokens")},
        "parameters": parameters(run.model),
        "steps": told["steps"],
        "train_seconds": round(told["seconds"], 1),
    }


def device_of(values: Plan) -> str:
    """Where a training with these settings runs."""
    from regard.train.device import choose_device

    return str(choose_device(values["train"].get("device", "auto")))
