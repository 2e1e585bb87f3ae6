"""The page of settings has every setting of every section, with its type and default as the code has them."""

import json
from dataclasses import MISSING, Field, fields
from typing import Any, get_origin, get_type_hints

import pytest

from regard.config import describe
from regard.data import Data
from regard.decode.settings import Decode
from regard.objectives import OBJECTIVES
from regard.recipe import Recipe, Train
from regard.systems import SYSTEMS
from regard.text import Text
from tests.docs.pages import ROOT, cells

SECTIONS: dict[str, list[type]] = {
    "data": [Data],
    "text": [Text],
    "system": list(SYSTEMS.values()),
    "objective": list(OBJECTIVES.values()),
    "train": [Train],
    "decode": [Decode],
}
ROWS = {row[0]: row[1:] for row in cells(ROOT / "docs" / "configuration.md")}


def default(field: Field) -> str:
    value: Any = field.default if field.default is not MISSING else field.default_factory()  # type: ignore[misc]
    return json.dumps(value)


def kind_of(hint: Any) -> str:
    return "a table" if get_origin(hint) is dict else describe(hint)


def settings() -> list[Any]:
    """Every setting once: its types and defaults in the kinds that have it."""
    types: dict[str, dict[str, None]] = {"seed": {"a whole number": None}}
    defaults: dict[str, dict[str, None]] = {"seed": {json.dumps(Recipe().seed): None}}
    for section, kinds in SECTIONS.items():
        for kind in kinds:
            hints = get_type_hints(kind)
            for field in fields(kind):
                name = f"{section}.{field.name}"
                types.setdefault(name, {})[kind_of(hints[field.name])] = None
                defaults.setdefault(name, {})[default(field)] = None
    return [pytest.param(name, " or ".join(types[name]), list(defaults[name]), id=name) for name in types]


@pytest.mark.parametrize(("name", "words", "defaults"), settings())
def test_a_setting_stands_in_the_page(name: str, words: str, defaults: list[str]) -> None:
    assert name in ROWS, f"docs/configuration.md lacks: | `{name}` | {words} | `{'`, `'.join(defaults)}` | ... |"
    kind, shown, meaning = ROWS[name]
    assert kind == words
    for value in defaults:
        assert value in shown, f"the default of {name} is {value}"
    assert meaning


def test_no_setting_of_the_page_is_gone() -> None:
    known = {parameter.values[0] for parameter in settings()} | {"system.kind", "objective.kind"}
    assert {name for name in ROWS if "." in name and name.split(".")[0] in SECTIONS} <= known
