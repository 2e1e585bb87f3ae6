"""batched decoding = single: a text is continued or translated alike among others and alone."""

from regard.checkpoint import Run
from regard.verify.check import Finding, needs_text
from regard.verify.inputs import Inputs
from regard.verify.texts import compare_texts, continued, equally_good, equally_likely


def check(run: Run, inputs: Inputs) -> Finding:
    needs_text(run)
    found = Finding([len(row) for row in inputs.sources or inputs.texts])
    for how, beam, tie in (("greedy", 1, equally_likely(run, inputs)), ("beam 4", 4, equally_good)):
        alone = [continued(run, inputs.row(i), beam=beam)[0] for i in range(len(inputs.texts))]
        compare_texts(found, continued(run, inputs, beam=beam), alone, how, tie)
    return found
