"""One system at one length, measured in a process of its own: `python -m regard.lab.one_length`.

It reads what to measure from standard input and writes what it found to standard output, both as JSON.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import torch

from regard.attention.kernels import formula
from regard.attention.look import Look
from regard.config import override
from regard.data import IGNORE, Batch
from regard.errors import UserError, suggest
from regard.lab.bench import timed
from regard.lab.peak import keep_what_is_freed, peak
from regard.objectives import Masked, NextToken, Translation
from regard.place import Place
from regard.recipe import PRESETS, Recipe, Train, presets, read
from regard.systems import System, built, parameters
from regard.systems.bert import Bert
from regard.systems.long import ATTENTIONS
from regard.train.average import Last
from regard.train.device import autocast, choose_device, choose_precision, chooses_compile
from regard.train.loop import Trainer
from regard.train.optimiser import optimiser
from regard.train.run import settle
from regard.train.schedule import schedule
from regard.train.state import Progress, State

VOCABULARY = 512  # small, so that the output layer does not hide attention
SHARE = 0.15  # of the tokens are guessed by a system that reads both ways
WRITTEN = 64  # tokens, by a system that reads a source of the length asked for
WARM_UP = 2  # times
IDLE = ("data", "text", "objective", "decode", "embed")  # sections that nothing here is made from
USED = ("device", "precision", "threads", "compile", "deterministic", "optimiser")  # of [train]
UNUSED = {field.name for field in fields(Train)} - {*USED}
FIXED: dict[str, Any] = {
    "system": {"kind": "bert", "width": 128, "heads": 2, "depth": 2, "hidden": 256, "segments": 1, "dropout": 0.0},
    "objective": {"kind": "masked"},
}


class Compressed(Bert):
    """Every layer is one of memory-compressed attention's that look at mixes."""

    def sees(self, ahead, depth, **shape):
        return super().sees(ahead, 2 * depth, **shape)[1::2]


def compressed(settings: Bert, vocabulary: int) -> System:
    return Compressed(**vars(settings)).build(vocabulary)


def by_the_formula(settings: Bert, vocabulary: int) -> System:
    """Every weight is computed and kept, as the readable formula says."""
    model = built(settings, vocabulary)
    for part in model.modules():
        if isinstance(part, Look):
            part.kernel = formula
    return model


@dataclass(frozen=True)
class Way:
    """A way of looking in the fixed model: its `system.attention`, and how the model is built."""

    attention: str
    build: Callable[[Any, int], System] = built


WAYS = {
    **{name: Way(name) for name in ATTENTIONS},
    "formula": Way("full", by_the_formula),
    "compressed": Way("dmca", compressed),
}


def changes(name: str, setting: str) -> None:
    """Stop at a setting that would change nothing, or measure another model than the one that is named."""
    path = setting.partition("=")[0].strip()
    section, _, key = path.partition(".")
    if section in IDLE or (section == "train" and key in UNUSED):
        raise UserError(
            f"--set {setting} changes nothing: random tokens are read, and steps on them timed; leave it out. What "
            f"counts is seed, system.*, train.{', '.join(USED)}"
        )
    if path == "system.context":
        raise UserError(f"--set {setting}: the context is each length that is measured; give it with --lengths")
    if name in WAYS and path in ("system.kind", "system.attention"):
        mine = f"'{name}' is the {FIXED['system']['kind']} with attention '{WAYS[name].attention}'"
        raise UserError(
            f"--set {setting}: {mine}, and its row would name another model; give --systems another way of looking, "
            "or a preset"
        )
    if path in ("system", "train"):
        raise UserError(f"--set {setting}: give each setting by itself, as {path}.key=value")


def recipe_of(name: str, settings: list[str], length: int) -> Recipe:
    """Of a way of looking or of a preset, for texts of that length."""
    for setting in settings:
        changes(name, setting)
    if name in WAYS:
        tree = {**FIXED, "system": {**FIXED["system"], "attention": WAYS[name].attention}}
        recipe = Recipe.parse(override(tree, settings), where=name)
    elif name.endswith(".toml") or (PRESETS / f"{name}.toml").exists():
        recipe = read(name, settings)
    else:
        raise UserError(f"no way of looking or preset '{name}'{suggest(name, [*WAYS, *presets()])}")
    return replace(recipe, system=replace(recipe.system, context=length))


def own(system: Any) -> dict[str, Any]:
    """How a system looks at a long text, with the settings of that way alone."""
    attention = getattr(system, "attention", "")
    return {key: getattr(system, key) for key in ("attention", *ATTENTIONS[attention])} if attention else {}


def model_of(name: str, recipe: Recipe) -> System:
    return (WAYS[name].build if name in WAYS else built)(recipe.system, VOCABULARY)


def objective_for(model: System) -> Any:
    """Hidden tokens for a system that reads both ways, what follows for one that writes."""
    if not model.writes_text:
        return Masked(share=SHARE)
    return Translation() if model.reads_source else NextToken()


def random_batch(model: System, length: int) -> Batch:
    """One row of that length. Who reads a source has it there, and writes a short text."""
    tokens = torch.randint(4, VOCABULARY, (1, length))
    if not model.writes_text:
        guessed = torch.randperm(length)[: max(1, round(SHARE * length))]
        targets = torch.full_like(tokens, IGNORE)
        targets[:, guessed] = tokens[:, guessed]
        return Batch(tokens, targets, len(guessed), Place.line(tokens), whole=True, few=True)
    source = tokens if model.reads_source else None
    tokens = tokens[:, :WRITTEN] if model.reads_source else tokens
    return Batch(tokens, tokens.roll(-1, dims=1), tokens.shape[1], source=source)


class Always:
    """Batches that are all the same."""

    def __init__(self, batch: Batch):
        self.one = batch

    def steps(self, epoch: int) -> int:
        return 1

    def batch(self, epoch: int, step: int) -> Batch:
        return self.one


def trainer_of(name: str, recipe: Recipe) -> Trainer:
    """As one that trains a run, on a random text."""
    settings, device = recipe.train, choose_device(recipe.train.device)
    torch.manual_seed(recipe.seed)
    model = model_of(name, recipe).to(device)
    return Trainer(
        state=State(model, optimiser(model, settings), Last(model, settings), Progress(), {}),
        objective=objective_for(model),
        batches=Always(random_batch(model, recipe.system.context)),  # type: ignore[arg-type]
        valid=None,
        settings=settings,
        schedule=schedule(settings, recipe.system.width),
        precision=choose_precision(settings.precision, device),
        save=lambda state: None,
        watch=[],
        compiled=chooses_compile(settings, model),
    )


def read_through(trainer: Trainer, batch: Batch) -> None:
    """The forward pass alone, with the loss."""
    trainer.model.eval()
    with torch.no_grad(), autocast(trainer.device, trainer.precision):
        trainer.objective(trainer.model, batch.to(trainer.device))


def measured(name: str, settings: list[str], length: int, repeats: int) -> dict[str, Any]:
    """Peak memory and seconds of reading a text of that length, and of a whole training step on it.

    Memory is what is held above the process with the model and the state of its optimiser in it. One thread of a CPU is
    timed by the time it computed, for others may use the same core; anything else by the clock on the wall. Seconds are
    the fewest of all `repeats`: what disturbs can only add to them.
    """
    recipe = recipe_of(name, settings, length)
    settle(recipe.train)
    trainer = trainer_of(name, recipe)
    batch, device = trainer.batches.batch(0, 0), trainer.device
    works: dict[str, Callable[[], Any]] = {
        "forward_": partial(read_through, trainer, batch),
        "": partial(trainer.update, batch),
    }
    found: dict[str, Any] = {"length": length, "parameters": parameters(trainer.model), "device": str(device)}
    warm_up(works)
    found |= {f"{which}peak_bytes": peak(device, work) for which, work in works.items()}
    keep_what_is_freed()
    warm_up(works)
    alone = device.type == "cpu" and torch.get_num_threads() == 1
    clock = time.process_time if alone else time.perf_counter
    for which, work in works.items():
        times = [timed(device, work, clock) for _ in range(repeats)]
        found |= {f"{which}seconds": min(times), f"{which}median_seconds": statistics.median(times)}
    return found | {"clock": "processor" if alone else "wall", "threads": torch.get_num_threads()}


def warm_up(works: dict[str, Callable[[], Any]]) -> None:
    for work in works.values():
        for _ in range(WARM_UP):
            work()


if __name__ == "__main__":
    print(json.dumps(measured(**json.load(sys.stdin))))
