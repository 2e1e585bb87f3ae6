"""One run of a comparison: trained or gone on with, then scored, with what each example got."""

import json
import shutil
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint import (
    LOG,
    REPORT,
    STATE,
    Run,
    is_run,
    load,
    read_json,
    read_labels,
    read_tensors,
    read_tokenizer,
    write_json,
    write_setup,
)
from regard.data import IGNORE, Batch
from regard.evaluate import evaluate
from regard.evaluate.hidden import read
from regard.evaluate.job import Job
from regard.evaluate.run import choose
from regard.objectives import Masked, SpanCorruption
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
    examples |= guessed(run)
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


@torch.inference_mode()
def guessed(run: Run) -> dict[str, list[Any]]:
    """Of each test text in which words are hidden its nats and how many tokens they are of, and what was `asked`.

    The evaluation adds them up and keeps none, so the test is read once more. The seed of the run decides what is
    hidden, but so does the length of its windows: two runs were asked the same where `asked` is the same.
    """
    found: dict[str, list[Any]] = {"nats": [], "asked": []}
    task = run.recipe.objective
    if not isinstance(task, Masked | SpanCorruption):
        return {}
    for batch in read(Job(run, choose(run, (), lambda line: None))):
        nats, counts = task(run.model, batch).each.double().sum(1), (batch.targets != IGNORE).sum(1)
        found["nats"] += zip(nats.tolist(), counts.tolist(), strict=True)
        found["asked"] += digests(batch)
    return found


def digests(batch: Batch) -> list[str]:
    """Of each row what is shown and what is to be guessed, in a few letters."""
    parts = [
        each.cpu().numpy() for each in (batch.tokens, batch.targets, batch.source, batch.label) if each is not None
    ]
    return [
        blake2b(b"|".join(part[i].tobytes() for part in parts), digest_size=8).hexdigest() for i in range(len(batch))
    ]


def seconds_of(folder: Path) -> float:
    """How long the training took up to its last step, without the validation after it; those before are in it."""
    events = [json.loads(line) for line in (folder / LOG).read_text().splitlines()]
    return max(event["seconds"] for event in events if event["event"] == "step")
