"""C10: layer norm trains faster, small changes in early layers are amplified without it, and its place matters."""

from contextlib import ExitStack
from typing import Any

import torch

from regard.checkpoint import Run
from regard.lab.claims.experiment import Experiment, Found, Prediction
from regard.lab.claims.panels import Lines
from regard.lab.claims.texts import library, nats, windows
from regard.lab.claims.trial import Arm, Row, Size, Trial, history
from regard.shapes import Float, Int, Tensor

PRE, POST, NONE = "norm before", "norm after", "no norm"
MOVED = 0.01  # of their own size: the change of the first layer's weights


def measure(trial: Trial) -> list[Row]:
    """The loss for each rate; of the best one the curve, and what becomes of a change in the first layer."""
    files, found = library(trial, trial.size["characters"]), []
    for rate in trial.size["rates"]:
        run = trial.train(*files, f"train.rate={rate}")
        text = windows(run, trial.size["characters"])
        found.append((float(nats(run, text).mean()), rate, run))
    _, _, best = min(found, key=lambda each: each[0])
    curve = [{"step": event["step"], "train": event["loss"]} for event in history(best)]
    absolute, part = moved(best, text[:64], torch.Generator().manual_seed(trial.seed))
    changes = enumerate(zip(absolute / absolute[0], part / part[0], strict=True), 1)
    by_layer = [{"layer": layer, "change": float(one), "part": float(other)} for layer, (one, other) in changes]
    return [*({"rate": 1e3 * rate, "loss": loss} for loss, rate, _ in found), *curve, *by_layer]


@torch.no_grad()
def moved(run: Run, text: Int[Tensor, "n t"], chance: torch.Generator) -> tuple[Float[Tensor, "l"], Float[Tensor, "l"]]:
    """How much what each layer is given changes when the weights of the first one do; then as a part of its size."""
    before = given(run, text)
    for name, weight in run.model.named_parameters():
        if ".blocks.0." in name and weight.dim() > 1:
            drawn = torch.randn(weight.shape, generator=chance).to(weight.device)
            weight.add_(drawn, alpha=MOVED * float(weight.norm() / drawn.norm()))
    change = (given(run, text) - before).norm(dim=-1)
    return change.mean((1, 2)), (change / before.norm(dim=-1)).mean((1, 2))


def given(run: Run, text: Int[Tensor, "n t"]) -> Float[Tensor, "l n t w"]:
    """What goes into the feed-forward layer of each block."""
    heard: list[Tensor] = []
    model: Any = run.model
    with ExitStack() as stack:
        for block in model.decoder.blocks:
            layer = block.feedforward
            stack.enter_context(layer.register_forward_pre_hook(lambda part, given: heard.append(given[0])))
        model.decode(text)
    return torch.stack(heard)


def best(of: Found, arm: str) -> float:
    """The lowest loss of all rates."""
    return min(of("loss", arm, rate=rate) for rate in {row["rate"] for row in of.rows if "rate" in row})


def grown(of: Found, name: str) -> str:
    return ", ".join(f"{of.last(name, arm, 'layer'):.2f}" for arm in (PRE, POST, NONE))


def apart(of: Found) -> float:
    """How far the two places of the norm are apart at the highest rate."""
    return of.last("loss", POST, "rate") - of.last("loss", PRE, "rate")


EXPERIMENT = Experiment(
    id="C10",
    title="Layer normalisation",
    claim="Layer norm trains faster; small changes in early layers are amplified without it; its place matters.",
    method="Deep GPTs on the characters of Python's library, with the norm before each sublayer, after it, and without "
    "any, as many steps each and at several rates. At each one's best rate, the weights of the first layer are then "
    f"moved by {MOVED:.0%} of their size, and the change of what each feed-forward layer is given is followed.",
    refuted="without norms the model at its best rate is as good after as many steps",
    arms={PRE: Arm("gpt"), POST: Arm("gpt", "system.norm='post'"), NONE: Arm("gpt", "system.normalizer='none'")},
    pair=True,
    settings=("train.log_every=20",),
    small=Size(
        *(38, "system.width=64", "system.depth=6", "system.context=32", "train.steps=350", "train.batch_tokens=512"),
        characters=300_000,
        rates=(2e-3, 6e-3, 2e-2),
    ),
    full=Size(
        *(50, "system.width=256", "system.heads=8", "system.depth=12", "system.context=128", "train.steps=500"),
        *("train.batch_tokens=8192", "train.warmup=50"),
        characters=4_000_000,
        rates=(1e-3, 3e-3, 1e-2),
    ),
    measure=measure,
    predictions=(
        Prediction(
            "each at its best rate, the model without norms is at least 0.05 nats worse after as many steps",
            lambda of: best(of, NONE) >= min(best(of, PRE), best(of, POST)) + 0.05,
        ),
        Prediction(
            "from the first layer to the last a change grows at least twice as much without norms as with either",
            lambda of: (
                of.last("change", NONE, "layer") >= 2 * max(of.last("change", arm, "layer") for arm in (PRE, POST))
            ),
        ),
        Prediction(
            "at the highest rate the two places of the norm are at least 0.1 nats apart",
            lambda of: abs(apart(of)) >= 0.1,
        ),
    ),
    tells=lambda of: (
        f"at their best rates {best(of, PRE):.2f} nats with norms before, {best(of, POST):.2f} after and "
        f"{best(of, NONE):.2f} without; from the first layer to the last a change becomes {grown(of, 'change')} times "
        f"as large (as a part of it {grown(of, 'part')}); at the highest rate norms after lose {apart(of):.2f} nats"
    ),
    otherwise="depth, and how weights are drawn at the start: small ones at the end of every branch, as here, keep a "
    "stack without norms calm; a long warm-up lets norms after sublayers catch up",
    panels=(
        Lines(x="rate", y="loss", title="By rate", across="rate, thousandths", label="nats per character", log="x"),
        Lines(x="step", y="train", title="Training at the best rate", across="steps", label="nats per character"),
        Lines(x="layer", y="change", title="A change in the first layer", across="layer", label="times the first's"),
    ),
)
