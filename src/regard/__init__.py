"""Regard: train, run, check and open up the systems of the lectures on attention and Transformers.

run = regard.load("runs/demo")
regard.train(regard.read("transformer-tiny", ["train.steps=200"]), "runs/mine")
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from regard.checkpoint import Run, load
    from regard.recipe import Recipe, read
    from regard.tap import record
    from regard.train import resume, train

_HOMES = {
    "load": "checkpoint",
    "Run": "checkpoint",
    "Recipe": "recipe",
    "read": "recipe",
    "record": "tap",
    "train": "train",
    "resume": "train",
}

__all__ = ["Recipe", "Run", "load", "read", "record", "resume", "train"]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    """Names are imported when first used, so that `regard --help` does not wait for torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'regard' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"regard.{_HOMES[name]}"), name)
