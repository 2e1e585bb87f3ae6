"""batch = single: a row gives the same logits among others as alone."""

from regard.checkpoint import Run
from regard.verify.check import Finding, read
from regard.verify.inputs import Inputs


def check(run: Run, inputs: Inputs) -> Finding:
    found = Finding(inputs.lengths)
    alone = [read(run.model, inputs.row(i))[0] for i in range(len(inputs.texts))]
    found.compare_rows(read(run.model, inputs), alone, "in a batch")
    return found
