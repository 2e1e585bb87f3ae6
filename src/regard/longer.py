"""A model that is asked to read longer texts than those it was trained on (C5), and what stands against it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from regard.errors import UserError
from regard.recipe import Recipe
from regard.systems import System, built


def reading(folder: Path, recipe: Recipe, model: System, context: int, sizes: tuple[int, int]) -> tuple[System, Recipe]:
    """The same for texts of another length; `sizes` are those of the vocabulary and of the labels."""
    if model.limit is None:
        raise UserError(f"{folder} reads texts of any length: a context of {context} would change nothing")
    other = replace(recipe, system=replace(recipe.system, context=context))
    try:
        names = fixed(recipe, context, sizes)
    except UserError as error:
        raise UserError(f"{folder} cannot read texts with a context of {context}: {error}") from None
    if names:
        raise UserError(
            f"{folder} has weights for each of {model.context} places{because(recipe, names)}: its context cannot "
            f"become {context}; train with system.context = {context}{others(recipe, names)}"
        )
    return built(other.system, *sizes, recipe.objective.head), other


def fixed(recipe: Recipe, context: int, sizes: tuple[int, int]) -> list[str]:
    """The tensors with weights for each place, which keep the context as it is; none where it can become this one.

    A context that the settings refuse stops. Nothing is initialised: the models have shapes alone.
    """
    systems = recipe.system, replace(recipe.system, context=context)
    with torch.device("meta"):
        now, then = (built(system, *sizes, recipe.objective.head).state_dict() for system in systems)
    return [name for name, tensor in now.items() if tensor.shape != then[name].shape]


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
    try:
        names = fixed(run.recipe, count, (len(run.tokenizer), len(run.labels)))
    except UserError as error:
        return f"there is no context of {count}: {error}"
    return f"a run with system.context = {count} would read all" if names else f"--context {count} would read all"
