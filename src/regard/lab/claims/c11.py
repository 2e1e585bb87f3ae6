"""C11: unscaled dot products grow with the width and starve the softmax of gradient."""

import torch

from regard.attention.attend import attend
from regard.attention.scores import SCORES
from regard.lab.claims.experiment import Arm, Experiment, Prediction, Size
from regard.lab.claims.panels import Lines
from regard.lab.claims.texts import library, nats, windows
from regard.lab.claims.trial import Row, Trial
from regard.shapes import Float, Tensor

SCALED, PLAIN = "divided by the root", "plain dot product"
QUERIES, KEYS = 256, 64


def measure(trial: Trial) -> list[Row]:
    """Scores of random queries and keys by width, then models whose heads are that wide."""
    rows, files = [drawn(trial, width) for width in trial.size["widths"]], library(trial, trial.size["characters"])
    for width in trial.size["trained"]:
        run = trial.train(*files, f"system.head_width={width}")
        rows.append({"head": width, "loss": float(nats(run, windows(run, trial.size["read"])).mean())})
    return rows


def drawn(trial: Trial, width: int) -> Row:
    """Of queries and keys whose numbers have mean 0 and variance 1: the variance of scores, the slope of softmax."""
    chance = torch.Generator().manual_seed(trial.seed)
    query, key = (torch.randn(1, 1, count, width, generator=chance) for count in (QUERIES, KEYS))
    found = attend(query, key, key, score=SCORES[trial.recipe().system.score](1, width))
    return {"width": width, "variance": float(found.scores.var()), "slope": slope(found.weights)}


def slope(weights: Float[Tensor, "*n k"]) -> float:
    """How much the weights change with the scores: the size of the matrix of derivatives diag(p) - p p', on average."""
    squares, cubes = (weights**2).sum(-1), (weights**3).sum(-1)
    return float((squares - 2 * cubes + squares**2).clamp(min=0).sqrt().mean())


def growth(of, arm: str) -> float:
    """How many times larger the variance is at the greatest width than at the least."""
    return of.last("variance", arm, "width") / of("variance", arm, width=least(of))


def least(of) -> int:
    return min(row["width"] for row in of.rows if "width" in row)


def widening(of) -> float:
    return max(row["width"] for row in of.rows if "width" in row) / least(of)


def lost(of) -> float:
    """Nats, at the greatest width of a head."""
    return of.last("loss", PLAIN, "head") - of.last("loss", SCALED, "head")


EXPERIMENT = Experiment(
    id="C11",
    title="Scaling the dot product",
    claim="Unscaled dot products grow with the width and starve the softmax of gradient.",
    method="Queries and keys drawn with variance 1 are scored with and without the division by the root of the width, "
    "64 keys to a query; the slope is the size of the softmax's derivatives. Then GPTs are trained on the characters "
    "of Python's library with heads of several widths.",
    refuted="the variance of plain scores does not grow, or softmax has as much slope under them at the greatest width",
    arms={SCALED: Arm("gpt"), PLAIN: Arm("gpt", "system.score='dot'")},
    pair=True,
    settings=("system.heads=2",),
    small=Size(
        *(46, "system.width=64", "system.depth=2", "train.steps=400", "train.batch_tokens=512"),
        widths=(4, 16, 64, 256, 1024),
        trained=(16, 128, 512),
        characters=500_000,
        read=25_000,
    ),
    full=Size(
        *(70, "system.width=256", "system.depth=6", "system.context=128", "train.steps=700"),
        *("train.batch_tokens=8192", "train.rate=1e-3"),
        widths=(4, 16, 64, 256, 1024),
        trained=(16, 128, 1024),
        characters=2_000_000,
        read=100_000,
    ),
    measure=measure,
    predictions=(
        Prediction(
            "the variance of plain scores grows at least half as much as the width, that of scaled ones stays within "
            "a factor of 2, and at the greatest width softmax has at most half the slope under plain ones",
            lambda of: (
                growth(of, PLAIN) >= widening(of) / 2
                and 0.5 <= growth(of, SCALED) <= 2
                and of.last("slope", PLAIN, "width") <= of.last("slope", SCALED, "width") / 2
            ),
        ),
        Prediction(
            "trained with the widest heads, the plain model is at least 0.05 nats worse", lambda of: lost(of) >= 0.05
        ),
    ),
    tells=lambda of: (
        f"{widening(of):.0f} times the width makes the variance of plain scores {growth(of, PLAIN):.0f} times as large "
        f"and of scaled ones {growth(of, SCALED):.1f} times, and leaves softmax a slope of "
        f"{of.last('slope', PLAIN, 'width'):.3f} in place of {of.last('slope', SCALED, 'width'):.3f}; "
        f"with the widest heads the plain model is {lost(of):.2f} nats worse"
    ),
    otherwise="narrower heads, whose plain scores leave softmax as much slope or more; for training, a start at which "
    "queries and keys are large: with small ones plain scores begin small too, and the model can learn to keep them so",
    panels=(
        Lines(x="width", y="variance", title="Scores", across="width of a head", label="variance", log="xy"),
        Lines(x="width", y="slope", title="Softmax", across="width of a head", label="size of derivatives", log="x"),
        Lines(x="head", y="loss", title="Trained", across="width of a head", label="nats per character", log="x"),
    ),
)
