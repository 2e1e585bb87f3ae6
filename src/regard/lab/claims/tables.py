"""`regard compare` for experiments that are tables of systems."""

import json
import os
from collections.abc import Iterator
from typing import Any

from regard.errors import WorldError
from regard.lab.claims.trial import Arm, Row, Trial
from regard.lab.compare import compare
from regard.lab.plan import Budget


def rows(trial: Trial, arms: dict[str, Arm], *settings: str, name: str = "table") -> Iterator[tuple[Row, dict]]:
    """Each arm and seed after the same number of predicted tokens: what any table tells of it, and its scores."""
    place, members = trial.folder / name, []
    place.mkdir(exist_ok=True)
    for each, arm in arms.items():
        recipe = trial.recipe(*settings, arm=arm, seed=trial.seeds[0])
        members.append(str(place / f"{each}.toml"))
        (place / f"{each}.toml").write_text(as_toml(recipe.to_dict()), encoding="utf-8")
    budget = Budget("tokens", trial.size["tokens"])
    found = compare(members, out=place / "out", seeds=len(trial.seeds), budget=budget, sweep="none", jobs=beside(trial))
    for member in found["members"]:
        if len(member["runs"]) < len(trial.seeds):
            raise WorldError(f"{member['member']}: {'; '.join(member['errors'])}")
        for run in member["runs"]:
            yield (
                {
                    "arm": member["member"],
                    "seed": run["seed"],
                    "millions": member["parameters"] / 1e6,
                    "teraflops": run["flops"] / 1e12,
                    "steps": run["steps"],
                    "seconds": run["seconds"],
                },
                run["scores"],
            )


def beside(trial: Trial) -> int:
    """How many train side by side, each of which needs a core, wherever it computes."""
    return min(trial.size["jobs"], os.cpu_count() or 1)


def as_toml(recipe: dict[str, Any]) -> str:
    """The settings of a recipe as a file that a user would write."""
    parts = {part: values if isinstance(values, dict) else {"": values} for part, values in recipe.items()}
    leaves = {f"{part}.{key}".rstrip("."): value for part, values in parts.items() for key, value in values.items()}
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in leaves.items() if value not in (None, {}))
