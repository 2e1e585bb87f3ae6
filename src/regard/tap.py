"""Looking inside: modules offer what is worth seeing, and it is computed only while somebody listens.

    with record(model, "decoder.blocks.*.attention.look.weights") as seen:
        model.decode(tokens)
    seen["decoder.blocks.0.attention.look.weights"]

A tap never changes what the model computes: it is handed a function and calls it beside the fast path.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase

import torch
from torch import Tensor, nn

from regard.errors import UserError


class Tap(nn.Module):
    """A named place in a model where one tensor can be seen."""

    def __init__(self) -> None:
        super().__init__()
        self.listener: Callable[[Tensor], None] | None = None
        self.heads: list[int] | None = None  # of what is seen per head, the heads that were asked for

    def forward(self, compute: Callable[[], Tensor]) -> None:
        if self.listener is not None:
            self.listener(compute())


class Recording(dict[str, Tensor]):
    """Name of the tap -> what it showed last; `all(name)` gives every showing in order."""

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[Tensor]] = {}

    def add(self, name: str, value: Tensor) -> None:
        self[name] = value
        self.history.setdefault(name, []).append(value)

    def all(self, name: str) -> list[Tensor]:
        return self.history.get(name, [])

    def clear(self) -> None:
        """Forget what was shown so far."""
        super().clear()
        self.history.clear()


def taps(model: nn.Module) -> dict[str, Tap]:
    """Every tap of the model by name."""
    return {name: module for name, module in model.named_modules() if isinstance(module, Tap)}


@contextmanager
def record(model: nn.Module, *patterns: str, heads: Sequence[int] | None = None) -> Iterator[Recording]:
    """Listen to the taps whose names match one of the patterns (`*` matches anything).

    With `heads`, scores and weights of attention are computed for these heads alone.
    """
    seen = Recording()
    hear = listening(model, patterns, lambda name, value: seen.add(name, value.detach()), heads)
    with hear, torch.compiler.set_stance("force_eager"):
        yield seen


@contextmanager
def collect(model: nn.Module, *patterns: str) -> Iterator[Recording]:
    """As `record`, with gradients and in whatever way the model runs: for what an objective adds to its loss."""
    seen = Recording()
    with listening(model, patterns, seen.add):
        yield seen


@contextmanager
def listening(
    model: nn.Module,
    patterns: Sequence[str],
    hear: Callable[[str, Tensor], None],
    heads: Sequence[int] | None = None,
) -> Iterator[None]:
    """Let `hear` be told what the chosen taps offer; afterwards who listened before listens again."""
    everything = taps(model)
    chosen = {name: tap for name, tap in everything.items() if any(fnmatchcase(name, p) for p in patterns)}
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in everything):
            raise UserError(f"no tap matches {pattern}; this model has {', '.join(everything)}")
    before = {name: (tap.listener, tap.heads) for name, tap in chosen.items()}
    for name, tap in chosen.items():
        tap.heads = list(heads) if heads is not None else None
        tap.listener = lambda value, name=name: hear(name, value)
    try:
        yield
    finally:
        for name, tap in chosen.items():
            tap.listener, tap.heads = before[name]
