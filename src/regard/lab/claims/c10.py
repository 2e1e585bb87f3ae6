"""C10: layer norm trains faster, small changes in early layers are amplified without it, and its place matters."""

import torch
from torch.nn.modules.module import register_module_forward_pre_hook

from regard.checkpoint import Run
from regard.errors import WorldError
from regard.lab.claims.experiment import Experiment, Found, Prediction
from regard.lab.claims.panels import Lines
from regard.lab.claims.texts import library, nats, windows
from regard.lab.claims.trial import Arm, Row, Size, Trial, history
from regard.shapes import Float, Int, Tensor

PRE, POST, NONE = "norm before", "norm after", "no norm"
MOVED = 0.01  # of their own size: the change of the first layer's weights


def measure(trial: Trial) -> list[Row]:
    """The loss for each rate; of the best one the curve, and what becomes of a change in the first layer."""
    files, rows, runs = library(trial, trial.size["characters"]), list[Row](), dict[float, Run]()
    for rate in trial.size["rates"]:
        try:
            run = trial.train(*files, f"train.rate={rate}")
        except WorldError:  # the loss is no longer a number
            rows.append({"rate": 1e3 * rate, "ended": 0})
            continue
        text = windows(run, trial.size["characters"])
        rows.append({"rate": 1e3 * rate, "ended": 1, "loss": float(nats(run, text).mean())})
        runs[rows[-1]["loss"]] = run
    best = runs[min(runs)]
    changes = moved(best, text[:64], torch.Generator().manual_seed(trial.seed))
    rows += [{"layer": layer, "change": change / changes[0]} for layer, change in enumerate(changes, 1)]
    return rows + [{"step": event["step"], "train": event["loss"]} for event in history(best)]


@torch.no_grad()
def moved(run: Run, text: Int[Tensor, "n t"], chance: torch.Generator) -> list[float]:
    """Layer by layer how much what it is given changes when the weights of the first one do."""
    before = given(run, text)
    for name, weight in run.model.named_parameters():
        if ".blocks.0." in name and weight.dim() > 1:
            drawn = torch.randn(weight.shape, generator=chance).to(weight.device)
            weight.add_(drawn, alpha=MOVED * float(weight.norm() / drawn.norm()))
    return (given(run, text) - before).norm(dim=-1).mean((1, 2)).tolist()


def given(run: Run, text: Int[Tensor, "n t"]) -> Float[Tensor, "l n t w"]:
    """What goes into the feed-forward layer of each block."""
    heard: list[Tensor] = []
    layers = {part for name, part in run.model.named_modules() if name.endswith(".feedforward")}
    with register_module_forward_pre_hook(lambda part, given: heard.append(given[0]) if part in layers else None):
        run.model.decode(text)
    return torch.stack(heard)


def losses(of: Found, arm: str) -> dict[float, float]:
    """By rate, of those that ended."""
    rates = {row["rate"] for row in of.rows if row["arm"] == arm and "rate" in row and row["ended"]}
    return {rate: of("loss", arm, rate=rate) for rate in rates}


def best(of: Found, arm: str) -> float:
    return min(losses(of, arm).values())


def apart(of: Found) -> float:
    """What norms after sublayers lose against those before, at the highest rate that both ended at."""
    pre, post = losses(of, PRE), losses(of, POST)
    return post[max(pre.keys() & post.keys())] - pre[max(pre.keys() & post.keys())]


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
            lambda of: best(of, NONE) >= min(best(of, PRE), best(of, POST)) + 0.05,
        ),
        Prediction(
            "from the first layer to the last a change grows at least twice as much without norms as with either",
            lambda of: (
                of.last("change", NONE, "layer") >= 2 * max(of.last("change", arm, "layer") for arm in (PRE, POST))
            ),
        ),
        Prediction(
            "at the highest rate that both stand, the two places of the norm are at least 0.1 nats apart",
            lambda of: abs(apart(of)) >= 0.1,
        ),
    ),
    tells=lambda of: (
        f"at their best rates {best(of, PRE):.2f} nats with norms before, {best(of, POST):.2f} after and "
        f"{best(of, NONE):.2f} without; from the first layer to the last a change becomes "
        f"{of.last('change', PRE, 'layer'):.2f}, {of.last('change', POST, 'layer'):.2f} and "
        f"{of.last('change', NONE, 'layer'):.2f} times as large; norms after lose {apart(of):.2f} at the highest rate"
    ),
    otherwise="how a change is counted: as a part of the stream, which grows from layer to layer itself, it is not "
    "amplified; and a long warm-up, which lets norms after sublayers stand a high rate",
    panels=(
        Lines(x="rate", y="loss", title="By rate", across="rate, thousandths", label="nats per character", log="x"),
        Lines(x="step", y="train", title="Training at the best rate", across="steps", label="nats per character"),
        Lines(x="layer", y="change", title="A change in the first layer", across="layer", label="times the first's"),
    ),
)
