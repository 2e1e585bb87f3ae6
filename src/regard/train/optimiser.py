"""AdamW or the plain gradient, which storeys of a model it moves and how fast, and its state as named tensors."""

import re

import torch
from torch import Tensor, nn

from regard.errors import UserError
from regard.recipe import Train

LAYER = re.compile(r"(?:^|\.)(?:blocks|layers)\.(\d+)\.")


def storeys(model: nn.Module) -> dict[str, int]:
    """Of each parameter on which storey it stands: 0 are the word vectors, then the layers, then what stands on them.

    An encoder and a decoder stand side by side.
    """
    layers = {name: int(found[1]) + 1 for name, _ in model.named_parameters() if (found := LAYER.search(name))}
    top = max(layers.values(), default=0) + 1
    return {name: layers.get(name, 0 if "embedding." in name else top) for name, _ in model.named_parameters()}


def freeze(model: nn.Module, count: int) -> None:
    """The lowest storeys keep their weights."""
    found = storeys(model)
    highest = max(found.values())
    if count > highest:
        raise UserError(f"train.frozen = {count}: the model has {highest + 1} storeys, and the highest must learn")
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(found[name] >= count)


def optimiser(model: nn.Module, settings: Train) -> torch.optim.Optimizer:
    """Matrices decay; gains and biases do not. `part` is what a group has of the rate."""
    groups: dict[tuple[bool, int], list[nn.Parameter]] = {}
    found = storeys(model) if settings.storey_decay < 1 else {}
    top = max(found.values(), default=0)
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            vector = parameter.ndim < 2 or name.endswith("bias")  # experts have theirs side by side
            groups.setdefault((vector, top - found.get(name, top)), []).append(parameter)
    told = [
        {
            "params": group,
            "weight_decay": 0.0 if vectors else settings.weight_decay,
            "part": settings.storey_decay**below,
        }
        for (vectors, below), group in sorted(groups.items(), key=lambda entry: entry[0])
    ]
    if settings.optimiser == "sgd":
        return torch.optim.SGD(told, lr=settings.rate, fused=True)
    return torch.optim.AdamW(told, lr=settings.rate, betas=(settings.beta1, settings.beta2), fused=True)


def optimiser_tensors(optimiser: torch.optim.Optimizer, model: nn.Module) -> dict[str, Tensor]:
    """`blocks.0.output.weight/exp_avg` and so on, for every parameter that has a state."""
    return {
        f"{name}/{key}": value
        for name, parameter in model.named_parameters()
        for key, value in optimiser.state.get(parameter, {}).items()
    }


def put_optimiser_tensors(optimiser: torch.optim.Optimizer, model: nn.Module, tensors: dict[str, Tensor]) -> None:
    for name, parameter in model.named_parameters():
        mine = {key.rpartition("/")[2]: value for key, value in tensors.items() if key.rpartition("/")[0] == name}
        if mine:
            optimiser.state[parameter] = {key: value.to(parameter.device) for key, value in mine.items()}
