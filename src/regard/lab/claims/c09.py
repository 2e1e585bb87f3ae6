"""C9: residual connections smooth the loss surface, and without them deeper is worse (Li et al., 2018)."""

from collections.abc import Iterator
from itertools import product

import torch

from regard.checkpoint import Run
from regard.lab.claims.c06 import gained
from regard.lab.claims.experiment import Arm, Experiment, Prediction, Size
from regard.lab.claims.panels import Lines, Map
from regard.lab.claims.texts import library, nats, windows
from regard.lab.claims.trial import Row, Trial
from regard.shapes import Float, Tensor

WITH, WITHOUT = "with residuals", "without residuals"
Weights = dict[str, Tensor]


def measure(trial: Trial) -> list[Row]:
    """By depth the loss on text of the training and the roughness of the surface; of the deepest model all of it."""
    files, rows, (characters, steps) = library(trial, trial.size["characters"]), list[Row](), trial.size["land"]
    for depth in trial.size["depths"]:
        run = trial.train(*files, f"system.depth={depth}")
        loss = nats(run, windows(run, trial.size["read"], split="train")).mean()
        heights = surface(run, characters, steps, trial.seed)
        rows.append({"depth": depth, "loss": float(loss), "roughness": roughness(heights)})
    places = torch.linspace(-1, 1, steps).tolist()
    points = zip(product(places, places), heights.flatten().tolist(), strict=True)
    return [*rows, *({"depth": depth, "x": x, "y": y, "height": z} for (x, y), z in points)]


@torch.no_grad()
def surface(run: Run, characters: int, steps: int, seed: int) -> Float[Tensor, "n n"]:
    """The loss where the weights are moved along two directions, by up to their own size either way; so they stay."""
    text = windows(run, characters, split="train")
    parts = dict(run.model.named_parameters())
    here = {name: part.clone() for name, part in parts.items()}
    one, other = directions(here, torch.Generator().manual_seed(seed))
    places, heights = torch.linspace(-1, 1, steps).tolist(), []
    for x, y in product(places, places):
        for name, part in parts.items():
            part.copy_(here[name] + x * one[name] + y * other[name])
        heights.append(float(nats(run, text).mean()))
    return torch.tensor(heights, dtype=torch.float64).view(steps, steps)


def directions(weights: Weights, chance: torch.Generator) -> Iterator[Weights]:
    """Two at random. Each row of a matrix is as long as the row it moves; biases and gains stay where they are."""
    for _ in range(2):
        way = {}
        for name, weight in weights.items():
            drawn = torch.randn(weight.shape, generator=chance).to(weight.device)
            scaled = drawn * weight.norm(dim=-1, keepdim=True) / drawn.norm(dim=-1, keepdim=True)
            way[name] = scaled if weight.dim() > 1 else torch.zeros_like(weight)
        yield way


def roughness(heights: Float[Tensor, "n n"]) -> float:
    """By how much a step up or down differs from the step before it, as a part of a step: a plane has 0."""
    steps = [heights.diff(dim=axis) for axis in (0, 1)]
    turns = [step.diff(dim=axis) for axis, step in enumerate(steps)]
    return float(sum(turn.abs().mean() for turn in turns) / sum(step.abs().mean() for step in steps))


def land(title: str, arm: str) -> Map:
    """The surface of an arm, all on one scale."""
    across, up = (f"{which} direction, sizes of the weights" for which in ("first", "second"))
    scale: Row = {"unit": "nats per character", "low": 1, "high": 5}
    return Map(x="x", over="y", y="height", title=title, across=across, label=up, arms=(arm,), **scale)


OVER: Row = {"x": "depth", "across": "layers", "log": "x"}
EXPERIMENT = Experiment(
    id="C9",
    title="Residual connections",
    claim="Residual connections smooth the loss surface; without them deeper models are worse, even in training.",
    method="GPTs of several depths on the characters of Python's library, with and without residuals. Then the loss "
    "around the weights of each, along two random directions whose rows are as long as the weights' own; "
    "roughness is the change from one step on that grid to the next, as a part of a step.",
    refuted="without residuals the deepest model fits its own training text as well as the shallowest",
    arms={WITH: Arm("gpt"), WITHOUT: Arm("gpt", "system.residual=false")},
    pair=True,
    small=Size(
        *(58, "system.width=64", "system.context=32", "train.steps=380", "train.batch_tokens=512"),
        characters=300_000,
        depths=(1, 2, 4, 8),
        read=16_000,
        land=(2_000, 13),
    ),
    full=Size(
        *(72, "system.width=256", "system.context=128", "train.steps=600", "train.batch_tokens=8192"),
        *("train.rate=1e-3", "system.heads=8"),
        characters=2_000_000,
        depths=(1, 2, 4, 12),
        read=128_000,
        land=(8_000, 17),
    ),
    measure=measure,
    predictions=(
        Prediction(
            "without residuals the deepest model's loss in training is at least 0.1 nats above the shallowest's, with "
            "them at most 0.05",
            lambda of: gained(of, WITHOUT) <= -0.1 and gained(of, WITH) >= -0.05,
        ),
        Prediction(
            "with two layers, of which both ways learn, the surface is at least one and a half times as rough without",
            lambda of: of("roughness", WITHOUT, depth=2) >= 1.5 * of("roughness", WITH, depth=2),
        ),
    ),
    tells=lambda of: (
        f"from the shallowest to the deepest model the loss in training changes by {-gained(of, WITH):+.2f} nats with "
        f"residuals and by {-gained(of, WITHOUT):+.2f} without (to {of.last('loss', WITHOUT, 'depth'):.2f}); with two "
        f"layers the surface's roughness is {of('roughness', WITH, depth=2):.2f} with them and "
        f"{of('roughness', WITHOUT, depth=2):.2f} without"
    ),
    otherwise="fewer layers, a finer grid, or a start made for plain networks (every layer near the identity); a "
    "model that learns nothing lies on a plateau, whose roughness says nothing",
    panels=(
        Lines(y="loss", title="Text of the training", label="nats per character", **OVER),
        Lines(y="roughness", title="Surface", label="roughness, parts of a step", **OVER),
        *(land(f"Deepest {arm}", arm) for arm in (WITH, WITHOUT)),
    ),
)
