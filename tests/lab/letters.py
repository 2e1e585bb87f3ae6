"""A made-up experiment about letters, and how it is run; for tests of the laboratory itself."""

from dataclasses import replace
from pathlib import Path

from regard.errors import UserError
from regard.lab.claims.experiment import Arm, Experiment, Prediction, Size
from regard.lab.claims.panels import Bars, Lines, Map
from regard.lab.claims.running import lab
from regard.lab.claims.trial import Row, Trial


def counted(trial: Trial) -> list[Row]:
    """As many as the arm's preset has letters, and one more in each step."""
    with Path(trial.size["log"]).open("a") as log:
        log.write(f"{trial.arm.preset} {trial.seed}\n")
    rows = [{"step": step, "score": len(trial.arm.preset) + step + trial.seed} for step in range(3)]
    return [*rows, {"x": 0, "y": 0, "height": 1.0}, {"x": 1, "y": 0, "height": 2.0}]


def broken(trial: Trial) -> list[Row]:
    raise UserError("nothing works")


def everybody(trial: Trial) -> list[Row]:
    return [{"arm": name, "seed": seed, "score": 1} for name in trial.arms for seed in trial.seeds]


def letters(folder: Path) -> Experiment:
    size = Size(1, log=str(folder / "log"))
    return Experiment(
        id="C0",
        title="Letters",
        claim="Long names score <higher>.",
        method="Letters are counted.",
        refuted="short names score higher",
        arms={"short": Arm("ab"), "long one": Arm("abcdef")},
        small=size,
        full=size,
        measure=counted,
        predictions=(
            Prediction(
                "the long name has more", lambda of: of.last("score", "long one", "step") > of("score", "short")
            ),
            Prediction("by 4 at least", lambda of: of("score", "long one", step=0) - of("score", "short", step=0) >= 4),
        ),
        tells=lambda of: f"{of('score', 'short', step=0):g} and {of('score', 'long one', step=0):g}",
        otherwise="other names",
        panels=(
            Lines(x="step", y="score", title="Score", across="steps", label="points"),
            Bars(y="score", by="step", title="Score", label="points"),
            Map(x="x", over="y", y="height", title="Land", across="east", label="north", arms=("short",)),
        ),
    )


def all_alike(made: Experiment) -> Experiment:
    """One whose arms are measured together."""
    predictions = (Prediction("all alike", lambda of: of("score", "short") == of("score", "long one")),)
    panels = (Bars(y="score", title="Score", label="points"),)
    how = {"measure": everybody, "together": True, "tells": lambda of: "alike"}
    return replace(made, **how, predictions=predictions, panels=panels)


def run(made: Experiment, out: Path, **how):
    said: list[str] = []
    found = lab(out, **{"size": "small", "seeds": 2, "jobs": 1, "say": said.append, **how}).run(
        [made], lambda one: None
    )
    return (found[0] if found else None), said
