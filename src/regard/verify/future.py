"""past ignores future: tokens that come later, whatever they are, leave the logits before them as they were."""

from dataclasses import replace

from regard.checkpoint import Run
from regard.verify.check import Finding, needs_text, read
from regard.verify.inputs import Inputs


def check(run: Run, inputs: Inputs) -> Finding:
    needs_text(run)
    found = Finding(inputs.lengths)
    before = read(run.model, inputs)
    for part in (0.0, 0.25, 0.5, 0.75, 1.0):
        cuts = [1 + int(part * (len(text) - 2)) for text in inputs.texts]
        after = read(run.model, with_other_future(inputs, cuts, run.model.vocabulary))
        got, expected = ([rows[:cut] for rows, cut in zip(side, cuts, strict=True)] for side in (after, before))
        found.compare_rows(got, expected, f"other tokens from {', '.join(map(str, cuts))} on")
    return found


def with_other_future(inputs: Inputs, cuts: list[int], vocabulary: int) -> Inputs:
    """Every token from the cut on replaced by the next of the vocabulary."""
    changed = [
        text[:cut] + [(token + 1) % vocabulary for token in text[cut:]]
        for text, cut in zip(inputs.texts, cuts, strict=True)
    ]
    return replace(inputs, texts=changed)
