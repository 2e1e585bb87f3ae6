"""What the lines share: comparing, reading a model, computing attention another way, and when a line does not apply."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from regard.attention import Look
from regard.blocks.memory import Memory
from regard.checkpoint import Run
from regard.data import Batch
from regard.decode.session import table
from regard.shapes import Float, Tensor
from regard.systems import System
from regard.verify.inputs import Inputs

RELATIVE = 1e-4  # what float32 may differ by: this part of the largest number compared, or of 1 where all are smaller

Kernel = Callable[..., Tensor]
Gradients = dict[str, Tensor]


class DoesNotApply(Exception):
    """The line makes no sense for this run; the message says why."""


@dataclass
class Finding:
    """The comparisons of one line: kept is the one that passes its tolerance furthest, or comes nearest to it.

    `left_out` says what could not be compared.
    """

    lengths: list[int]
    difference: float = 0.0
    tolerance: float = RELATIVE
    where: str = ""
    left_out: str = ""

    def compare(
        self, got: Tensor, expected: Tensor, where: str, *, tolerance: float | None = None, along: str = ""
    ) -> None:
        """Two tensors; `along` names their first axis, to say where on it the largest difference stands."""
        if got.shape != expected.shape:
            raise ValueError(f"{where}: shape {list(got.shape)} against {list(expected.shape)}")
        gap = (got.float() - expected.float()).abs().nan_to_num(nan=math.inf)
        if along:
            where += f", {along} {int(gap.argmax()) // (gap.numel() // len(gap))}"
        if tolerance is None:
            tolerance = RELATIVE * max(1.0, float(expected.abs().max()))
        difference = float(gap.max())
        if not self.where or excess(difference, tolerance) > excess(self.difference, self.tolerance):
            self.difference, self.tolerance, self.where = difference, tolerance, where

    def compare_rows(self, got: list[Tensor], expected: list[Tensor], how: str) -> None:
        """The logits of each text."""
        for row, (mine, theirs) in enumerate(zip(got, expected, strict=True)):
            self.compare(mine, theirs, f"{how}: row {row}", along="token" if mine.ndim > 1 else "label")

    def compare_gradients(self, got: Gradients, expected: Gradients, how: str) -> None:
        """Every parameter's, measured by the largest gradient in the model: some are zero but for rounding."""
        scale = max(float(gradient.abs().max()) for gradient in expected.values())
        for name, gradient in expected.items():
            self.compare(got[name], gradient, f"{how}: gradient of {name}", tolerance=RELATIVE * scale)


def excess(difference: float, tolerance: float) -> tuple[float, float]:
    """How bad a difference is: first in parts of what is tolerated, then, where nothing is, by itself."""
    parts = difference / tolerance if tolerance else math.inf
    return (parts if difference else 0.0), difference


def needs_text(run: Run) -> None:
    """Stop a line about texts that are written."""
    if not run.model.writes_text:
        raise DoesNotApply("it writes no text")


def memory(model: System, inputs: Inputs) -> Memory | None:
    """The sources read in one batch, where there are any."""
    return model.encode(*table(inputs.sources, model.device)) if inputs.sources is not None else None


def read(model: System, inputs: Inputs) -> list[Tensor]:
    """The logits of each text, all read at once in one batch: at each of its tokens, or of the whole."""
    tokens, present = table(inputs.texts, model.device)
    if not model.writes_text:
        return of_each(model, model.answer(tokens, inputs.places(tokens, present)), inputs)
    return unpadded(model.decode(tokens, memory(model, inputs)), inputs)


def of_each(model: System, answers: Float[Tensor, "b ..."], inputs: Inputs) -> list[Tensor]:
    """What is said of each text: of its tokens, or of the whole."""
    return list(answers) if model.answers == "labels" else unpadded(answers, inputs)


def unpadded(logits: Float[Tensor, "b t v"], inputs: Inputs) -> list[Tensor]:
    return [line[: len(text)] for line, text in zip(logits, inputs.texts, strict=True)]


@torch.enable_grad()
def gradients(run: Run, batch: Batch) -> Gradients:
    """Of the run's objective over the batch, by parameter; nothing is left in the model."""
    loss = run.recipe.objective(run.model, batch.to(run.model.device))
    names, parameters = zip(*run.model.named_parameters(), strict=True)
    found = torch.autograd.grad(loss.total, parameters, materialize_grads=True)  # zeros: what acts in training alone
    return dict(zip(names, found, strict=True))


def attentions(model: System) -> dict[str, Look]:
    """Every attention by name; a model without any has nothing to compare."""
    found = {name: part for name, part in model.named_modules() if isinstance(part, Look)}
    if not found:
        raise DoesNotApply("the model has no attention")
    return found


@contextmanager
def computed_by(model: System, way: Callable[[str, Kernel], Kernel]) -> Iterator[None]:
    """Every attention computed another way for a while: `way(name, kernel)` gives the one to use."""
    parts = attentions(model)
    before = {name: part.kernel for name, part in parts.items()}
    try:
        for name, part in parts.items():
            part.kernel = way(name, before[name])
        yield
    finally:
        for name, part in parts.items():
            part.kernel = before[name]
