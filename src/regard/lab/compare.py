"""The fair comparison (C3, C19): the same data, the same budget, the same search for settings, several seeds.

The folder holds `compare.json` (the plan, written first), `sweep.json` (every trial), `runs/` (one run for each member
and seed), `scores/`, and at the end `results.json`, `table.md`, `plot.svg` and `plot.png`. What is finished is not done
again: the same command goes on where it stopped.
"""

import os
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint import read_json, write, write_json
from regard.errors import Interrupted, UserError, one_of
from regard.evaluate.cost import sustained
from regard.evaluate.translation import metrics
from regard.lab.member import trained
from regard.lab.notes import explained
from regard.lab.plan import (
    PLAN,
    PREPARED,
    Asked,
    Budget,
    Member,
    Rehearsal,
    alike,
    ask,
    line,
    member,
    opened,
    rehearse,
    smallest,
    summary,
)
from regard.lab.plot import picture
from regard.lab.results import Entry, gather, same_tokenizer
from regard.lab.sweep import STAGES, SWEEP, Choice, failure, sweep
from regard.lab.table import markdown
from regard.lab.units import Hands, Say, Unit
from regard.recipe import Embed, Recipe, Train, read
from regard.train.device import choose_device, choose_precision
from regard.train.run import settle

RESULTS, TABLE, PLOT = "results.json", "table.md", "plot"


def compare(
    presets: list[str],
    settings: list[str] | None = None,
    *,
    out: Path | str,
    seeds: int = 3,
    budget: Budget | None = None,
    sweep: str = "full",
    jobs: int = 1,
    quiet: bool = True,
    say: Say = lambda line: None,
) -> dict[str, Any]:
    """Train and score every preset under one budget; the results, which are also written to the folder."""
    out = Path(out)
    one_of("sweep", sweep, STAGES)
    check_jobs(jobs, budget)
    asked = ask(presets, settings or [], seeds=seeds, budget=budget, sweep=sweep)
    check_twins(asked, presets, settings or [])
    check_scores(asked)
    try:
        return carried_out(asked, out, Hands(jobs, quiet, say))
    except (Interrupted, KeyboardInterrupt):
        raise Interrupted("stopped; what is done is kept, and the same command goes on") from None


def check_jobs(jobs: int, budget: Budget | None) -> None:
    if jobs < 1:
        raise UserError(f"--jobs {jobs}: at least 1 is needed")
    if jobs > 1 and budget is not None and budget.kind == "seconds":
        raise UserError(
            f"--budget-seconds with --jobs {jobs}: trainings side by side slow each other down, so that equal seconds "
            "are no equal budget; leave --jobs at 1, or give --budget-tokens or --budget-flops"
        )


def check_twins(asked: Asked, presets: list[str], settings: list[str]) -> None:
    """Two members that are one recipe would be trained only to tell a tie."""
    for (one, first), (other, second) in combinations(asked.recipes.items(), 2):
        if bare(first) != bare(second):
            continue
        pair = [preset for preset in presets if Path(preset).stem in (one, other)]
        guilty = [each for i, each in enumerate(settings) if differ(pair, settings[:i] + settings[i + 1 :])]
        if not guilty and differ(pair, []):
            guilty = settings
        given = "".join(f" --set {each}" for each in guilty)
        same = f"{one} and {other} are the same recipe{' with' if given else ''}{given}: nothing is compared"
        if not given and read(pair[0], settings) != read(pair[1], settings):
            same += "; data, text, objective, decoding and size of batches are the first preset's for all"
        raise UserError(same)


def differ(pair: list[str], settings: list[str]) -> bool:
    """Whether two presets would be two members with these settings."""
    try:
        one, other = (read(preset, settings) for preset in pair)
        return bare(alike(one, one, "")) != bare(alike(one, other, ""))
    except UserError:
        return False


def bare(recipe: Recipe) -> Recipe:
    """What decides about a member's training and scores."""
    return replace(recipe, embed=Embed(), train=replace(recipe.train, log_every=1, save_every=1))


def check_scores(asked: Asked) -> None:
    """What scores translations is needed only when all are trained: that it is missing is told now."""
    if "source" in asked.recipe.objective.columns:
        try:
            metrics(lowercase=False, tokenize="13a")
        except ImportError as error:
            raise UserError(f"translations cannot be scored: {error}; pip install sacrebleu") from None


def carried_out(asked: Asked, out: Path, hands: Hands) -> dict[str, Any]:
    plan = opened(asked, out, hands.say)
    share_cores(hands.jobs, asked.recipe.train)
    members, failed = rehearsed(asked, plan, out, hands.say)
    hands.say(line(Budget(**plan["budget"]), asked))
    for each in members:
        hands.say(summary(each))
    chosen = sweep(members, asked.sweep, out, hands)
    entries = [entry(each, chosen.get(each.name), asked, out) for each in members]
    hands.carry_out(units(entries, asked, out))
    results = gather(entries, sustained=plan["sustained"])
    results["members"] += [{"member": n, "parameters": 0, "runs": [], "figures": {}, "errors": [e]} for n, e in failed]
    results["sweep"] = read_json(out / SWEEP)
    results = {**explained(asked, plan, results), **results, "plan": plan}
    publish(results, out, hands.say)
    return results


def share_cores(jobs: int, settings: Train) -> None:
    """Trainings side by side divide the machine among them, unless the settings say how many threads each has."""
    if jobs > 1 and not settings.threads:
        torch.set_num_threads(min(torch.get_num_threads(), max(1, (os.cpu_count() or 1) // jobs)))


def rehearsed(asked: Asked, plan: dict[str, Any], out: Path, say: Say) -> tuple[list[Member], list[tuple[str, str]]]:
    """Everyone after a rehearsal, under the budget; and who failed in it. What was measured before stays."""
    failed, found = [], {name: Rehearsal(**facts) for name, facts in plan["rehearsals"].items()}
    for name, recipe in asked.recipes.items():
        if name not in found:
            say(f"rehearsing {name}")
            try:
                found[name] = rehearse(recipe, asked.batch_tokens[name], out / PREPARED / name)
            except Exception as error:
                say(f"{name} FAILED: {error}")
                failed.append((name, f"{type(error).__name__}: {error}"))
    if not found:
        raise UserError(f"nobody can take part; {failed[0][0]}: {failed[0][1]}")
    same_tokenizer({name: [each.tokenizer] for name, each in found.items()})
    if plan["sustained"] is None:
        settings = asked.recipe.train
        settle(settings)
        device = choose_device(settings.device)
        plan["sustained"] = sustained(device, choose_precision(settings.precision, device))
    plan["budget"] = plan["budget"] or asdict(asked.budget or smallest(asked, found))
    plan["rehearsals"] = {name: asdict(each) for name, each in found.items()}
    write_json(out / PLAN, plan)
    budget = Budget(**plan["budget"])
    return [member(name, asked.recipes[name], each, budget) for name, each in found.items()], failed


def entry(each: Member, choice: Choice | None, asked: Asked, out: Path) -> Entry:
    if choice is None:
        return Entry(each, None, [], failure(each.name, out))
    seeds = range(asked.recipe.seed, asked.recipe.seed + asked.seeds)
    return Entry(each, choice, [out / "scores" / f"{each.name}-{seed}.json" for seed in seeds])


def units(entries: list[Entry], asked: Asked, out: Path) -> list[Unit]:
    """Seed by seed, so that an early end leaves every member with as many runs as the others."""
    found = []
    for number in range(asked.seeds):
        seed = asked.recipe.seed + number
        for each in entries:
            if each.choice is not None:
                name = each.member.name
                recipe = replace(each.choice.within(each.member.recipe), seed=seed)
                args = recipe, out / PREPARED / name, out / "runs" / f"{name}-{seed}"
                what, seconds = f"{name}, seed {seed}", each.member.seconds
                found.append(Unit(what, trained, args, each.files[number], seconds, "valid_loss"))
    return found


def publish(results: dict[str, Any], out: Path, say: Say) -> None:
    """Write everything; the picture where there is something to see and matplotlib to draw it."""
    write_json(out / RESULTS, results)
    write(out / TABLE, markdown(results).encode())
    if not any(member["figures"] for member in results["members"]):
        return
    try:
        for form in ("svg", "png"):
            write(out / f"{PLOT}.{form}", picture(results, form))
    except ImportError as error:
        say(f"no picture: {error}; where it is installed, the same command draws it")
