"""fast = readable recurrence: the kernels of recurrent layers give what the cells' formulas give, token by token."""

from collections.abc import Iterator
from contextlib import contextmanager

from regard.blocks.recurrent import RecurrentLayer
from regard.checkpoint import Run
from regard.systems import System
from regard.verify.check import DoesNotApply, Finding
from regard.verify.inputs import Inputs
from regard.verify.kernel import beside


def check(run: Run, inputs: Inputs) -> Finding:
    return beside(run, inputs, by_formula(recurrences(run.model)))


def recurrences(model: System) -> list[RecurrentLayer]:
    """Every recurrent layer; a model without any has nothing to compare."""
    found = [part for part in model.modules() if isinstance(part, RecurrentLayer)]
    if not found:
        raise DoesNotApply("the model has no recurrent layer")
    return found


@contextmanager
def by_formula(layers: list[RecurrentLayer]) -> Iterator[None]:
    """Computed token by token, by the cells' equations, for a while."""
    for layer in layers:
        layer.plain = True
    try:
        yield
    finally:
        for layer in layers:
            layer.plain = False
