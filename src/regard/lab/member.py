"""One run of a comparison: trained or gone on with, then scored, with what each example got."""

import json
import shutil
from pathlib import Path
from typing import Any

from regard.checkpoint import (
    LOG,
    REPORT,
    STATE,
    is_run,
    load,
    read_json,
    read_labels,
    read_tensors,
    read_tokenizer,
    write_json,
    write_setup,
)
from regard.evaluate import evaluate
from regard.recipe import Recipe
from regard.train import resume
from regard.train.device import choose_device
from regard.train.run import ready, staged, versions
from regard.train.state import Progress


def trained(recipe: Recipe, prepared: Path, folder: Path, *, quiet: bool) -> dict[str, Any]:
    """Train into the folder, or go on there, and score on the test split."""
    if not is_run(folder):
        begin(recipe, prepared, folder)
    resume(folder, quiet=quiet)
    progress = Progress(**json.loads(read_tensors(folder / STATE)[1]["progress"]))
    run = load(folder, str(choose_device(recipe.train.device)))
    examples: dict[str, list[Any]] = {}
    scores = evaluate([run], keep=examples.__setitem__)
    return {
        "run": str(folder),
        "seed": recipe.seed,
        "tokenizer": run.tokenizer.fingerprint,
        "steps": progress.step,
        "tokens": progress.tokens,
        "seconds": seconds_of(folder),
        "training_seconds": progress.training,
        "valid_loss": progress.best,
        "scores": scores,
        "examples": examples,
    }


def begin(recipe: Recipe, prepared: Path, folder: Path) -> None:
    """A run at step 0, on data and with a tokenizer that are prepared already."""
    with staged(folder) as part:
        shutil.copytree(prepared, part, dirs_exist_ok=True)
        write_json(part / REPORT, {**read_json(part / REPORT), "seed": recipe.seed, "versions": versions()})
        write_setup(part, recipe, read_tokenizer(part), read_labels(part, recipe))
        ready(part, tensorboard=False)


def seconds_of(folder: Path) -> float:
    """How long the training took up to its last step, without the validation after it; those before are in it."""
    events = [json.loads(line) for line in (folder / LOG).read_text().splitlines()]
    return max(event["seconds"] for event in events if event["event"] == "step")
