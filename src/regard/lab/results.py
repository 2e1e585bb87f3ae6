"""The results of a comparison: of every member mean and spread over its seeds, and how far it stands from the best."""

import math
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from regard.checkpoint import read_json
from regard.errors import UserError
from regard.evaluate.cost import Cost
from regard.lab import bootstrap
from regard.lab.plan import Member
from regard.lab.sweep import Choice

COUNTS = (  # numbers of an evaluation that are no scores
    *("tokens", "seconds", "unknown", "cut", "too_long", "examples", "confusion"),
    *("baseline", "pronoun_cases", "pronoun_baseline", "words", "sentences", "spans", "new_words"),
)

Numbers = dict[str, list[np.ndarray]]  # of each member, for each seed


@dataclass(frozen=True)
class Entry:
    """What is known of one member when all is done; without a choice it failed before its first run."""

    member: Member
    choice: Choice | None
    files: list[Path]
    error: str = ""

    def runs(self) -> list[dict[str, Any]]:
        return [found for path in self.files if path.exists() and "error" not in (found := read_json(path))]

    def errors(self) -> list[str]:
        found = [read_json(path).get("error", "") if path.exists() else "not reached" for path in self.files]
        return [line for line in (self.error, *found) if line]


def gather(entries: list[Entry], *, sustained: float) -> dict[str, Any]:
    """Everything that table and picture are made from, with what each example got."""
    same_tokenizer({entry.member.name: [run["tokenizer"] for run in entry.runs()] for entry in entries})
    members = [described(entry, sustained) for entry in entries]
    examples = {entry.member.name: [run["examples"] for run in entry.runs()] for entry in entries}
    score, numbers = measured(examples)
    why, kept = unpaired([runs for entry in entries if (runs := entry.runs())], numbers), shared(examples)
    if not why:
        compared(members, numbers, score)
        if "source" in kept:
            lengths(members, numbers, score, kept["source"])
    ranked_by = score.name if numbers else ""
    return {"score": ranked_by, "members": members, "paired": not why, "unpaired": why, "examples": kept}


def same_tokenizer(fingerprints: dict[str, list[str]]) -> None:
    """Losses per token are of one measure only where all cut the text alike."""
    every = [(name, each) for name, found in fingerprints.items() for each in found]
    for name, each in every:
        if each != every[0][1]:
            raise UserError(
                f"{name} and {every[0][0]} have different tokenizers, so that their losses per token do not compare: "
                "the data changed in between; give another --out"
            )


def described(entry: Entry, sustained: float) -> dict[str, Any]:
    """One member: its settings, its runs and their figures."""
    runs = []
    for run in entry.runs():
        counted = run["tokens"] * entry.member.rehearsal.flops_per_token
        cost = Cost(counted, run["seconds"], sustained)
        facts = {name: value for name, value in run.items() if name != "examples"}
        speed = run["tokens"] / run.get("training_seconds", max(run["seconds"], 1e-9))  # an older run has none of these
        runs.append({**facts, "tokens_per_second": speed, "flops": cost.flops, "flops_2017": cost.estimate})
    return {
        "member": entry.member.name,
        "parameters": entry.member.rehearsal.parameters,
        **(vars(entry.choice) if entry.choice else {}),
        "runs": runs,
        "figures": figures(runs),
        "errors": entry.errors(),
    }


def figures(runs: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Mean and spread (the standard deviation over seeds) of every number the runs have."""
    rows = []
    for run in runs:
        row = {
            name: run[name] for name in ("tokens", "seconds", "tokens_per_second", "flops", "flops_2017", "valid_loss")
        }
        rows.append(row | flat({k: v for k, v in run["scores"].items() if k not in COUNTS}))
    names = [name for name in rows[0] if all(name in row for row in rows)] if rows else []
    return {name: spread([row[name] for row in rows]) for name in names}


def spread(each: list[float]) -> dict[str, Any]:
    return {
        "mean": statistics.fmean(each),
        "spread": statistics.stdev(each) if len(each) > 1 else None,
        "each": each,
    }


def flat(scores: dict[str, Any]) -> dict[str, float]:
    """Numbers by name; those of a table as `perplexity_word`. A perplexity too large for a float is left out."""
    found: dict[str, float] = {}
    for name, value in scores.items():
        if isinstance(value, dict):
            found |= {f"{name}_{key}": number for key, number in flat(value).items()}
        elif isinstance(value, int | float) and math.isfinite(value):
            found[name] = value
    return found


def measured(examples: dict[str, list[dict[str, Any]]]) -> tuple[bootstrap.Score, Numbers]:
    """The score to rank by, and of each member and seed the numbers of every example that it is made from."""
    score, numbers = bootstrap.LOSS, Numbers()
    for name, runs in examples.items():
        if found := [made for run in runs if (made := bootstrap.statistics(run)) is not None]:
            score, numbers[name] = found[0][0], [each for _, each in found]
    return score, numbers


def unpaired(found: list[list[dict[str, Any]]], numbers: Numbers) -> str:
    """Why the same examples cannot be drawn again for all, given each member's runs; empty where they can."""
    if not found:
        return "no run was finished"
    if sum(map(len, numbers.values())) < sum(map(len, found)):
        return "the evaluation of some runs kept nothing of single test examples"
    asked = [{run["seed"]: run["examples"].get("asked") for run in runs} for runs in found]
    if any(each is not None for seeds in asked for each in seeds.values()) and any(each != asked[0] for each in asked):
        return (
            "runs that guess hidden words were not all asked the same (windows of another length, system.context, hide "
            "others, and so does another seed); compare each loss with its unigram entropy"
        )
    sizes = {len(each) for runs in numbers.values() for each in runs}
    if len(sizes) > 1:
        return "members were not measured on the same test examples"
    return "the test is a single example" if sizes == {1} else ""


def compared(members: list[dict[str, Any]], numbers: Numbers, score: bootstrap.Score) -> None:
    """Put the distance from the best into each member, and with whom it shares that place."""
    drawn = {name: bootstrap.draw(runs, score, member=i) for i, (name, runs) in enumerate(numbers.items())}
    best = (max if score.higher_is_better else min)(drawn, key=lambda name: drawn[name].observed)
    first = [name for name in drawn if math.isclose(drawn[name].observed, drawn[best].observed)]
    for member in members:
        if (name := member["member"]) in numbers:
            member["best"] = first == [name]
            member["tied"] = [other for other in first if other != name] if name in first else []
            facts = {"score": score.name, "best": best, "draws": bootstrap.DRAWS}
            distance = bootstrap.against(drawn[best], drawn[name], score)
            member["against_best"] = None if name == best else {**facts, **distance}


def lengths(members: list[dict[str, Any]], numbers: Numbers, score: bootstrap.Score, sources: list[str]) -> None:
    """Put the score by length of the source into each member."""
    for member in members:
        if (name := member["member"]) in numbers:
            member["by_length"] = bootstrap.by_length(sources, numbers[name], score)


def shared(examples: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """What is the same for all once, and what each seed of each member gave."""
    same = next((runs[0] for runs in examples.values() if runs), {})
    common: dict[str, Any] = {name: same[name] for name in ("source", "reference") if name in same}
    own = {
        member: [{name: each for name, each in run.items() if name not in common} for run in runs]
        for member, runs in examples.items()
    }
    return {**common, "members": own}
