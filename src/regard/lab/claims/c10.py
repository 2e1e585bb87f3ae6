"""C10: layer norm trains faster, small changes in early layers are amplified without it, and its place matters."""

import math
from collections import Counter
from statistics import fmean

import torch

from regard.checkpoint import Run
from regard.errors import Diverged
from regard.lab.claims.changes import MOVED, moved
from regard.lab.claims.experiment import Experiment, Found, Prediction
from regard.lab.claims.panels import Lines
from regard.lab.claims.texts import library, nats, windows
from regard.lab.claims.trial import Arm, Row, Size, Trial, history

PRE, POST, NONE = "norm before", "norm after", "no norm"


def measure(trial: Trial) -> list[Row]:
    """The loss for each rate; of the best one the curve, and what becomes of a change in the first layer."""
    files, rows, runs = library(trial, trial.size["characters"]), list[Row](), dict[float, Run]()
    for rate in trial.size["rates"]:
        try:
            run = trial.train(*files, f"train.rate={rate}")
        except Diverged:
            rows.append({"rate": 1e3 * rate, "ended": 0})
            continue
        text = windows(run, trial.size["characters"])
        rows.append({"rate": 1e3 * rate, "ended": 1, "loss": float(nats(run, text).mean())})
        runs[rows[-1]["loss"]] = run
    if not runs:
        return rows
    best = runs[min(runs)]
    changes = moved(best, text[:64], torch.Generator().manual_seed(trial.seed))
    rows += [{"layer": layer, "change": change / changes[0]} for layer, change in enumerate(changes, 1)]
    return rows + [{"step": event["step"], "train": event["loss"]} for event in history(best)]


def losses(of: Found, arm: str) -> dict[float, float]:
    """By rate, of one seed's trainings that ended."""
    return {row["rate"]: row["loss"] for row in of.rows if row["arm"] == arm and row.get("ended")}


def best(of: Found, arm: str) -> float:
    """Infinite where no rate let it end."""
    return min(losses(of, arm).values(), default=math.inf)


def grown(of: Found, arm: str) -> float:
    """A change, from the first layer to the last; no number where no model is left to be changed."""
    return of.last("change", arm, "layer") if losses(of, arm) else math.nan


def apart(of: Found) -> tuple[float, float]:
    """The highest rate at which both places of the norm ended, and what norms after cost more than before there."""
    before, after = losses(of, PRE), losses(of, POST)
    rate = max(before.keys() & after.keys(), default=0.0)
    return rate, after.get(rate, math.inf) - before.get(rate, math.inf)


def seeds(of: Found) -> list[Found]:
    return [of.of(seed) for seed in sorted({row["seed"] for row in of.rows})]


def told(of: Found, arm: str) -> str:
    """Means of what each seed gives, and where trainings were lost."""
    loss, change = (fmean(number(one, arm) for one in seeds(of)) for number in (best, grown))
    lost = Counter(row["rate"] / 1e3 for row in of.rows if row["arm"] == arm and row.get("ended") == 0)
    where = ", ".join(f"{count} at {rate:g}" for rate, count in sorted(lost.items())) or "none"
    return f"{arm} {loss:.2f} nats, {change:.2f} times (lost: {where})"


EXPERIMENT = Experiment(
    id="C10",
    title="Layer normalisation",
    claim="Layer norm trains faster; small changes in early layers are amplified without it; its place matters.",
    method="Deep GPTs on the characters of Python's library, with the norm before each sublayer, after it, and without "
    "any, as many steps each and at several rates; a training whose loss is no longer a number is lost, and whoever "
    "is lost at every rate has an infinite loss. At each one's best rate the first layer's weights are then moved "
    f"by {MOVED:.0%} of their size, and the change of what feed-forward layers get (after a norm, if any) is followed.",
    refuted="without norms the model at its best rate is less than 0.05 nats worse after as many steps",
    arms={PRE: Arm("gpt"), POST: Arm("gpt", "system.norm='post'"), NONE: Arm("gpt", "system.normalizer='none'")},
    pair=True,
    settings=("train.log_every=20",),
    small=Size(
        *(39, "system.width=64", "system.depth=6", "system.context=32", "train.steps=300", "train.batch_tokens=512"),
        characters=300_000,
        rates=(2e-3, 6e-3, 2e-2),
    ),
    full=Size(
        *(48, "system.width=256", "system.heads=8", "system.depth=10", "system.context=128", "train.steps=400"),
        *("train.batch_tokens=8192", "train.warmup=50"),
        characters=1_500_000,
        rates=(1e-3, 3e-3, 1e-2),
    ),
    measure=measure,
    predictions=(
        Prediction(
            "each at its best rate, the model without norms is at least 0.05 nats worse after as many steps",
            lambda of: best(of, NONE) - min(best(of, PRE), best(of, POST)) >= 0.05,
        ),
        Prediction(
            "from the first layer to the last a change grows at least twice as much without norms as with either",
            lambda of: all(grown(of, NONE) >= 2 * grown(of, arm) for arm in (PRE, POST)),
        ),
        Prediction(
            "at the highest rate at which both end, the two places of the norm are at least 0.1 nats apart",
            lambda of: abs(apart(of)[1]) >= 0.1,
        ),
    ),
    tells=lambda of: (
        "the loss at the best rate, and how many times as large a change is in the last layer as in the first: "
        f"{'; '.join(told(of, arm) for arm in (PRE, POST, NONE))}; nats that norms after cost more than before, at the "
        "highest rate at which both end: "
        + (", ".join(f"{more:+.2f} (at {rate / 1e3:g})" for rate, more in map(apart, seeds(of)) if rate) or "unknown")
    ),
    otherwise="how a change is counted: the stream grows from layer to layer itself, and a part of it is another "
    "number; and a long warm-up, with which norms after sublayers stand higher rates",
    panels=(
        Lines(x="rate", y="loss", title="By rate, if ended", across="thousandths", label="nats per character", log="x"),
        Lines(x="step", y="train", title="Training at the best rate", across="steps", label="nats per character"),
        Lines(x="layer", y="change", title="A change in the first layer", across="layer", label="times the first's"),
    ),
)
