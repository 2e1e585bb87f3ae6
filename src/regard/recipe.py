"""Everything a run is made from, in one frozen record: the sections of a TOML file."""

import json
import math
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from regard.config import build, override, read_toml
from regard.data import Data
from regard.decode.settings import Decode
from regard.errors import Unused, UserError, at_least, one_of, suggest
from regard.objectives import OBJECTIVES
from regard.systems import SYSTEMS, built
from regard.systems.layers import Layers
from regard.text import Text

POOLS = ("mean", "first", "last", "all")  # what is taken of a text's tokens
PRESETS = Path(__file__).parent / "presets"


@dataclass(frozen=True, kw_only=True)
class Train:
    """How a model is trained.

    `batch_tokens` is the whole batch; `accumulate` cuts it into so many pieces that are computed one after another and
    gives the same gradient with less memory. Training ends at `steps`, `max_tokens` predicted tokens or `max_seconds`,
    whichever comes first; 0 leaves one of them open. `rate` is the highest learning rate, except for "noam", where it
    is the factor of the formula. Storeys are the word vectors, then each layer, then all that stands on them: the
    lowest `frozen` of them keep their weights, and each learns at `storey_decay` times the rate of the one above it.
    """

    steps: int = 1000
    max_tokens: int = 0
    max_seconds: float = 0.0
    batch_tokens: int = 4096
    accumulate: int = 1
    optimiser: str = "adamw"
    rate: float = 1e-3
    warmup: int = 100
    schedule: str = "cosine"
    decay: float = 0.2  # of "constant": the last part, in which the rate falls to its floor
    floor: float = 0.0  # the last rate, as a part of the highest
    weight_decay: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.98
    clip: float = 1.0
    frozen: int = 0
    storey_decay: float = 1.0
    average: str = "none"
    average_decay: float = 0.999
    average_last: int = 5
    patience: int = 0
    save_every: int = 500
    evaluate_every: int = 500
    log_every: int = 20
    device: str = "auto"
    precision: str = "auto"
    compile: str | bool = "auto"
    deterministic: bool = False
    threads: int = 0

    def __post_init__(self) -> None:
        if not (self.steps or self.max_tokens or self.max_seconds):
            raise UserError("train.steps, max_tokens and max_seconds are all 0: training would never end")
        for name in (
            "batch_tokens",
            "accumulate",
            "log_every",
            "save_every",
            "evaluate_every",
            "average_last",
        ):
            if getattr(self, name) < 1:
                raise UserError(f"train.{name} = {getattr(self, name)}; it must be at least 1")
        for name in (
            *("steps", "max_tokens", "max_seconds", "warmup", "weight_decay"),
            *("clip", "frozen", "patience", "threads"),
        ):
            if not getattr(self, name) >= 0:
                raise UserError(f"train.{name} = {getattr(self, name)}; it must be 0 or more")
        for name in ("decay", "floor"):
            if not 0 <= getattr(self, name) <= 1:
                raise UserError(f"train.{name} = {getattr(self, name)}; it must lie between 0 and 1")
        for name in ("beta1", "beta2", "average_decay"):
            if not 0 <= getattr(self, name) < 1:
                raise UserError(f"train.{name} = {getattr(self, name)}; it must be at least 0 and less than 1")
        if not 0 < self.storey_decay <= 1:
            raise UserError(f"train.storey_decay = {self.storey_decay}; it must be more than 0 and at most 1")
        if not 0 < self.rate < math.inf:
            raise UserError(f"train.rate = {self.rate}; it must be more than 0")
        one_of("train.optimiser", self.optimiser, ("adamw", "sgd"))
        one_of("train.schedule", self.schedule, ("noam", "inverse-sqrt", "cosine", "constant"))
        one_of("train.average", self.average, ("none", "ema", "last"))
        one_of("train.precision", self.precision, ("auto", "float32", "bfloat16"))
        if isinstance(self.compile, str):
            one_of("train.compile", self.compile, ("auto",))


@dataclass(frozen=True, kw_only=True)
class Embed:
    """How a text becomes one vector: what is done with those of its tokens, and how many tokens of it are read, start
    and end included; 0 leaves that to the context. A longer text stops, unless its beginning is to be read alone."""

    pool: str = "mean"
    normalise: bool = False
    max_tokens: int = 0
    truncate: bool = False

    def __post_init__(self) -> None:
        one_of("embed.pool", self.pool, POOLS)
        at_least(0, "embed", self, "max_tokens")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A run from text to model. `system` and `objective` are entries of `SYSTEMS` and `OBJECTIVES`."""

    seed: int = 0
    data: Data = field(default_factory=Data)
    text: Text = field(default_factory=Text)
    system: Any = None
    objective: Any = None
    train: Train = field(default_factory=Train)
    decode: Decode = field(default_factory=Decode)
    embed: Embed = field(default_factory=Embed)

    @staticmethod
    def parse(values: dict[str, Any], *, where: str) -> "Recipe":
        """A recipe from a tree of settings; `where` names the file in messages."""
        known = {"data": Data, "text": Text, "train": Train, "decode": Decode, "embed": Embed}
        made: dict[str, Any] = {}
        for name, value in values.items():
            if name in known:
                made[name] = build(known[name], value, where=f"{where} [{name}]")
            elif name in ("system", "objective"):
                made[name] = entry(name, value, where)
            elif name == "seed":
                if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
                    raise UserError(f"{where}: seed = {value!r} is not a whole number from 0 to 2^63 - 1")
                made[name] = value
            else:
                sections = [*known, "system", "objective", "seed"]
                raise UserError(f"{where}: no section '{name}'{suggest(name, sections)}")
        for name in ("system", "objective"):
            if name not in made:
                raise UserError(f"{where}: section [{name}] is missing{goes_with(made, values)}")
        return Recipe(**made)

    def to_dict(self) -> dict[str, Any]:
        """The tree that `parse` takes back."""
        tree = asdict(self)
        for name, table in (("system", SYSTEMS), ("objective", OBJECTIVES)):
            kind = next(kind for kind, cls in table.items() if type(getattr(self, name)) is cls)
            tree[name] = {"kind": kind, **tree[name]}
        return json.loads(json.dumps(tree))


def entry(section: str, values: dict[str, Any], where: str) -> Any:
    """The system or objective that the section's `kind` names, with the rest as its settings."""
    tables: dict[str, Mapping[str, type]] = {"system": SYSTEMS, "objective": OBJECTIVES}
    table = tables[section]
    if not isinstance(values, dict) or "kind" not in values:
        raise UserError(f"{where} [{section}]: setting 'kind' is missing; known: {', '.join(table)}")
    kind, rest = values["kind"], {key: value for key, value in values.items() if key != "kind"}
    if kind not in table:
        raise UserError(f"{where} [{section}]: no kind '{kind}'{suggest(str(kind), list(table))}")
    return build(table[kind], rest, where=f"{where} [{section}]")


def goes_with(made: dict[str, Any], values: dict[str, Any]) -> str:
    """The kinds of objectives for the system of a recipe that has none, in words."""
    kinds = fitting(made["system"]) if "system" in made else []
    return f"; with system.kind = '{values['system']['kind']}' its kind is one of {', '.join(kinds)}" if kinds else ""


def fitting(system: Any) -> list[str]:
    """The kinds of objectives that the system can be trained for."""
    found = []
    for kind, make in OBJECTIVES.items():
        objective: Any = make()
        with suppress(UserError), torch.device("meta"):
            if not objective.misfit(built(system, 8, labels=2, head=objective.head)):
                found.append(kind)
    return found


def presets() -> list[str]:
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def read(name: str, settings: Sequence[str] = ()) -> Recipe:
    """A preset by name or a TOML file by path, with `section.key=value` settings put in."""
    return fresh(name, settings)[0]


def fresh(name: str, settings: Sequence[str]) -> tuple[Recipe, dict[str, Any]]:
    """`drafted` for a new run: what is the same as something cheaper is refused."""
    recipe, left = drafted(name, settings)
    if isinstance(recipe.system, Layers):
        recipe.system.makes_sense(recipe.system.context)
    return recipe, left


def drafted(name: str, settings: Sequence[str], under: Sequence[str] = ()) -> tuple[Recipe, dict[str, Any]]:
    """The recipe of a preset or file with settings put in, and what the file says that gave way to them.

    What a preset has for a part that gave way to another, such as BigBird's blocks, goes with it, and so do settings
    `under` the others. What the user's own file or the settings themselves say holds, or stops.
    """
    file, asked = file_of(name), {setting.partition("=")[0].strip() for setting in settings}
    own = read_toml(file)
    tree, said = override(own, [*under, *settings]), own if name.endswith(".toml") else {}
    while True:
        try:
            recipe = Recipe.parse(tree, where=file.name)
            return recipe, gone(own, recipe.to_dict(), asked)
        except Unused as error:
            section, _, key = error.setting.partition(".")
            if {section, error.setting} & asked or key in said.get(section, {}) or key not in tree.get(section, {}):
                raise
            del tree[section][key]


def gone(own: dict[str, Any], made: dict[str, Any], asked: Container[str]) -> dict[str, Any]:
    """What a file says of the system and the objective and what was made of it is not, though not asked to be other."""
    return {
        path: value
        for section in ("system", "objective")
        if section not in asked and isinstance(own.get(section), dict)
        for key, value in own[section].items()
        if (path := f"{section}.{key}") not in asked and made[section].get(key) != value
    }


def file_of(name: str) -> Path:
    """The file of a preset, or the one that is named."""
    if name.endswith(".toml"):
        return Path(name)
    if name not in presets():
        raise UserError(f"no preset '{name}'{suggest(name, presets())}")
    return PRESETS / f"{name}.toml"
