"""What must be kept so that a run goes on bit for bit: weights, optimiser, averages, generators, place in the data."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from regard.checkpoint import STATE, put_weights, read_tensors, weights, write_tensors
from regard.systems import System
from regard.text import Tokenizer
from regard.train.average import Last
from regard.train.optimiser import optimiser_tensors, put_optimiser_tensors


@dataclass
class Progress:
    """How far a training is. `batch` counts within the epoch; `tokens` are the predicted ones so far. Of the `seconds`
    those of `validating` are a part."""

    step: int = 0
    epoch: int = 0
    batch: int = 0
    tokens: int = 0
    seconds: float = 0.0
    validating: float = 0.0
    best: float = float("inf")
    best_step: int = 0
    since_best: int = 0
    finished: bool = False

    @property
    def training(self) -> float:
        """The seconds of training alone; there are always some, so that a speed may be told."""
        return max(self.seconds - self.validating, 1e-9)


@dataclass
class State:
    """Everything that changes while training."""

    model: System
    optimiser: torch.optim.Optimizer
    average: Last
    progress: Progress
    best: dict[str, Tensor]

    def save(self, folder: Path, tokenizer: Tokenizer) -> None:
        groups = {
            "weights": weights(self.model),
            "optimiser": optimiser_tensors(self.optimiser, self.model),
            "average": self.average.kept,
            "best": self.best,
            "chance": generators(self.model.device),
        }
        tensors = {f"{group}|{name}": tensor for group, part in groups.items() for name, tensor in part.items()}
        notes = {"progress": json.dumps(asdict(self.progress)), "tokenizer": tokenizer.fingerprint}
        write_tensors(folder / STATE, tensors, notes)

    def restore(self, folder: Path, tokenizer: Tokenizer | None = None) -> None:
        """Put everything back; a state that belongs to another tokenizer than the given one stops."""
        tensors, notes = read_tensors(folder / STATE, tokenizer)
        parts: dict[str, dict[str, Tensor]] = {}
        for key, tensor in tensors.items():
            group, _, name = key.partition("|")
            parts.setdefault(group, {})[name] = tensor
        put_weights(self.model, parts["weights"], str(folder / STATE))
        put_optimiser_tensors(self.optimiser, self.model, parts.get("optimiser", {}))
        self.average.restore(parts.get("average", {}))
        self.best = {name: tensor.to(self.model.device) for name, tensor in parts.get("best", {}).items()}
        self.progress = Progress(**json.loads(notes["progress"]))
        put_generators(parts["chance"], self.model.device)


def generators(device: torch.device) -> dict[str, Tensor]:
    """The state of the random generators in use."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def put_generators(states: dict[str, Tensor], device: torch.device) -> None:
    torch.set_rng_state(states["cpu"])
    if "cuda" in states and device.type == "cuda":
        torch.cuda.set_rng_state(states["cuda"], device)
