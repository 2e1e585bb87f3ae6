"""C11: unscaled dot products grow with the width and starve the softmax of gradient."""

import torch

from regard.attention.attend import attend
from regard.attention.scores import SCORES
from regard.checkpoint import Run
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.panels import Lines
from regard.lab.claims.texts import library, nats, windows
from regard.lab.claims.trial import Row, Trial
from regard.shapes import Float, Int, Tensor
from regard.tap import record

SCALED, PLAIN = "divided by the root", "plain dot product"
QUERIES, KEYS, WIDTHS = 256, 64, (4, 16, 64, 256, 1024)
TRAINED, DRAWN = "head", "width"  # columns: how wide the heads of a model are, and queries and keys that are drawn


def measure(trial: Trial) -> list[Row]:
    files, rows = library(trial, trial.size["characters"]), [drawn(trial, width) for width in WIDTHS]
    for width in trial.size["trained"]:
        run = trial.train(*files, f"system.head_width={width}")
        text = windows(run, trial.size["read"])
        rows.append({TRAINED: width, "loss": float(nats(run, text).mean()), **inside(run, text[:KEYS])})
    return rows


def inside(run: Run, text: Int[Tensor, "n t"]) -> Row:
    """What a trained model's scores are at the last character of each window, which sees all of it."""
    with record(run.model, "*.look.scores") as seen, torch.no_grad():
        run.model.decode(text)
    scores = torch.stack([found[:, :, -1] for found in seen.values()])
    return {"head_variance": float(scores.var(-1).mean()), "head_slope": slope(scores.softmax(-1))}


def drawn(trial: Trial, width: int) -> Row:
    """The same of queries and keys whose numbers have mean 0 and variance 1."""
    chance = torch.Generator().manual_seed(trial.seed)
    query, key = (torch.randn(1, 1, count, width, generator=chance) for count in (QUERIES, KEYS))
    found = attend(query, key, key, score=SCORES[trial.recipe().system.score](1, width))
    return {DRAWN: width, "width_variance": float(found.scores.var()), "width_slope": slope(found.weights)}


def slope(weights: Float[Tensor, "*n k"]) -> float:
    """How much the weights change with the scores: the size of the matrix of derivatives diag(p) - p p', on average."""
    squares, cubes = (weights**2).sum(-1), (weights**3).sum(-1)
    return float((squares - 2 * cubes + squares**2).clamp(min=0).sqrt().mean())


def growth(of: Found, arm: str, by: str) -> float:
    """How many times larger the variance is at the greatest width than at the least."""
    least = min(row[by] for row in of.rows if by in row)
    return of.last(f"{by}_variance", arm, by) / of(f"{by}_variance", arm, **{by: least})


def starved(of: Found, by: str) -> bool:
    """Whether plain scores grow at least half as much as the width, and in the end leave softmax half the slope."""
    widths = [row[by] for row in of.rows if by in row]
    less = of.last(f"{by}_slope", PLAIN, by) <= of.last(f"{by}_slope", SCALED, by) / 2
    return less and growth(of, PLAIN, by) >= max(widths) / min(widths) / 2


def lost(of: Found) -> float:
    """Nats, at the greatest width of a head."""
    return of.last("loss", PLAIN, TRAINED) - of.last("loss", SCALED, TRAINED)


def told(of: Found, by: str) -> str:
    times = " and ".join(f"{growth(of, arm, by):,.1f}" for arm in (PLAIN, SCALED))
    slopes = " and ".join(f"{of.last(f'{by}_slope', arm, by):.3f}" for arm in (PLAIN, SCALED))
    return f"the variance of plain and of scaled scores grows {times}-fold, and softmax's slope is {slopes} at last"


OVER: Row = {"across": "width of a head", "log": "x"}
EXPERIMENT = Experiment(
    id="C11",
    title="Scaling the dot product",
    claim="Unscaled dot products grow with the width and starve the softmax of gradient.",
    method="GPTs with heads of several widths are trained on the characters of Python's library, with and without the "
    "division by the root of the width. Then, on unseen text, the variance of a query's scores and the slope of "
    "softmax, the size of its derivatives; and both of queries and keys drawn with variance 1, 64 keys to a query.",
    refuted="in models plain scores grow less than half as much as the width, or leave over half of scaled ones' slope",
    arms={SCALED: Arm("gpt"), PLAIN: Arm("gpt", "system.score='dot'")},
    pair=True,
    settings=("system.heads=2",),
    small=Size(
        *(46, "system.width=64", "system.depth=2", "train.steps=400", "train.batch_tokens=512"),
        trained=(16, 128, 512),
        characters=500_000,
        read=25_000,
    ),
    full=Size(
        *(200, "train.steps=700", "train.rate=1e-3"),
        trained=(16, 128, 512),
        characters=1_000_000,
        read=50_000,
    ),
    measure=measure,
    predictions=(
        Prediction(
            "from the narrowest heads to the widest of trained models the variance of plain scores grows at least half "
            "as much as the width, and softmax is left with at most half of the slope that it has on scaled ones",
            lambda of: starved(of, TRAINED),
        ),
        Prediction("with the widest heads the plain model is at least 0.05 nats worse", lambda of: lost(of) >= 0.05),
        Prediction(
            "so too with drawn queries and keys, where the variance of scaled scores stays within a factor of 2",
            lambda of: starved(of, DRAWN) and 0.5 <= growth(of, SCALED, DRAWN) <= 2,
        ),
    ),
    tells=lambda of: (
        f"from the narrowest heads of trained models to the widest {told(of, TRAINED)}; there the plain model loses "
        f"{lost(of):+.2f} nats; of drawn numbers {told(of, DRAWN)}"
    ),
    otherwise="narrower heads, or small queries and keys to start with: a model can learn to keep plain scores small",
    panels=(
        Lines(x=TRAINED, y="loss", title="Unseen text", label="nats per character", **OVER),
        Lines(x=TRAINED, y="head_variance", title="Scores in models", label="variance", **OVER | {"log": "xy"}),
        Lines(x=TRAINED, y="head_slope", title="Softmax in models", label="size of derivatives", **OVER),
        Lines(x=DRAWN, y="width_variance", title="Scores of drawn numbers", label="variance", **OVER | {"log": "xy"}),
        Lines(x=DRAWN, y="width_slope", title="Softmax of drawn numbers", label="size of derivatives", **OVER),
    ),
)
