"""C24: one pass with the mask is the same as reading each prefix anew, at a fraction of the cost."""

from collections.abc import Iterator
from functools import partial

import torch
from torch.nn.functional import cross_entropy

import regard
from regard.checkpoint import Run
from regard.lab.bench import fastest
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.panels import Lines
from regard.lab.claims.texts import library, windows
from regard.lab.claims.trial import Row, Trial
from regard.lab.mistakes import MISTAKES
from regard.shapes import Int, Tensor
from regard.train.flops import flop_counter

LENGTHS, REPEATS, CHARACTERS = (8, 16, 32, 64, 128, 256, 512), 5, 300_000
ONCE, PREFIXES, OPEN = "at once, masked", "prefix by prefix", "at once, no mask"
Text = Int[Tensor, "t"]


def measure(trial: Trial) -> list[Row]:
    """One model for each seed; the arms are ways to take a training step with it."""
    return [{"seed": seed, **row} for seed in trial.seeds for row in compared(trial, seed)]


def compared(trial: Trial, seed: int) -> Iterator[Row]:
    run = trial.train(*library(trial, CHARACTERS), arm=trial.arms[ONCE], seed=seed)
    with MISTAKES["no mask"].made():
        unmasked = regard.load(run.path, str(run.model.device))
    text = windows(run, 2 * run.model.context).flatten()
    for length in trial.size["lengths"]:
        part, found = text[: length + 1], {}
        for arm, model, way in ((PREFIXES, run, by_prefixes), (ONCE, run, at_once), (OPEN, unmasked, at_once)):
            with flop_counter() as counter:
                found[arm] = way(model, part)
            losses, slopes = map(away, found[arm], found[PREFIXES])
            row = {"arm": arm, "length": length, "losses": losses, "gradient": slopes}
            seconds = fastest(run.model.device, partial(way, model, part), 1 if arm == PREFIXES else REPEATS)
            yield {**row, "gflop": counter.get_total_flops() / 1e9, "ms": 1e3 * seconds}


def at_once(run: Run, text: Text) -> tuple[Tensor, Tensor]:
    """What each next token costs, and the gradient of their sum: one pass over all."""
    costs = cross_entropy(run.model.decode(text[None, :-1])[0], text[1:], reduction="none")
    return costs.detach(), gradient(run, costs.sum())


def by_prefixes(run: Run, text: Text) -> tuple[Tensor, Tensor]:
    """The same from as many passes as there are tokens: each reads what came before one token, and nothing else."""
    costs, slope = [], torch.zeros((), device=text.device)
    for end in range(1, len(text)):
        cost = cross_entropy(run.model.decode(text[None, :end])[0, -1], text[end])
        costs.append(cost.detach())
        slope = slope + gradient(run, cost)
    return torch.stack(costs), slope


def gradient(run: Run, cost: Tensor) -> Tensor:
    return torch.cat([slope.flatten() for slope in torch.autograd.grad(cost, list(run.model.parameters()))])


def away(found: Tensor, wanted: Tensor) -> float:
    """How far the farthest number is from what it should be, as a part of the largest of them."""
    return float((found - wanted).abs().max() / wanted.abs().max())


def dearer(of: Found, name: str) -> tuple[float, float]:
    """How many times as dear prefixes are, for the shortest text and for the longest."""
    lengths = [row["length"] for row in of.rows]
    first, last = (of(name, PREFIXES, length=n) / of(name, ONCE, length=n) for n in (min(lengths), max(lengths)))
    return first, last


def off(of: Found, arm: str) -> list[float]:
    """How far losses and gradient are from what prefixes give: at each length, the farther of both."""
    return [max(row["losses"], row["gradient"]) for row in of.rows if row["arm"] == arm]


OVER: Row = {"x": "length", "across": "tokens", "log": "xy"}
EXPERIMENT = Experiment(
    id="C24",
    title="All prefixes at once",
    claim="One pass with the future masked equals reading each prefix of a text anew, at a fraction of the cost.",
    method="A GPT takes training steps on unseen texts of several lengths: at once with the mask, by prefixes, at once "
    f"without. Losses, gradients, arithmetic and time are compared: prefixes timed once, others as best of {REPEATS}.",
    refuted="losses or gradients of both ways differ, or without the mask neither does",
    arms={ONCE: Arm("gpt"), PREFIXES: Arm("gpt"), OPEN: Arm("gpt")},
    together=True,
    timed=("ms",),
    settings=("train.batch_tokens=2048",),
    small=Size(60, "system.context=256", "train.steps=50", "system.depth=2", lengths=LENGTHS[:-1]),
    full=Size(1500, "system.context=512", "train.steps=500", "system.width=256", lengths=LENGTHS),
    measure=measure,
    predictions=(
        Prediction(
            "at every length, losses and gradients of both ways are the same to one part in a thousand; without the "
            "mask one of them or both differ by more than a tenth",
            lambda of: max(off(of, ONCE)) < 1e-3 < 0.1 < min(off(of, OPEN)),
        ),
        Prediction(
            "for the longest text one pass takes at most a tenth of the time and of the arithmetic",
            lambda of: min(dearer(of, "ms")[1], dearer(of, "gflop")[1]) >= 10,
        ),
        Prediction(
            "the longer the text, the more is saved: of the time at least four times as much as for the shortest",
            lambda of: dearer(of, "ms")[1] >= 4 * dearer(of, "ms")[0],
        ),
    ),
    tells=lambda of: (
        f"losses and gradients differ by at most {max(off(of, ONCE)):.0e} of the largest (without the mask by "
        f"{min(off(of, OPEN)):.2g} or more); for the longest text prefixes take {dearer(of, 'ms')[1]:.0f} times the "
        f"time (for the shortest {dearer(of, 'ms')[0]:.1f}) and {dearer(of, 'gflop')[1]:.0f} times the arithmetic"
    ),
    otherwise="for equality nothing but a wrong mask; a machine with room for all prefixes side by side would take as "
    "many times the arithmetic, and not as many times as long",
    panels=(
        Lines(y="ms", title="Time of a training step", label="milliseconds", **OVER),
        Lines(y="gflop", title="Arithmetic of a step", label="GFLOP", arms=(ONCE, PREFIXES), **OVER),
        Lines(y="gradient", title="Error of the gradient", label="share of the largest", arms=(ONCE, OPEN), **OVER),
    ),
)
