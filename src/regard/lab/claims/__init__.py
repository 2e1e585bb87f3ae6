"""The laboratory: every claim of the lectures (C1-C25) as an experiment, one short file each."""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from regard.errors import UserError, suggest

if TYPE_CHECKING:
    from regard.lab.claims.experiment import Experiment


@cache
def experiments() -> dict[str, "Experiment"]:
    """By id, in order: each file beside this one that is named as a claim is one."""
    files = sorted(Path(__file__).parent.glob("c[0-9][0-9].py"))
    found = [import_module(f"{__name__}.{file.stem}").EXPERIMENT for file in files]
    return {each.id: each for each in found}


def experiment(name: str) -> "Experiment":
    every = experiments()
    if name.upper() not in every:
        raise UserError(f"no claim '{name}'{suggest(name.upper(), list(every))}; 'regard lab' lists them")
    return every[name.upper()]
