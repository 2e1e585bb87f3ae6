"""The page of settings has every setting of every section, with its type and default as the code has them.

Where kinds of one section differ, a cell tells each truly: "`1`; `2` of moe-lstm, transformer" is 2 for the two named
and 1 for every other kind that has the setting.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, get_origin, get_type_hints

import pytest

from regard.config import describe
from regard.data import Data
from regard.decode.settings import Decode
from regard.objectives import OBJECTIVES
from regard.recipe import Embed, Recipe, Train
from regard.systems import SYSTEMS
from regard.text import Text
from tests.docs.pages import ROOT, cells

SECTIONS: dict[str, Mapping[str, type]] = {
    "data": {"": Data},
    "text": {"": Text},
    "system": SYSTEMS,
    "objective": OBJECTIVES,
    "train": {"": Train},
    "decode": {"": Decode},
    "embed": {"": Embed},
}
ROWS = {row[0]: [cell.replace("`", "") for cell in row[1:]] for row in cells(ROOT / "docs" / "configuration.md")}


def default(field: Field) -> str:
    value: Any = field.default if field.default is not MISSING else field.default_factory()  # type: ignore[misc]
    return json.dumps(value)


def kind_of(hint: Any) -> str:
    return "a table" if get_origin(hint) is dict else describe(hint)


def settings() -> list[Any]:
    """Every setting once: its type and its default in each kind that has it."""
    found: dict[str, dict[str, tuple[str, str]]] = {"seed": {"": ("a whole number", json.dumps(Recipe().seed))}}
    for section, kinds in SECTIONS.items():
        for name, kind in kinds.items():
            hints = get_type_hints(kind)
            for field in fields(kind):
                facts = kind_of(hints[field.name]), default(field)
                found.setdefault(f"{section}.{field.name}", {})[name] = facts
    return [pytest.param(name, kinds, id=name) for name, kinds in found.items()]


def told(cell: str, kinds: list[str]) -> dict[str, str]:
    """What a cell says of each kind; a kind that does not have the setting may not be named."""
    rest, *others = cell.split("; ")
    found = dict.fromkeys(kinds, rest)
    for part in others:
        value, _, names = part.partition(" of ")
        for name in names.split(", "):
            assert name in found, f"'{part}': '{name}' has no such setting"
            found[name] = value
    return found


@pytest.mark.parametrize(("name", "kinds"), settings())
def test_a_setting_stands_in_the_page(name: str, kinds: dict[str, tuple[str, str]]) -> None:
    assert name in ROWS, f"docs/configuration.md lacks {name}: {kinds}"
    kind, shown, meaning = ROWS[name]
    assert told(kind, list(kinds)) == {each: facts[0] for each, facts in kinds.items()}
    assert told(shown, list(kinds)) == {each: facts[1] for each, facts in kinds.items()}
    assert meaning


@pytest.mark.parametrize("kind", SYSTEMS)
def test_a_system_is_listed_with_its_settings(kind: str) -> None:
    what, names = ROWS[kind]
    assert what
    assert sorted(names.split()) == sorted(field.name for field in fields(SYSTEMS[kind]))


def test_no_setting_of_the_page_is_gone() -> None:
    known = {parameter.values[0] for parameter in settings()} | {"system.kind", "objective.kind"}
    assert {name for name in ROWS if "." in name and name.split(".")[0] in SECTIONS} <= known
