"""A small change in the first layer of a model, and what becomes of it in those above."""

import torch
from torch.nn.modules.module import register_module_forward_pre_hook

from regard.checkpoint import Run
from regard.shapes import Float, Int, Tensor

MOVED = 0.01  # of their own size: the change of the first layer's weights


@torch.no_grad()
def moved(run: Run, text: Int[Tensor, "n t"], chance: torch.Generator) -> list[float]:
    """Layer by layer how much what it is given changes when the weights of the first one do."""
    before = given(run, text)
    for name, weight in run.model.named_parameters():
        if ".blocks.0." in name and weight.dim() > 1:
            drawn = torch.randn(weight.shape, generator=chance).to(weight.device)
            weight.add_(drawn, alpha=MOVED * float(weight.norm() / drawn.norm()))
    return (given(run, text) - before).norm(dim=-1).mean((1, 2)).tolist()


def given(run: Run, text: Int[Tensor, "n t"]) -> Float[Tensor, "l n t w"]:
    """What goes into the feed-forward layer of each block."""
    heard: list[Tensor] = []
    layers = {part for name, part in run.model.named_modules() if name.endswith(".feedforward")}
    with register_module_forward_pre_hook(lambda part, given: heard.append(given[0]) if part in layers else None):
        run.model.decode(text)
    return torch.stack(heard)
