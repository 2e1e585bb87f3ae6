"""exported = native: a copy of the run in another format says the same."""

from regard.checkpoint import Run
from regard.verify.check import DoesNotApply, Finding
from regard.verify.inputs import Inputs


def check(run: Run, inputs: Inputs) -> Finding:
    raise DoesNotApply("no exported copy of this run exists")
