"""compiled = eager: what torch.compile makes of the model gives the same logits."""

import os
import shutil
from importlib.util import find_spec

import torch

from regard.checkpoint import Run
from regard.decode.session import table
from regard.verify.check import DoesNotApply, Finding, of_each, read, unpadded
from regard.verify.inputs import Inputs


def check(run: Run, inputs: Inputs) -> Finding:
    model, found = run.model, Finding(inputs.lengths)
    if not model.compiles:
        raise DoesNotApply("this system is not compiled: it would be compiled anew for each length")
    if missing := what_is_missing(model.device):
        raise DoesNotApply(f"nothing can be compiled here: {missing}")
    torch.compiler.reset()  # after many compilations of one function torch would run it as it is, in silence

    @torch.compile
    def compiled(tokens, sources, present):
        return model.decode(tokens, model.encode(sources, present) if sources is not None else None)

    tokens, present = table(inputs.texts, model.device)
    if model.writes_text:
        sources = table(inputs.sources, model.device) if inputs.sources is not None else (None, None)
        logits = unpadded(compiled(tokens, *sources), inputs)
    else:
        answers = torch.compile(model.answer)(tokens, inputs.places(tokens, present))
        logits = of_each(model, answers, inputs)
    found.compare_rows(logits, read(model, inputs), "compiled")
    return found


def what_is_missing(device: torch.device) -> str:
    """What torch.compile needs for the device and does not find."""
    if device.type == "cuda":
        return "" if find_spec("triton") else "triton is not installed"
    compilers = [os.environ["CXX"]] if "CXX" in os.environ else ["g++", "clang++", "c++"]
    return "" if any(map(shutil.which, compilers)) else f"there is no C++ compiler ({', '.join(compilers)})"
