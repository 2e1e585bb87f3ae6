"""The lines of the certificate in their order, and the runner that leaves a model as it found it."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import torch

from regard.checkpoint import Run
from regard.errors import Interrupted, UserError, suggest
from regard.systems import System
from regard.verify import (
    accumulated,
    batch,
    beam,
    cached,
    compiled,
    exported,
    future,
    kernel,
    packed,
    padding,
    recorded,
    recurrence,
    resumed,
    saved,
    together,
)
from regard.verify.check import DoesNotApply, Finding
from regard.verify.inputs import Inputs, make

LINES: dict[str, Callable[[Run, Inputs], Finding]] = {
    "cached = full": cached.check,
    "batch = single": batch.check,
    "padding inert": padding.check,
    "past ignores future": future.check,
    "fast = readable attention": kernel.check,
    "fast = readable recurrence": recurrence.check,
    "recorded = fast": recorded.check,
    "packed = unpacked": packed.check,
    "accumulated = full batch": accumulated.check,
    "beam 1 = greedy": beam.check,
    "batched decoding = single": together.check,
    "saved = loaded": saved.check,
    "resumed = uninterrupted": resumed.check,
    "compiled = eager": compiled.check,
    "exported = native": exported.check,
}


@dataclass(frozen=True)
class Line:
    """One statement about a run and what was found.

    `difference` is the largest absolute one that was found, or the number of differing tokens where texts are compared;
    infinite when the check broke off. `lengths` are those of the inputs in tokens. `why` says where the line fails,
    why it does not apply, or what was left out.
    """

    name: str
    state: str  # "holds", "fails" or "does not apply"
    difference: float | None = None
    tolerance: float | None = None
    precision: str = "float32"
    lengths: list[int] = field(default_factory=list)
    why: str = ""
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        values = asdict(self)
        if self.difference is not None and not math.isfinite(self.difference):
            values["difference"] = None  # JSON has no infinity; `why` says what happened
        return values


@dataclass(frozen=True)
class Certificate:
    """What was checked, on which inputs, and which lines the user left out."""

    lines: list[Line]
    inputs: str
    left_out: list[str]

    @property
    def passed(self) -> bool:
        return all(line.state != "fails" for line in self.lines)

    def to_dict(self) -> dict[str, Any]:
        lines = [line.to_dict() for line in self.lines]
        return {"passed": self.passed, "lines": lines, "inputs": self.inputs, "left_out": self.left_out}


def verify(
    run: Run,
    *,
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    on_line: Callable[[Line], None] | None = None,
) -> Certificate:
    """Check every line, or `only` some, or all but those to `skip`; `on_line` is told each as soon as it is known."""
    for name in (*only, *skip):
        if name not in LINES:
            raise UserError(f"no line '{name}' in the certificate{suggest(name, list(LINES))}")
    chosen = [name for name in LINES if name in (only or LINES) and name not in skip]
    if not chosen:
        raise UserError("every line is left out: nothing would be checked")
    inputs = make(run)
    lines = []
    for name in chosen:
        lines.append(examine(name, run, inputs))
        if on_line is not None:
            on_line(lines[-1])
    return Certificate(lines, inputs.origin, [name for name in LINES if name not in chosen])


def examine(name: str, run: Run, inputs: Inputs) -> Line:
    """One line. Whatever goes wrong inside it is its failure, and said."""
    began = time.perf_counter()
    try:
        with untouched(run.model), torch.no_grad():
            found = LINES[name](run, inputs)
    except DoesNotApply as reason:
        return Line(name, "does not apply", why=str(reason), seconds=time.perf_counter() - began)
    except Interrupted:  # Ctrl-C while the trainer had it
        raise KeyboardInterrupt from None
    except Exception as error:
        found = Finding(inputs.lengths, math.inf, 0.0, f"{type(error).__name__}: {error}")
    holds = found.difference <= found.tolerance
    return Line(
        name,
        "holds" if holds else "fails",
        found.difference,
        found.tolerance,
        lengths=found.lengths,
        why="; ".join(filter(None, ("" if holds else found.where, found.left_out))),
        seconds=time.perf_counter() - began,
    )


@contextmanager
def untouched(model: System) -> Iterator[None]:
    """Evaluation mode and products in full float32; afterwards modes, settings and random generators are as before."""
    modes = [(part, part.training) for part in model.modules()]
    precision = torch.get_float32_matmul_precision()
    with torch.random.fork_rng([model.device] if model.device.type == "cuda" else []):
        torch.set_float32_matmul_precision("highest")
        model.eval()
        try:
            yield
        finally:
            torch.set_float32_matmul_precision(precision)
            for part, training in modes:
                part.training = training
