"""saved = loaded: a model written to a folder and read back is the same to the last bit, tied weights still tied."""

import tempfile
from pathlib import Path

from regard.checkpoint import Run, load, weights, write_model, write_setup
from regard.systems import System
from regard.verify.check import Finding, read
from regard.verify.inputs import Inputs


def check(run: Run, inputs: Inputs) -> Finding:
    found = Finding(inputs.lengths)
    with tempfile.TemporaryDirectory() as folder:
        write_setup(Path(folder), run.recipe, run.tokenizer, run.labels)
        write_model(Path(folder), weights(run.model), run.tokenizer)
        copy = load(folder, str(run.model.device)).model
    if untied := shared(run.model) ^ shared(copy):
        raise ValueError(f"tied only before or only after loading: {'; '.join(sorted(untied))}")
    theirs = weights(run.model)
    for name, tensor in weights(copy).items():
        found.compare(tensor, theirs[name], f"weights {name}", tolerance=0.0)
    for row, (got, expected) in enumerate(zip(read(copy, inputs), read(run.model, inputs), strict=True)):
        found.compare(got, expected, f"logits of row {row}", tolerance=0.0, along="token" if got.ndim > 1 else "label")
    return found


def shared(model: System) -> set[str]:
    """The tensors with several names: `embedding.weight = output.weight`."""
    names: dict[int, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    return {" = ".join(group) for group in names.values() if len(group) > 1}
