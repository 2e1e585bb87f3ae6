"""Everything the lectures describe, by id, with what implements, runs and proves it here."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parent / "lectures.toml"
NOMINAL = {"char": 100, "byte": 260}  # tokens in the vocabulary of a preset that takes what its text has, else 8,000
LABELS = 2  # of a preset that classifies


@dataclass(frozen=True)
class Entry:
    """One item. `file`, `preset` and `test` may name several, separated by spaces.

    `state` is "here" when it runs and a test proves it, "partly" when something of it is `missing`, else "planned".
    """

    id: str
    what: str
    text: str
    state: str
    file: str
    preset: str
    test: str
    missing: str


@cache
def entries() -> list[Entry]:
    """Every id in the order of the lectures' list."""
    found = []
    for name, row in tomllib.loads(TABLE.read_text(encoding="utf-8")).items():
        rest = {key: row.get(key, "") for key in ("file", "preset", "test", "missing")}
        found.append(Entry(name, row["what"], row["text"], state_of(rest), **rest))
    return found


def state_of(row: dict[str, str]) -> str:
    if not (row["file"] and row["test"]):
        return "planned"
    return "partly" if row["missing"] else "here"


def presets_table() -> list[dict[str, Any]]:
    """Every preset: lecture ids, family, parameters, task."""
    import torch

    from regard.recipe import OBJECTIVES, PRESETS, SYSTEMS, presets, read
    from regard.systems import built, parameters

    def name_of(value: Any, table: Mapping[str, type]) -> str:
        return next(kind for kind, cls in table.items() if type(value) is cls)

    table = []
    for name in presets():
        recipe = read(name)
        vocabulary = recipe.text.vocabulary or NOMINAL.get(recipe.text.kind, 8000)
        with torch.device("meta"):
            model = built(recipe.system, vocabulary, LABELS, recipe.objective.head)
        about = (PRESETS / f"{name}.toml").read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        table.append(
            {
                "preset": name,
                "lectures": [entry.id for entry in entries() if name in entry.preset.split()],
                "family": name_of(recipe.system, SYSTEMS),
                "parameters": parameters(model),
                "vocabulary": vocabulary,
                "task": name_of(recipe.objective, OBJECTIVES),
                "about": about,
            }
        )
    return table
