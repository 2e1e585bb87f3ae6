"""What a training will cost, told before the first step from a rehearsal on one real batch."""

import time
from dataclasses import dataclass

import torch

from regard.data import Batch, Batcher
from regard.systems import parameters
from regard.train.device import autocast
from regard.train.flops import flop_counter
from regard.train.loop import Trainer
from regard.train.state import generators, put_generators


@dataclass(frozen=True)
class Forecast:
    """FLOPs count multiplications and additions of matrix products, forward and backward."""

    parameters: int
    tokens_per_step: int
    flops_per_step: float
    memory_bytes: int
    seconds: float
    steps: int

    def line(self) -> str:
        return (
            f"{quantity(self.parameters)} parameters, {self.tokens_per_step:,} target tokens and "
            f"{quantity(self.flops_per_step)}FLOP a step, {self.steps:,} steps, "
            f"about {quantity(self.memory_bytes, 1024)}B of memory, {duration(self.seconds)}"
        )


def forecast(trainer: Trainer) -> Forecast:
    """Rehearse a piece of the first batch: no weight, gradient or random state is left changed."""
    state, settings = trainer.state, trainer.settings
    batch = typical(trainer.batches, state.progress.epoch)
    piece = batch.split(settings.accumulate)[0]
    chance, saved = generators(trainer.device), SavedBytes()
    with flop_counter() as counter, saved:
        rehearse(trainer, piece)
    seconds = min(timed(trainer, piece) for _ in range(2))
    put_generators(chance, trainer.device)
    count, pieces = parameters(state.model), batch.count / piece.count
    limits = {
        "steps": settings.steps,
        "max_tokens": settings.max_tokens // batch.count,
        "max_seconds": int(settings.max_seconds / (seconds * pieces)),
    }
    steps = min(max(1, most) for name, most in limits.items() if getattr(settings, name))
    averages = {"none": 0, "ema": 1, "last": settings.average_last}[settings.average]
    return Forecast(
        parameters=count,
        tokens_per_step=batch.count,
        flops_per_step=counter.get_total_flops() * pieces,
        memory_bytes=count * 4 * (4 + averages) + saved.bytes,
        seconds=seconds * pieces * max(0, steps - state.progress.step),
        steps=steps,
    )


def typical(batches: Batcher, epoch: int) -> Batch:
    """Of the first batches the one of middle size: any single one may be a leftover."""
    first = [batches.batch(epoch, i) for i in range(min(9, batches.steps(epoch)))]
    return sorted(first, key=lambda batch: batch.count)[len(first) // 2]


def rehearse(trainer: Trainer, batch: Batch) -> None:
    trainer.model.train()
    with autocast(trainer.device, trainer.precision):
        loss = trainer.objective(trainer.model, batch.to(trainer.device))
    (loss.total / batch.count).backward()
    trainer.state.optimiser.zero_grad(set_to_none=True)


def timed(trainer: Trainer, batch: Batch) -> float:
    began = time.perf_counter()
    rehearse(trainer, batch)
    if trainer.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - began


class SavedBytes(torch.autograd.graph.saved_tensors_hooks):
    """Counts what the forward pass keeps for the backward pass, each storage once."""

    def __init__(self) -> None:
        self.seen: dict[int, int] = {}
        super().__init__(self._pack, lambda tensor: tensor)

    def _pack(self, tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        self.seen[storage.data_ptr()] = storage.nbytes()
        return tensor

    @property
    def bytes(self) -> int:
        return sum(self.seen.values())


def quantity(value: float, base: int = 1000) -> str:
    """1234567 as `1.2 M`."""
    for letter in ("", "k", "M", "G", "T", "P"):
        if abs(value) < base:
            return f"{value:.0f} {letter}" if not letter else f"{value:.1f} {letter}"
        value /= base
    return f"{value:.1f} E"


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
