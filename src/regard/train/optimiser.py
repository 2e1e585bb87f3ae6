"""AdamW, and its state as named tensors."""

import torch
from torch import Tensor, nn

from regard.recipe import Train


def adamw(model: nn.Module, settings: Train) -> torch.optim.AdamW:
    """Matrices decay; gains and biases do not."""
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.ndim < 2]
    groups = [
        {"params": matrices, "weight_decay": settings.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(
        [group for group in groups if group["params"]],
        lr=settings.rate,
        betas=(settings.beta1, settings.beta2),
        fused=True,
    )


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
