"""resumed = uninterrupted: a few steps more in one go end, to the last bit, where they end with a break in the middle.

They start from the run's own training state and data, at a small constant rate. No limit of the run ends them, so that
a finished run goes on too, whether steps, tokens, time or patience ended it.

The run is only read: what is saved goes to a temporary folder.
"""

import json
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import torch

from regard.checkpoint import STATE, Run, read_tensors
from regard.data import Batch
from regard.shapes import Tensor
from regard.train.run import TOKENS, make_trainer
from regard.verify.check import DoesNotApply, Finding
from regard.verify.inputs import Inputs

HALF = 2  # steps before the break, and after it
RATE = 1e-4


def check(run: Run, inputs: Inputs) -> Finding:
    for part in (STATE, f"{TOKENS}/train"):
        if not (run.path / part).exists():
            raise DoesNotApply(f"the run has no {part}: it was imported, or that was removed")
    with tempfile.TemporaryDirectory() as name, repeatable():
        folder = Path(name)
        begun, lengths = go_on(run, run.path, folder / "in one go", steps=2 * HALF)
        go_on(run, folder / "in one go" / str(begun + HALF), folder / "resumed", steps=HALF)
        end = str(begun + 2 * HALF)
        one, two = (final_state(folder / way / end) for way in ("in one go", "resumed"))
    found = Finding(lengths)
    if one.keys() != two.keys():
        raise ValueError(f"only one of the two states has {', '.join(sorted(one.keys() ^ two.keys()))}")
    for key, tensor in one.items():
        found.compare(two[key], tensor, key.replace("|", " "), tolerance=0.0)
    return found


@torch.enable_grad()
def go_on(run: Run, start: Path, out: Path, *, steps: int) -> tuple[int, list[int]]:
    """Train on from the state in `start`, keeping each half's end in a folder of `out`.

    The step it began at is given back, and the lengths of the texts in its first batch.
    """
    settings = replace(
        run.recipe.train,
        steps=1,
        max_tokens=0,
        max_seconds=0.0,
        patience=0,
        save_every=1,
        device=str(run.model.device),
        precision="float32",
        compile=False,
    )
    trainer = make_trainer(run.path, replace(run.recipe, train=settings), run.tokenizer, [])
    trainer.state.restore(start)
    begun = trainer.state.progress.step

    def save(state) -> None:
        if (state.progress.step - begun) % HALF == 0:
            state.save(out / str(state.progress.step), run.tokenizer)

    trainer.save, trainer.valid = save, None
    trainer.schedule = lambda step, done: RATE
    trainer.settings = replace(settings, steps=begun + steps)
    first = trainer.upcoming()
    trainer.fit()
    return begun, lengths_of(first) if first is not None else []


def lengths_of(batch: Batch) -> list[int]:
    """Of its rows, each length once."""
    return sorted(set(batch.lengths))


def final_state(folder: Path) -> dict[str, Tensor]:
    """Weights, optimiser, averages and generators, and the place in the data; not the time it took."""
    tensors, notes = read_tensors(folder / STATE)
    progress = {name: value for name, value in json.loads(notes["progress"]).items() if name != "seconds"}
    return tensors | {f"progress|{name}": torch.tensor(float(value)) for name, value in progress.items()}


@contextmanager
def repeatable() -> Iterator[None]:
    """Only ways of computing that give the same bits each time, where there are such."""
    before, warned = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    try:
        with warnings.catch_warnings(action="ignore"):
            torch.use_deterministic_algorithms(True, warn_only=True)
            yield
    finally:
        torch.use_deterministic_algorithms(before, warn_only=warned)
