"""TOML <-> frozen dataclasses: the dataclass is the schema, an unknown key stops with a suggestion.

build(Train, {"steps": 100}, where="demo.toml [train]")
"""

import tomllib
import types
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from regard.errors import UserError, suggest

T = TypeVar("T")
KINDED = (["system"], ["objective"])  # sections whose settings depend on their kind


def build(cls: type[T], values: dict[str, Any], *, where: str) -> T:
    """An instance of the dataclass, with every value checked against its field."""
    if not isinstance(values, dict):
        raise UserError(f"{where}: expected a table of settings, found {values!r}")
    known = {field.name: field for field in fields(cls) if field.init}  # type: ignore[arg-type]
    hints = get_type_hints(cls)
    for key in values:
        if key not in known:
            raise UserError(f"{where}: no setting '{key}'{suggest(key, list(known))}")
    missing = [n for n, f in known.items() if f.default is MISSING and f.default_factory is MISSING and n not in values]
    if missing:
        raise UserError(f"{where}: setting '{missing[0]}' is missing")
    checked = {key: check(value, hints[key], where=f"{where} {key}") for key, value in values.items()}
    try:
        return cls(**checked)
    except UserError as error:
        error.args = (f"{where}: {error}",)  # which kind of mistake it is stays
        raise


def check(value: Any, kind: Any, *, where: str) -> Any:
    """The value as the field's type has it, or a message that says both."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        for option in get_args(kind):
            try:
                return check(value, option, where=where)
            except UserError:
                continue
        raise UserError(f"{where}: {value!r} is not {describe(kind)}")
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise UserError(f"{where}: {value!r} is not {describe(kind)}")
        return tuple(check(item, get_args(kind)[0], where=where) for item in value)
    if origin is dict:
        if not isinstance(value, dict):
            raise UserError(f"{where}: {value!r} is not a table")
        return {key: check(item, get_args(kind)[1], where=f"{where}.{key}") for key, item in value.items()}
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is type(None):
        kind = types.NoneType
    if is_dataclass(kind) and isinstance(value, dict):
        return build(kind, value, where=where)  # type: ignore[arg-type]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise UserError(f"{where}: {value!r} is not {describe(kind)}")
    return value


def describe(kind: Any) -> str:
    """A type in words: `a whole number`, `text or a list of texts`."""
    names = {
        int: "a whole number",
        float: "a number",
        str: "text",
        bool: "true or false",
        type(None): "nothing",
    }
    if get_origin(kind) in (Union, types.UnionType):
        return " or ".join(describe(option) for option in get_args(kind) if option is not type(None))
    if get_origin(kind) is tuple:
        return f"a list, each {describe(get_args(kind)[0])}"
    return names.get(kind, getattr(kind, "__name__", str(kind)))


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"no such file: {path}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not TOML: {error}") from None


def override(values: dict[str, Any], settings: Iterable[str]) -> dict[str, Any]:
    """The tree with each `section.key=value` put in; values are TOML, and a bare word is taken as text.

    Another `kind` comes with its own settings, so those that stood beside the old one go.
    """
    merged = deepcopy(values)
    for setting in sorted(settings, key=lambda setting: not setting.partition("=")[0].strip().endswith(".kind")):
        path, found, text = setting.partition("=")
        if not found or not path.strip():
            raise UserError(f"--set {setting}: expected section.key=value")
        *sections, key = path.strip().split(".")
        table = merged
        for section in sections:
            table = table.setdefault(section, {})
            if not isinstance(table, dict):
                raise UserError(f"--set {setting}: '{section}' is a value, not a section")
        value = toml_value(text.strip(), setting)
        if key == "kind" and sections in KINDED and table.get("kind", value) != value:
            table.clear()
        table[key] = value
    return merged


def toml_value(text: str, setting: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        if text and not set(text) & set("[]{}\"'=\n"):
            return text
        raise UserError(f"--set {setting}: {text} is not a TOML value; text is quoted: '\"...\"'") from None
