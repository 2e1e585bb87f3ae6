"""C6: attention alone re-averages values, so without the feed-forward layer stacking gains little."""

from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.panels import Lines
from regard.lab.claims.texts import library, nats, windows
from regard.lab.claims.trial import Row, Trial
from regard.systems import parameters

WITH, WITHOUT = "with feed-forward", "attention alone"


def measure(trial: Trial) -> list[Row]:
    """The loss on unseen text at each depth."""
    files, rows = library(trial, trial.size["characters"]), []
    for depth in trial.size["depths"]:
        run = trial.train(*files, f"system.depth={depth}")
        loss = float(nats(run, windows(run, trial.size["read"])).mean())
        rows.append({"depth": depth, "parameters": parameters(run.model), "loss": loss})
    return rows


def gained(of: Found, arm: str) -> float:
    """How far the loss falls from one layer to the most."""
    depths = [row["depth"] for row in of.rows]
    return of("loss", arm, depth=min(depths)) - of("loss", arm, depth=max(depths))


def single(of: Found) -> float:
    """The loss of the shallowest model with feed-forward layers."""
    return of("loss", WITH, depth=min(row["depth"] for row in of.rows))


def equals(of: Found) -> str:
    """Two models of the same size, as the end of a sentence; nothing where there are none."""
    sizes = {(row["arm"], row["depth"]): row["parameters"] for row in of.rows}
    return "".join(
        f"; with as many parameters (within 2%) a model of depth {deep} with them has "
        f"{of('loss', WITH, depth=deep):.2f} nats and one of {deeper} without {of('loss', WITHOUT, depth=deeper):.2f}"
        for (arm, deep), size in sizes.items()
        for (other, deeper), near in sizes.items()
        if (arm, other) == (WITH, WITHOUT) and abs(size - near) < size / 50
    )


EXPERIMENT = Experiment(
    id="C6",
    title="The feed-forward layer",
    claim="Attention alone only re-averages values: without the feed-forward layer, stacking gains little.",
    method="GPTs of one layer and of more on the characters of Python's library, with feed-forward layers and "
    "without; residuals and norms stay. Then all read unseen text.",
    refuted="a stack of attention alone gains more than half as much from depth as one with feed-forward layers",
    arms={WITH: Arm("gpt"), WITHOUT: Arm("gpt", "system.feedforward='none'")},
    pair=True,
    small=Size(
        *(57, "system.width=64", "system.context=64", "train.steps=1500", "train.batch_tokens=768"),
        characters=1_000_000,
        depths=(1, 4),
        read=25_000,
    ),
    full=Size(
        *(73, "system.width=256", "system.heads=8", "system.context=128", "train.steps=1200"),
        *("train.batch_tokens=8192", "train.rate=1e-3"),
        characters=4_000_000,
        depths=(1, 2, 6),
        read=200_000,
    ),
    measure=measure,
    predictions=(
        Prediction(
            "from the least depth to the greatest the loss falls by at least 0.05 nats with feed-forward layers, and "
            "by at most half as much without",
            lambda of: gained(of, WITH) >= max(0.05, 2 * gained(of, WITHOUT)),
        ),
        Prediction(
            "the deepest stack of attention alone is still behind a single layer with feed-forward",
            lambda of: of.last("loss", WITHOUT, "depth") > single(of),
        ),
    ),
    tells=lambda of: (
        f"from one layer to the most the loss changes by {-gained(of, WITH):+.2f} nats with feed-forward layers and by "
        f"{-gained(of, WITHOUT):+.2f} without; the deepest model without has {of.last('loss', WITHOUT, 'depth'):.2f} "
        f"nats, one layer with them {single(of):.2f}" + equals(of)
    ),
    otherwise="residuals and norms: with them layers of attention still find patterns of two and three steps, and a "
    "stack without residuals would only average; or a task that asks for more than looking up, such as arithmetic",
    panels=(
        Lines(x="depth", y="loss", title="By depth", across="layers", label="nats per character", log="x"),
        Lines(
            x="parameters",
            y="loss",
            title="By size",
            across="parameters",
            label="nats per character",
            log="x",
        ),
    ),
)
