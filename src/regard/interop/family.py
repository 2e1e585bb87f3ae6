"""A family of models as another library keeps it: its settings and its tensors, side by side with ours.

Each family is one file of `families/`: a `Spelling` of its settings, a table of its tensors, what its heads are for.
Export needs no more than that: it writes what importing would read, and a model whose settings do not come back the
same is one that the other library cannot say.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from regard.config import build
from regard.errors import UserError
from regard.interop.names import Line, Shape, Table
from regard.interop.tokens import Symbols
from regard.shapes import Tensor

Config = dict[str, Any]


class MeansOtherwise(UserError):
    """The settings can be written there, and mean something else: no other family is worth a try."""


class Unsaid(UserError):
    """A setting whose value has no word there; `known` are those that have one."""

    def __init__(self, setting: str, value: Any, known: Iterable[Any]):
        self.setting, self.known = setting, list(dict.fromkeys(known))
        usual = ", ".join(map(repr, self.known))
        super().__init__(f"system.{setting} = {value!r} cannot be said there, only {usual}")


@dataclass(frozen=True)
class Spelling:
    """Settings of ours under the names they have in a `config.json`.

    `sizes` have their name there and what holds where it is not written down; `words` also what their values are called
    there; `only` are the values of theirs that ours can be, the first of them usual, None where it may be left out.
    """

    sizes: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    words: Mapping[str, tuple[str, Any, Mapping[Any, Any]]] = field(default_factory=dict)
    only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def read(self, config: Config, where: str) -> dict[str, Any]:
        """Our settings; what ours cannot be stops."""
        for name, fine in self.only.items():
            if config.get(name, fine[0]) not in (*fine, None):
                values = ", ".join("null" if value is None else repr(value) for value in fine)
                raise UserError(f"{where}: {name} = {config[name]!r} is not supported; known: {values}")
        found = {ours: config.get(theirs, usual) for ours, (theirs, usual) in self.sizes.items()}
        for ours, (theirs, usual, known) in self.words.items():
            word = config.get(theirs, usual)
            if word not in [*known]:  # which may be asked of a value of any kind
                raise UserError(f"{where}: {theirs} = {word!r} is not supported; known: {', '.join(map(str, known))}")
            found[ours] = known[word]
        return found

    def write(self, settings: Any) -> Config:
        """Theirs; of several words for one value the first."""
        found = {theirs: getattr(settings, ours) for ours, (theirs, _) in self.sizes.items()}
        for ours, (theirs, _, known) in self.words.items():
            value = getattr(settings, ours)
            word = next((word for word, meant in known.items() if meant == value), None)
            if word is None:
                raise Unsaid(ours, value, known.values())
            found[theirs] = word
        return found | {name: fine[0] for name, fine in self.only.items() if fine[0] is not None}


@dataclass(frozen=True)
class Model:
    """What a file holds besides its tensors: the settings of the system, the task its heads are for, and its labels.

    Where a head that is there has no task here, `why` says so.
    """

    system: Any
    objective: Any
    labels: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Family:
    """One family. `system` is the class of our settings, `class_of` their class for an objective of ours.

    `heads` are lines of the table that only models for this objective have, and `spare` what they may have in vain.
    `idle` are tensors that their class has and this model has not, because nothing there uses them; they are written as
    zeros.
    """

    kind: str
    system: type
    read: Callable[[Config, Mapping[str, Tensor], str], Model]
    write: Callable[[Model, int], Config]
    table: Callable[[Any], Table]
    class_of: Callable[[Any], str]
    symbols: Symbols
    remarks: Callable[[Config], list[str]] = lambda config: []
    heads: Callable[[Any], tuple[Line, ...]] = lambda objective: ()
    spare: Callable[[Any], tuple[str, ...]] = lambda objective: ()
    idle: Callable[[Model], Mapping[str, Shape]] = lambda model: {}

    def names(self, model: Model) -> Table:
        """The names of a model's tensors, those of its heads too."""
        table = self.table(model.system)
        spare = (*table.spare, *self.spare(model.objective))
        return replace(table, lines=(*table.lines, *self.heads(model.objective)), spare=spare)

    def config(self, model: Model, vocabulary: int) -> Config:
        """The `config.json` of a model of ours; one that would not come back the same stops."""
        if not isinstance(model.system, self.system):
            raise UserError(f"{self.kind}: there is no such system")
        mine = explicit(model.system)
        said, again = self._there_and_back(replace(model, system=mine), vocabulary)
        for name, back in differing(mine, again).items():
            here = getattr(mine, name)
            raise UserError(f"{self.kind}: system.{name} = {here!r} cannot be said there, only {back!r}")
        return said

    def nearest(self, model: Model, vocabulary: int) -> dict[str, Any]:
        """The settings with which such a model could be said, where they are found; none where they are not."""
        mine = system = explicit(model.system)
        for _ in fields(mine):
            try:
                _, again = self._there_and_back(replace(model, system=system), vocabulary)
                if not differing(system, again):
                    return differing(mine, system)
                system = again
            except Unsaid as error:
                system = replace(system, **{error.setting: error.known[0]})
        return {}

    def _there_and_back(self, model: Model, vocabulary: int) -> tuple[Config, Any]:
        """The settings in their words, and what these mean here."""
        said = {**self.write(model, vocabulary), "model_type": self.kind}
        said["architectures"] = [self.class_of(model.objective)]
        return said, explicit(self.read(said, {}, self.kind).system)


def assignments(settings: Mapping[str, Any]) -> str:
    """Settings of a system as a command takes them."""
    said = {name: value if isinstance(value, str) else json.dumps(value) for name, value in settings.items()}
    return " ".join(f"--set system.{name}={value}" for name, value in said.items())


def differing(mine: Any, other: Any) -> dict[str, Any]:
    """The settings of the other that are not mine."""
    return {f.name: getattr(other, f.name) for f in fields(other) if getattr(mine, f.name) != getattr(other, f.name)}


def explicit(system: Any) -> Any:
    """The same settings without those that are 0 because they follow from others."""
    follow = {"hidden": 4 * system.width, "groups": system.heads, "head_width": system.each}
    follow["decoder_depth"] = system.depth
    return replace(system, **{name: value for name, value in follow.items() if getattr(system, name, None) == 0})


def as_deep(decoder: Any, encoder: Any) -> Any:
    """The depth of a decoder in our words: 0 where it is the encoder's, or nobody says it."""
    return 0 if decoder in (None, encoder) else decoder


def settings(kind: type, values: dict[str, Any], where: str) -> Any:
    """The settings of a system, each checked."""
    return build(kind, values, where=where)


def dropouts(config: Config, usual: float, *names: str) -> list[str]:
    """What will be otherwise when it is trained on: here dropout has one value."""
    return [
        f"{name} = {p} there; here dropout is {usual} everywhere"
        for name in names
        if (p := config.get(name)) not in (None, usual)
    ]
