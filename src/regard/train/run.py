"""A run from recipe to finished folder, and on from where it stopped."""

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard import checkpoint
from regard.checkpoint import LOG, REPORT, STATE
from regard.data import Batcher, splits
from regard.data.prepare import prepare, report_lines, stores
from regard.decode import check_alignment
from regard.errors import UserError, writing
from regard.recipe import Recipe, Train
from regard.systems import System, built
from regard.text import Tokenizer
from regard.train.average import AVERAGES
from regard.train.device import choose_device, choose_precision, chooses_compile
from regard.train.forecast import Forecast, duration, forecast, quantity
from regard.train.loop import Trainer
from regard.train.optimiser import freeze, optimiser
from regard.train.origin import START, Origin, put_start
from regard.train.parsing import check_trees, seal_parser
from regard.train.schedule import schedule
from regard.train.state import Progress, State
from regard.train.watch import board_writer, forget_after, watchers

TOKENS = "tokens"


def note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def train(
    recipe: Recipe,
    out: Path | str,
    *,
    start_from: Path | str | None = None,
    force: bool = False,
    quiet: bool = False,
    tensorboard: bool = False,
) -> Path:
    """Train a new run into the folder `out`, which must not hold one already unless `force`.

    With `start_from`, a trained run, its tokenizer is taken and its weights are those of step 0.
    """
    folder, recipe = Path(out), replace(recipe, data=recipe.data.located())
    say = (lambda line: None) if quiet else note
    origin = Origin.read(start_from) if start_from is not None else None
    said = list(origin.said(recipe)) if origin is not None else []
    if origin is None and recipe.objective.continues:
        said.append("a reward says little to a model that knows nothing: start from a trained run with --from")
    if 0 < recipe.train.steps < recipe.train.warmup:
        said.append(f"train.warmup = {recipe.train.warmup} is longer than the training: the full rate is never reached")
    recipe = origin.adopted(recipe) if origin is not None else recipe
    check(recipe)
    may_write(folder, force=force)
    for line in said:
        say(line)
    opened = splits(recipe.data, recipe.objective.columns)
    with staged(folder) as part:
        start(recipe, part, say=say, opened=opened, origin=origin)
        ready(part, tensorboard=tensorboard)
    return go_on(folder, quiet=quiet, tensorboard=tensorboard)


def check(recipe: Recipe) -> None:
    """A setting that does not fit stops here, before anything is touched."""
    choose_device(recipe.train.device)
    model, tree = built(recipe.system, 8, labels=2, head=recipe.objective.head), recipe.to_dict()
    system, objective = tree["system"]["kind"], tree["objective"]["kind"]
    if misfit := recipe.objective.misfit(model):
        raise UserError(f"system '{system}' {misfit.format(objective)}; change one of them")
    check_trees(recipe, model, objective)
    check_alignment(model, recipe.decode, recipe.text.kind)
    if model.whole_batches and recipe.train.accumulate > 1:
        raise UserError(
            f"train.accumulate = {recipe.train.accumulate}: system '{system}' learns from a whole batch at once; "
            "leave it at 1 and lower train.batch_tokens where memory is short"
        )


def may_write(folder: Path, *, force: bool) -> None:
    """Only a folder that holds a run is ever replaced, and only when asked."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not checkpoint.is_run(folder):
        raise UserError(f"{folder} exists and is no run; give another --out")
    if not force:
        more = f", 'regard resume {folder}' goes on" if (folder / TOKENS).is_dir() else "; give another --out"
        raise UserError(f"{folder} holds a run already; --force overwrites it{more}")


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """A folder beside the final one, which it replaces when everything in it is there; a mistake leaves no trace."""
    part = folder.absolute().with_name(f".{folder.absolute().name}.part")
    shutil.rmtree(part, ignore_errors=True)  # of a preparation that was killed
    with writing(folder):
        part.mkdir(parents=True)
    try:
        yield part
        shutil.rmtree(folder, ignore_errors=True)
        with writing(folder):
            part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def ready(folder: Path, *, tensorboard: bool) -> None:
    """A run that could not take its first step stops here, before it replaces another."""
    if tensorboard:
        board_writer()
    make_trainer(folder, checkpoint.read_recipe(folder), checkpoint.read_tokenizer(folder), []).check()


def start(
    recipe: Recipe, folder: Path, *, say: Callable[[str], None], opened=None, origin: Origin | None = None
) -> None:
    """Write all that a run needs before its first step. `config.json` comes last: with it the run can be resumed."""
    prepared = prepare(
        recipe.data,
        recipe.text,
        recipe.objective,
        context=recipe.system.context,
        folder=folder / TOKENS,
        say=say,
        opened=opened,
        tokenizer=origin.tokenizer if origin is not None else None,
    )
    for line in report_lines(prepared.report):
        say("  " + line)
    report = {"data": prepared.report, "seed": recipe.seed, "versions": versions()}
    if recipe.data.parser:
        report["parser"] = seal_parser(recipe, folder, opened, say)
    if origin is not None:
        for line in origin.write(folder, recipe, prepared.labels):
            say(line)
        report["from"] = origin.report()
    checkpoint.write_json(folder / REPORT, report)
    checkpoint.write_setup(folder, recipe, prepared.tokenizer, prepared.labels)


def resume(folder: Path | str, *, quiet: bool = False, tensorboard: bool = False) -> Path:
    """Go on bit for bit. A run killed before its first checkpoint starts at step 0; a finished one says so."""
    folder = Path(folder)
    checkpoint.read_recipe(folder)
    if imported := checkpoint.read_json(folder / REPORT).get("imported"):
        raise UserError(
            f"{folder} was imported from {imported['from']}: there is no training to go on with; "
            f"start from it with 'regard train PRESET --from {folder}'"
        )
    return go_on(folder, quiet=quiet, tensorboard=tensorboard)


def go_on(folder: Path, *, quiet: bool, tensorboard: bool) -> Path:
    say = (lambda line: None) if quiet else note
    recipe, tokenizer = checkpoint.read_recipe(folder), checkpoint.read_tokenizer(folder)
    settle(recipe.train)
    with watchers(folder, quiet=quiet, tensorboard=tensorboard) as watch:
        trainer = make_trainer(folder, recipe, tokenizer, watch)
        if (folder / STATE).exists():
            trainer.state.restore(folder, tokenizer)
        forget_after(folder / LOG, trainer.state.progress.step)
        if trainer.state.progress.step:
            if trainer.state.progress.finished:
                say(f"{folder} is finished: {trainer.state.progress.step:,} steps")
                return folder
            say(f"going on at step {trainer.state.progress.step:,}")
        cost = forecast(trainer)
        say(f"{trainer.device}, {str(trainer.precision).removeprefix('torch.')}: {cost.line()}")
        trainer.fit()
    figures = measured(trainer, cost) | trainer.facts
    old = checkpoint.read_json(folder / REPORT)
    checkpoint.write_json(folder / REPORT, {**old, "forecast": asdict(cost), "measured": figures})
    say(
        f"trained {figures['steps']:,} steps in {duration(figures['seconds'])}: "
        f"{figures['tokens_per_second']:,.0f} tokens/s, {quantity(figures['flops_per_second'])}FLOP/s -> {folder}"
    )
    return folder


def settle(settings: Train) -> None:
    """Threads and determinism of the whole process, as all that is measured or trained with these settings needs."""
    if settings.threads:
        torch.set_num_threads(settings.threads)
    if settings.deterministic != torch.are_deterministic_algorithms_enabled():  # setting it takes a second
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it a GPU's products refuse to be so
        torch.use_deterministic_algorithms(settings.deterministic)


def make_trainer(folder: Path, recipe: Recipe, tokenizer: Tokenizer, watch: list) -> Trainer:
    """The trainer of a run at step 0: a state is restored into it."""
    device = choose_device(recipe.train.device)
    torch.manual_seed(recipe.seed)
    labels = checkpoint.read_labels(folder, recipe)
    model: System = built(recipe.system, len(tokenizer), len(labels), recipe.objective.head).to(device)
    put_start(folder, model, tokenizer)
    freeze(model, recipe.train.frozen)
    average = AVERAGES[recipe.train.average](model, recipe.train)
    state = State(model, optimiser(model, recipe.train), average, Progress(), {})

    def save(state: State) -> None:
        """The state last: a run that says it is finished has the model that goes with it."""
        checkpoint.write_model(folder, state.best or state.average.weights(), tokenizer)
        state.save(folder, tokenizer)
        (folder / START).unlink(missing_ok=True)

    train_batches = batches(folder, "train", recipe, tokenizer, model)
    if train_batches is None:
        raise UserError(f"{folder} has no training tokens: it was imported, or {TOKENS}/ was removed")
    return Trainer(
        state=state,
        objective=recipe.objective,
        batches=train_batches,
        valid=batches(folder, "valid", recipe, tokenizer, model),
        settings=recipe.train,
        schedule=schedule(recipe.train, recipe.system.width),
        precision=choose_precision(recipe.train.precision, device),
        save=save,
        watch=watch,
        compiled=chooses_compile(recipe.train, model),
    )


def batches(folder: Path, split: str, recipe: Recipe, tokenizer: Tokenizer, model: System) -> Batcher | None:
    """What the model learns from or is held against; None where a run has no such texts."""
    if not (folder / TOKENS / split).exists():
        return None
    try:
        found = stores(folder / TOKENS / split, recipe.objective.columns)
        budget = {"batch_tokens": recipe.train.batch_tokens, "seed": recipe.seed}
        return recipe.objective.batches(found, tokenizer, model, **budget)
    except UserError as error:
        raise UserError(f"{split}: {error}") from None


def measured(trainer: Trainer, cost: Forecast) -> dict[str, Any]:
    """What the training really took."""
    progress = trainer.state.progress
    flops = cost.flops_per_step / max(1, cost.tokens_per_step) * progress.tokens
    on_cuda = trainer.device.type == "cuda"
    return {
        "steps": progress.step,
        "epochs": progress.epoch,
        "tokens": progress.tokens,
        "seconds": progress.seconds,
        "validation_seconds": progress.validating,
        "tokens_per_second": progress.tokens / progress.training,
        "flops": flops,
        "flops_per_second": flops / progress.training,
        "peak_memory_bytes": torch.cuda.max_memory_allocated() if on_cuda else resident(),
        "best_valid_loss": progress.best,
        "device": device_name(trainer.device),
        "precision": str(trainer.precision).removeprefix("torch."),
    }


def device_name(device: torch.device) -> str:
    """Which make it is."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor() or platform.machine()


def resident() -> int:
    """The most memory this process has held, in bytes."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def versions() -> dict[str, str]:
    from regard import __version__

    return {
        "regard": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
    }
