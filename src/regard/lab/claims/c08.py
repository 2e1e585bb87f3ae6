"""C8: several heads cost the same compute as one, and look at different things."""

from itertools import combinations

import torch

from regard.checkpoint import Run
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.panels import Bars, Lines
from regard.lab.claims.texts import library, nats, windows
from regard.lab.claims.trial import Row, Trial, curve
from regard.shapes import Float, Tensor
from regard.systems import parameters
from regard.tap import record
from regard.train.flops import flop_counter

ONE, SEVERAL = "one head", "eight heads"


def measure(trial: Trial) -> list[Row]:
    run = trial.train(*library(trial, trial.size["characters"]))
    text = windows(run, trial.size["read"])
    looks = [{"layer": layer, "distance": distance} for layer, distance in enumerate(distances(run, text[:16]), 1)]
    cost = {"flops": flops(run) / run.model.context / 1e3, "parameters": parameters(run.model)}
    return [*curve(run), *looks, {**cost, "unseen": float(nats(run, text).mean())}]


def flops(run: Run) -> int:
    """Of a training step on one window: there and back."""
    text = windows(run, run.model.context)
    with flop_counter() as counter:
        loss = torch.nn.functional.cross_entropy(run.model.decode(text).flatten(0, 1), text.flatten())
        torch.autograd.grad(loss, list(run.model.parameters()))
    return counter.get_total_flops()


def distances(run: Run, text: Tensor) -> list[float]:
    """Layer by layer how far apart heads look."""
    with record(run.model, "*.look.weights") as seen, torch.no_grad():
        run.model.decode(text)
    return [apart(weights) for weights in seen.values()]


def apart(weights: Float[Tensor, "b h q k"]) -> float:
    """The part of its weight that a head gives to other tokens than another head does: the mean over pairs, texts and
    tokens that see at least half of a row; 0 where there is one head."""
    weights = weights[:, :, weights.shape[2] // 2 :]
    found = [
        (weights[:, one] - weights[:, other]).abs().sum(-1).mean() / 2
        for one, other in combinations(range(weights.shape[1]), 2)
    ]
    return float(torch.stack(found).mean()) if found else 0.0


def mean_distance(of: Found) -> float:
    return of("distance", SEVERAL)


EXPERIMENT = Experiment(
    id="C8",
    title="Several heads",
    claim="Several heads cost the same compute as one and look at different things.",
    method="One GPT on the characters of Python's library with one head and with eight, of an eighth of the width "
    "each. FLOPs of matrix products are counted there and back; the distance of two heads is the part of its weight "
    "that one gives to other characters than the other.",
    refuted="two of eight heads give less than a quarter of their weight to different characters",
    arms={ONE: Arm("gpt", "system.heads=1"), SEVERAL: Arm("gpt", "system.heads=8")},
    pair=True,
    settings=("train.log_every=20",),
    small=Size(
        *(25, "system.width=128", "system.depth=2", "train.steps=500", "train.batch_tokens=512"),
        characters=500_000,
        read=25_000,
    ),
    full=Size(
        *(50, "system.width=256", "system.depth=6", "system.context=256", "train.steps=2000"),
        *("train.batch_tokens=8192", "train.rate=1e-3"),
        characters=4_000_000,
        read=200_000,
    ),
    measure=measure,
    predictions=(
        Prediction(
            "two heads of a layer give at least a quarter of their weight to different characters",
            lambda of: mean_distance(of) >= 0.25,
        ),
        Prediction(
            "a step takes the same FLOPs and the model has the same number of parameters",
            lambda of: all(of(cost, ONE) == of(cost, SEVERAL) for cost in ("flops", "parameters")),
        ),
    ),
    tells=lambda of: (
        f"one head takes {of('flops', ONE) / 1e3:.1f} million FLOPs a character and eight take "
        f"{of('flops', SEVERAL) / 1e3:.1f} million; two of eight heads give {mean_distance(of):.0%} of their weight to "
        f"different characters, and the loss on unseen text is {of('unseen', ONE):.2f} nats with one and "
        f"{of('unseen', SEVERAL):.2f} with eight"
    ),
    otherwise="counting what is done number by number, for the softmax has as many rows as heads, or heads that keep "
    "the full width (system.head_width)",
    panels=(
        Bars(y="flops", title="Cost of training", label="thousand FLOPs a character"),
        Bars(
            y="distance",
            by="layer",
            title="How far apart heads look",
            label="part of the weight",
            names="layer",
            arms=(SEVERAL,),
        ),
        Lines(x="step", y="loss", title="Training", across="steps", label="nats per character"),
    ),
)
