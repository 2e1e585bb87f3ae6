"""Averages of the weights over training: the model that is used may be steadier than the last step's."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from regard.checkpoint import put_weights, weights
from regard.recipe import Train
from regard.systems import System


class Last:
    """No average: the weights as they are."""

    def __init__(self, model: System, settings: Train):
        self.model, self.settings = model, settings
        self.kept: dict[str, Tensor] = {}

    def after_step(self, step: int) -> None: ...

    def before_save(self, step: int) -> None: ...

    def weights(self) -> dict[str, Tensor]:
        return weights(self.model)

    def restore(self, kept: dict[str, Tensor]) -> None:
        self.kept = {name: tensor.to(self.model.device) for name, tensor in kept.items()}


class Ema(Last):
    """A moving average in which a step's share fades; it begins short so that the first weights are forgotten."""

    def after_step(self, step: int) -> None:
        mine = {name: tensor.detach() for name, tensor in weights(self.model).items()}
        if not self.kept:
            self.kept = {name: tensor.clone() for name, tensor in mine.items()}
            return
        decay = min(self.settings.average_decay, (1 + step) / (10 + step))
        torch._foreach_lerp_([self.kept[name] for name in mine], list(mine.values()), 1 - decay)

    def weights(self) -> dict[str, Tensor]:
        return self.kept or super().weights()


class LastSaved(Last):
    """The plain mean of the weights at the last checkpoints."""

    def before_save(self, step: int) -> None:
        for name, tensor in weights(self.model).items():
            self.kept[f"{step}/{name}"] = tensor.detach().clone()
        for old in sorted(self._steps())[: -self.settings.average_last]:
            self.kept = {key: value for key, value in self.kept.items() if not key.startswith(f"{old}/")}

    def weights(self) -> dict[str, Tensor]:
        steps = self._steps()
        if not steps:
            return super().weights()
        return {
            name: torch.stack([self.kept[f"{step}/{name}"] for step in sorted(steps)]).mean(0)
            for name in weights(self.model)
        }

    def _steps(self) -> set[int]:
        return {int(key.partition("/")[0]) for key in self.kept}


AVERAGES = {"none": Last, "ema": Ema, "last": LastSaved}


@contextmanager
def using(model: System, tensors: dict[str, Tensor]) -> Iterator[None]:
    """The model with other weights, for a while."""
    before = {name: tensor.detach().clone() for name, tensor in weights(model).items()}
    put_weights(model, tensors, "average")
    try:
        yield
    finally:
        put_weights(model, before, "training weights")
