"""recorded = fast: the weights that a recording shows are those with which the running kernel mixed its values."""

from functools import wraps

import torch

from regard.attention.attend import serve
from regard.checkpoint import Run
from regard.shapes import Bool, Float, Tensor
from regard.tap import record
from regard.verify.check import Finding, Kernel, attentions, computed_by, read
from regard.verify.inputs import Inputs


def check(run: Run, inputs: Inputs) -> Finding:
    model, found = run.model, Finding(inputs.lengths)
    mixed: dict[str, tuple[Tensor, Tensor, Tensor | None]] = {}

    def watched(name: str, kernel: Kernel) -> Kernel:
        @wraps(kernel)
        def watch(query: Tensor, key: Tensor, value: Tensor, **rest) -> Tensor:
            context = kernel(query, key, value, **rest)
            mixed[name] = (value, context, rest["sight"].q.present)
            return context

        return watch

    looks = attentions(model)
    unheard = read(model, inputs)
    heard_of = [f"{name}.weights" for name in looks]
    heard_of += [f"{name}.added" for name, look in looks.items() if look.position.on_values]
    with record(model, *heard_of) as seen, computed_by(model, watched):
        heard = read(model, inputs)
    for row, (mine, theirs) in enumerate(zip(heard, unheard, strict=True)):
        found.compare(mine, theirs, f"recording changes the logits of row {row}", tolerance=0.0)
    for name, (value, context, present) in mixed.items():
        weights = seen[f"{name}.weights"]
        mix = weights @ serve(value, weights.shape[1])
        if (added := seen.get(f"{name}.added")) is not None:
            mix = mix + added
        found.compare(asked(mix, present), asked(context, present), f"{name}: weights times values")
        sums = weights.sum(-1)
        blind = sums == 0  # a query that may look nowhere
        found.compare(sums.masked_fill(blind, 1.0), torch.ones_like(sums), f"{name}: sum of the weights")
    return found


def asked(context: Float[Tensor, "b h q e"], present: Bool[Tensor, "b q"] | None) -> Float[Tensor, "b h q e"]:
    """What queries take home but those of padding: a kernel that hides the future alone may give them anything."""
    return context if present is None else context.masked_fill(~present[:, None, :, None], 0.0)
