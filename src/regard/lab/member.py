"""One run of a comparison: trained or gone on with, then scored, with what each example got."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from regard.checkpoint import LOG, STATE, is_run, load, read_tensors
from regard.checkpoint import Run as Loaded
from regard.evaluate import evaluate
from regard.evaluate.run import choose, likelihood
from regard.recipe import Recipe
from regard.train import resume, train
from regard.train.device import choose_device

MOST = 100  # groups of documents whose loss is told apart


def trained(recipe: Recipe, folder: Path, *, quiet: bool) -> dict[str, Any]:
    """Train into the folder, or go on there, and score on the test split."""
    if is_run(folder):
        resume(folder, quiet=quiet)
    else:
        train(recipe, folder, quiet=quiet)
    progress = json.loads(read_tensors(folder / STATE)[1]["progress"])
    run = load(folder, str(choose_device(recipe.train.device)))
    examples: dict[str, list[Any]] = {}
    scores = evaluate([run], keep=examples.__setitem__)
    if "hypothesis" not in examples:
        examples["nats"] = nats_of_groups(run)
    return {
        "run": str(folder),
        "seed": recipe.seed,
        "steps": progress["step"],
        "tokens": progress["tokens"],
        "seconds": seconds_of(folder),
        "valid_loss": progress["best"],
        "scores": scores,
        "examples": examples,
    }


def seconds_of(folder: Path) -> float:
    """How long the training took up to its last step, without the validation after it."""
    events = [json.loads(line) for line in (folder / LOG).read_text().splitlines()]
    return max(event["seconds"] for event in events if event["event"] == "step")


def nats_of_groups(run: Loaded) -> list[tuple[float, int]]:
    """The nats and tokens of each group of neighbouring test documents: what is drawn again in a bootstrap."""
    source = choose(run, (), lambda line: None)
    count = min(MOST, len(source))
    borders = [len(source) * i // count for i in range(count + 1)]
    found = []
    for begin, end in pairwise(borders):
        part = likelihood(run, source.part(begin, end), None, lambda line: None)
        found.append((part["loss"] * part["tokens"], part["tokens"]))
    return found
