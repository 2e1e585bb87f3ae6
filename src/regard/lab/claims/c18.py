"""C18: a vanilla RNN's gradient vanishes with distance, or explodes."""

from typing import Any

import torch

from regard.lab.claims.distances import FAR, FULL, SETTINGS, SMALL, learnt, posed, recalled, slopes
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction
from regard.lab.claims.panels import Lines
from regard.lab.claims.trial import Row, Trial
from regard.systems import built
from regard.train.device import choose_device

RNN, LARGE, LSTM, WINDOW, ATTENTION = "RNN", "RNN, large weights", "LSTM", "window", "attention"
TIMES = 4  # as large are the weights from state to state
UNTRAINED = (4, 8, 16, 32, 64, 128, 256)  # steps back
VOCABULARY, TEXTS = 30, 16
MUCH, LEAST = 1000, 1e-30  # what is less is drawn as this


def measure(trial: Trial) -> list[Row]:
    """The gradient before any training; then, but for the one with large weights, after it, and what is recalled."""
    torch.manual_seed(trial.seed)
    model: Any = (
        built(trial.recipe(f"system.context={FAR[-1] + 1}").system, VOCABULARY).eval().to(choose_device(trial.device))
    )
    if LARGE in trial.arms:
        model.layers.layers[0].fused.weight_hh_l0.data *= TIMES
    found = slopes(model, torch.randint(VOCABULARY, (TEXTS, FAR[-1] + 1), device=model.device))
    rows = relative("before", {far: float(found[far]) for far in UNTRAINED})
    return rows if LARGE in trial.arms else [*rows, *trained(trial)]


def trained(trial: Trial) -> list[Row]:
    """For each distance of a model that has learnt to recall from up to there."""
    sizes, rows = {}, []
    for far in FAR:
        run = learnt(trial, far)
        sizes[far] = float(slopes(run.model, posed(run, far, TEXTS)[0])[far])
        rows.append({"distance": far, "recall": recalled(run, far, trial.size["rows"])})
    return [*relative("after", sizes), *rows]


def relative(name: str, sizes: dict[int, float]) -> list[Row]:
    """By distance, as so many times that of the shortest of all."""
    return [{"distance": far, name: max(size / sizes[min(sizes)], LEAST)} for far, size in sizes.items()]


def changed(of: Found, arm: str, name: str) -> float:
    """How many times as large it is at the greatest distance as at the shortest."""
    return of(name, arm, distance=FAR[-1])


def steady(of: Found, arm: str, name: str) -> bool:
    """It neither falls nor rises a thousandfold."""
    return all(1 / MUCH < row[name] < MUCH for row in of.rows if row["arm"] == arm and name in row)


def told(of: Found, name: str) -> str:
    sizes = {arm: changed(of, arm, name) for arm in (RNN, LSTM, WINDOW, ATTENTION)}
    return ", ".join(f"{'under ' * (size <= LEAST)}{size:.1g} ({arm})" for arm, size in sizes.items())


OVER: Row = {"x": "distance", "across": "steps back", "log": "xy"}
SIZE = f"times that {FAR[0]} steps back"
EXPERIMENT = Experiment(
    id="C18",
    title="Gradients and distance",
    claim="The gradient of a vanilla RNN vanishes with distance, or explodes.",
    method="The last state is derived by the vector of a token so many steps back: before training, and after learning "
    "to say which digit stood before up to so many letters, for each distance a model; unseen rows ask what is "
    f"recalled. Large weights: those from state to state are {TIMES} times as large, before training. Window: three "
    "layers of windows of 5 tokens, which reach 12 steps back.",
    refuted="the gradient of an untrained RNN keeps its size over hundreds of steps, or does not grow over them where "
    "weights are large",
    arms={
        RNN: Arm("rnn-lm"),
        LARGE: Arm("rnn-lm"),
        LSTM: Arm("lstm-lm"),
        WINDOW: Arm("window-lm", "system.depth=3"),
        ATTENTION: Arm("gpt"),
    },
    settings=SETTINGS,
    small=SMALL,
    full=FULL,
    measure=measure,
    predictions=(
        Prediction(
            f"before training, an RNN's gradient {FAR[-1]} steps back is less than a thousandth of that {FAR[0]} steps "
            f"back, and more than a thousand times it where weights are {TIMES} times as large",
            lambda of: changed(of, RNN, "before") < 1 / MUCH and changed(of, LARGE, "before") > MUCH,
        ),
        Prediction(
            "with attention it neither falls nor rises a thousandfold, before training or after it",
            lambda of: steady(of, ATTENTION, "before") and steady(of, ATTENTION, "after"),
        ),
        Prediction(
            f"from {FAR[-1]} steps back a trained RNN recalls less than half of the digits, and attention nine of ten",
            lambda of: changed(of, RNN, "recall") < 50 and changed(of, ATTENTION, "recall") >= 90,
        ),
    ),
    tells=lambda of: (
        f"from the farthest, {FAR[-1]} steps back, the gradient is {told(of, 'before')} and "
        f"{changed(of, LARGE, 'before'):.0e} ({LARGE}) times that {FAR[0]} steps back; after training it is "
        f"{told(of, 'after')} times that of the model for {FAR[0]} steps; recalled are "
        + ", ".join(f"{changed(of, arm, 'recall'):.0f}% ({arm})" for arm in (RNN, LSTM, WINDOW, ATTENTION))
    ),
    otherwise="weights from state to state between the two, at which it lasts longer; much longer training; gates, "
    "which an LSTM learns to keep open",
    panels=(
        Lines(y="before", title="Gradient before training (1e-30: that or less)", label=SIZE, **OVER),
        Lines(
            y="after",
            title="Gradient after training (1e-30: that or less)",
            label=f"times that of the model for {FAR[0]} steps",
            **OVER,
        ),
        Lines(y="recall", title="What is recalled", label="% of digits", **OVER | {"log": "x"}),
    ),
)
