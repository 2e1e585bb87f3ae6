"""A model that was read elsewhere, in our words: its settings hold for its tensors, one by one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint import put_weights, weights
from regard.errors import UserError
from regard.interop.checking import Comparison
from regard.interop.family import Model
from regard.interop.names import Table, listed, translated
from regard.recipe import Embed, Recipe
from regard.shapes import Tensor
from regard.systems import System, built
from regard.text import Text, Tokenizer


@dataclass(frozen=True)
class Imported:
    """A model in our words. `about` is what the report says of where it came from, `kept` what our settings do not say,
    `compared` how it was found beside its original, if it was held against it."""

    recipe: Recipe
    tokenizer: Tokenizer
    model: System
    labels: tuple[str, ...]
    about: dict[str, Any]
    kept: Mapping[str, Any]
    compared: Comparison | None = None


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a model was read: the file or folder, its kind there, a hash of each file, what is otherwise here, and what
    is kept to be written back."""

    path: Path
    kind: str
    files: Mapping[str, str]
    remarks: Sequence[str] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)
    embed: Embed = field(default_factory=Embed)


def rows_of(table: Table, theirs: Mapping[str, Tensor], where: str) -> int:
    """How many tokens the model has vectors for."""
    (name,) = [pair.theirs for pair in table.pairs([table.words])]
    names = {name, *(other for other, main in table.tied.items() if main == name)}
    there = [tensor for other, tensor in table.whole(theirs, names, where).items() if other in names]
    if not there or there[0].ndim != 2:
        raise UserError(f"{where} has no word vectors: there is no '{name}'")
    return len(there[0])


def imported(
    made: Model,
    table: Table,
    theirs: Mapping[str, Tensor],
    words: tuple[Tokenizer, Text],
    *,
    where: str,
    origin: Origin,
    allow: tuple[str, ...] = (),
) -> Imported:
    """The model with the tensors of a file and its tokenizer; `where` is what that file is called in a message."""
    tokenizer, text = words
    plausible(made.system, theirs, where)
    asked = made.system, len(tokenizer), len(made.labels), made.objective.head
    with torch.device("meta"):  # what the settings claim takes no room before it was held against the file
        shapes = {name: tuple(tensor.shape) for name, tensor in weights(built(*asked)).items()}
    given = translated(table, theirs, shapes, where, allowed=allow, why=made.why)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)  # what is new is the same each time
        model = built(*asked)
    put_weights(model, {**weights(model), **given}, where)
    about = {
        "from": str(origin.path.absolute()),
        "kind": origin.kind,
        "files": dict(origin.files),
        "remarks": [*origin.remarks, *new(table, shapes.keys() - given.keys())],
        "left_out": table.left_out(theirs, shapes),
    }
    recipe = Recipe(text=text, system=made.system, objective=made.objective, embed=origin.embed)
    return Imported(recipe, tokenizer, model.eval(), made.labels, about, origin.kept)


def new(table: Table, ours: Iterable[str]) -> list[str]:
    """What is said of the tensors that no file had."""
    names = sorted(pair.theirs for pair in table.pairs(ours))
    return [f"{listed(names)} new: nothing has trained {'it' if len(names) == 1 else 'them'}"] if names else []


def plausible(system: Any, theirs: Mapping[str, Tensor], where: str) -> None:
    """Stop where the settings claim more than a file of these tensors can hold."""
    largest = max((max(tensor.shape, default=0) for tensor in theirs.values()), default=0)
    layers, sides = dict.fromkeys(("depth", "decoder_depth"), len(theirs)), ("width", "heads", "hidden")
    for name, most in {**layers, **dict.fromkeys(sides, largest)}.items():
        if getattr(system, name, 0) > most:
            raise UserError(
                f"{where} does not fit its settings: {name} = {getattr(system, name)}, "
                f"and of {len(theirs)} tensors the longest side is {largest}"
            )
