"""A model that is asked to read longer texts than those it was trained on (C5), and what stands against it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from regard.errors import UserError
from regard.recipe import Recipe
from regard.systems import System, built


def reading(folder: Path, recipe: Recipe, model: System, context: int, sizes: tuple[int, int]) -> tuple[System, Recipe]:
    """The same for texts of another length; `sizes` are those of the vocabulary and of the labels."""
    if model.limit is None:
        raise UserError(f"{folder} reads texts of any length: a context of {context} would change nothing")
    other = replace(recipe, system=replace(recipe.system, context=context))
    try:
        made = built(other.system, *sizes, recipe.objective.head)
    except UserError as error:
        raise UserError(f"{folder} cannot read texts with a context of {context}: {error}") from None
    shapes = {name: tensor.shape for name, tensor in made.state_dict().items()}
    if fixed := [name for name, tensor in model.state_dict().items() if tensor.shape != shapes[name]]:
        raise UserError(
            f"{folder} has weights for each of {model.context} places{because(recipe, fixed)}: its context cannot "
            f"become {context}; train with system.context = {context}{others(recipe, fixed)}"
        )
    return made, other


def placed(recipe: Recipe, fixed: Sequence[str]) -> list[str]:
    """The settings that these tensors, with a weight for each place, come from."""
    ways = {"position": ".position.", "attention": ".compress."}
    return [way for way, part in ways.items() if hasattr(recipe.system, way) and any(part in name for name in fixed)]


def because(recipe: Recipe, fixed: Sequence[str]) -> str:
    told = [f"system.{name} = '{getattr(recipe.system, name)}'" for name in placed(recipe, fixed)]
    return f" ({' and '.join(told)})" if told else ""


def others(recipe: Recipe, fixed: Sequence[str]) -> str:
    """What reads on past the context that it was trained on."""
    known = {"position": "system.position, such as 'rotary'", "attention": "system.attention, such as 'full'"}
    ways = [f"another {known[name]}" for name in placed(recipe, fixed)]
    return f", or with {' and '.join(ways)}" if ways else ""


def way_to_read(run: Any, count: int) -> str:
    """How an evaluation could read a text of so many tokens, which the context does not hold."""
    sizes = len(run.tokenizer), len(run.labels)
    try:
        reading(run.path, run.recipe, built(run.recipe.system, *sizes, run.recipe.objective.head), count, sizes)
    except UserError:
        return f"a run with system.context = {count} would read all"
    return f"--context {count} would read all"
