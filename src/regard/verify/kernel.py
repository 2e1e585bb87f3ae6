"""fast = readable attention: the kernels give what the formula of the lectures gives, in value and gradient."""

from contextlib import AbstractContextManager

from regard.attention.kernels import formula
from regard.checkpoint import Run
from regard.objectives import Vectors
from regard.shapes import Tensor
from regard.verify.cached import after_prompts
from regard.verify.check import Finding, Gradients, attentions, computed_by, gradients, read
from regard.verify.inputs import Inputs
from regard.verify.packed import windows


def check(run: Run, inputs: Inputs) -> Finding:
    attentions(run.model)
    return beside(run, inputs, computed_by(run.model, lambda name, kernel: formula))


def beside(run: Run, inputs: Inputs, readable: AbstractContextManager[None]) -> Finding:
    """A model as it is, and computed in a readable way for a while."""
    found = Finding(inputs.lengths)
    fast, fast_gradients = results(run, inputs)
    with readable:
        slow, slow_gradients = results(run, inputs)
    for how, logits in slow.items():
        found.compare_rows(fast[how], logits, how)
    for how, each in slow_gradients.items():
        found.compare_gradients(fast_gradients[how], each, how)
    return found


def results(run: Run, inputs: Inputs) -> tuple[dict[str, list[Tensor]], dict[str, Gradients]]:
    """Logits and gradients in every way that a kernel is called: plain, from a cache, padded, packed."""
    logits = {"at once": read(run.model, inputs)}
    if run.model.writes_text:
        logits["from a cache"] = after_prompts(run.model, inputs)
    if isinstance(run.recipe.objective, Vectors):
        return logits, {}  # there is no loss
    batches = {"padded": inputs.batch(run.tokenizer)}
    if run.model.writes_text and run.model.packs and not run.model.reads_source:
        batches["packed"] = packed = windows(run, inputs).to(run.model.device)
        logits["packed"] = list(run.model.decode(packed.tokens, at=packed.at))
    return logits, {how: gradients(run, batch) for how, batch in batches.items()}
