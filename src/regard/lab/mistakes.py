"""Classic mistakes, each switched on alone: settings, or one function of the library replaced by a wrong one."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from regard.attention import Look
from regard.attention.patterns import Pattern, causal
from regard.systems import System, built

Wrong = Callable[[Callable[..., Any]], Callable[..., Any]]  # what takes the place of a function, given the right one
BUILT = ("regard.train.run.built", "regard.checkpoint.built")  # where models are made


@dataclass(frozen=True)
class Mistake:
    """`wrongs` are functions by their full names and what is put in their place; `settings` those of a training."""

    about: str
    settings: tuple[str, ...] = ()
    wrongs: tuple[tuple[str, Any], ...] = ()

    @contextmanager
    def made(self) -> Iterator[None]:
        """While this is open."""
        with ExitStack() as stack:
            for name, wrong in self.wrongs:
                stack.enter_context(patch(name, wrong))
            yield


def changed(change: Callable[[System], None]) -> tuple[tuple[str, Any], ...]:
    """Every model that is made is changed."""

    def wrong(*args: Any, **kwargs: Any) -> System:
        model = built(*args, **kwargs)
        change(model)
        return model

    return tuple((name, wrong) for name in BUILT)


def masked_by(rule: Callable[..., Any]) -> Callable[[System], None]:
    """Another rule where the future should be hidden."""

    def change(model: System) -> None:
        for part in model.modules():
            if isinstance(part, Look) and part.pattern is causal:
                part.pattern = Pattern(rule)

    return change


MISTAKES = {
    "no mask": Mistake("tokens see those that follow", wrongs=changed(masked_by(lambda q, k: k.index == k.index))),
    "mask off by one": Mistake(
        "tokens see the one that follows", wrongs=changed(masked_by(lambda q, k: k.index <= q.index + 1))
    ),
    "inverted mask": Mistake(
        "tokens see themselves and those that follow, and not the past",
        wrongs=changed(masked_by(lambda q, k: k.index >= q.index)),
    ),
}
