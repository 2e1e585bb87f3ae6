"""C2: distant words meet after O(length) steps in an RNN, length/window layers of windows, O(1) with attention."""

from copy import deepcopy

from regard.lab.chain import longest_chain, step_by_step
from regard.lab.claims.c18 import TEXTS, relative
from regard.lab.claims.distances import FAR, FULL, SETTINGS, SMALL, learnt, posed, recalled, slopes
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction
from regard.lab.claims.panels import Lines
from regard.lab.claims.trial import Row, Trial

RNN, LSTM, ATTENTION = "RNN", "LSTM", "attention"
SPAN = 7  # tokens of a window
WINDOWS = {f"windows, {depth} layer{'s' * (depth > 1)}": depth for depth in (1, 3)}
SEEN = f"system.window={SPAN}", "train.rate=8e-3"
WELL, BADLY, FEWER = 90, 50, 10  # of 100 digits


def measure(trial: Trial) -> list[Row]:
    """For each distance a model that has learnt to recall from up to there: how well, and after how many steps.

    Steps are told only where the digit reaches the answer: where that has any derivative by it.
    """
    rows, sizes = list[Row](), dict[int, float]()
    for far in FAR:
        run = learnt(trial, far)
        texts, _ = posed(run, far, TEXTS)
        sizes[far] = float(slopes(run.model, texts)[far])
        rows.append({"distance": far, "recall": recalled(run, far, trial.size["rows"])})
        if sizes[far] > 0:
            with step_by_step():
                rows[-1]["steps"] = longest_chain(deepcopy(run.model).cpu().hidden(texts[:1, 1:].cpu()))  # from it on
    return [*rows, *relative("gradient", sizes)]


def within(of: Found, arm: str, layers: int) -> bool:
    """Whether windows recall what lies in them, and guess what does not."""
    inside = {far: far <= layers * (SPAN - 1) for far in FAR}
    found = {far: of("recall", arm, distance=far) for far in FAR}
    return all(found[far] >= WELL if inside[far] else found[far] < BADLY for far in FAR)


def last(of: Found, arm: str) -> float:
    return of("recall", arm, distance=FAR[-1])


def waited(of: Found, arm: str) -> str:
    """For the farthest digit."""
    steps = {row["steps"] for row in of.rows if row["arm"] == arm and row.get("distance") == FAR[-1] and "steps" in row}
    return f"after {' or '.join(map(str, sorted(steps)))} steps" if steps else "never reached"


def told(of: Found) -> str:
    return "; ".join(f"{arm} {last(of, arm):.0f} ({waited(of, arm)})" for arm in (RNN, LSTM, *WINDOWS, ATTENTION))


OVER: Row = {"x": "distance", "across": "steps back", "log": "x"}


def worst(of: Found, arm: str, far: int) -> str:
    """The worst recall of windows from where they reach."""
    found = [row["recall"] for row in of.rows if row["arm"] == arm and "recall" in row and row["distance"] <= far]
    return f"{min(found):.0f} ({arm}: {far} steps)"


EXPERIMENT = Experiment(
    id="C2",
    title="Distant words",
    claim="Distant words interact over O(length) steps in an RNN, length/window layers of windows and O(1) with "
    "attention: recall over long distances shows it.",
    method="A digit, then letters, then: which digit was it? For each distance language models of one layer learn "
    f"this from rows up to it, and windows of {SPAN} tokens in one layer and in three, each kind at its learning rate; "
    "a step holds as many tokens, so that longer rows mean fewer answers. Unseen rows are asked. Steps are matrix "
    "products that need one another's results, from the digit to the answer where it reaches that: where the gradient, "
    "that of the last state by the digit's vector, is not 0.",
    refuted=f"from {FAR[-1]} steps back an RNN recalls {BADLY} of 100 digits or more, or attention less than {WELL}",
    arms={
        RNN: Arm("rnn-lm"),
        LSTM: Arm("lstm-lm"),
        **{name: Arm("window-lm", *SEEN, f"system.depth={depth}") for name, depth in WINDOWS.items()},
        ATTENTION: Arm("gpt"),
    },
    settings=SETTINGS,
    small=SMALL,
    full=FULL,
    measure=measure,
    predictions=(
        Prediction(
            f"attention recalls at least {WELL} of 100 digits from everywhere, an RNN so many from {FAR[0]} steps back "
            f"and less than {BADLY} from {FAR[-1]}",
            lambda of: (
                min(of("recall", ATTENTION, distance=far) for far in FAR) >= WELL
                and of("recall", RNN, distance=FAR[0]) >= WELL
                and last(of, RNN) < BADLY
            ),
        ),
        Prediction(
            f"windows recall at least {WELL} from as far as {SPAN - 1} steps for each layer, and from beyond less than "
            f"{BADLY}",
            lambda of: all(within(of, arm, layers) for arm, layers in WINDOWS.items()),
        ),
        Prediction(
            f"an LSTM, whose steps are as many as an RNN's, recalls at least {FEWER} fewer than attention from the "
            "farthest",
            lambda of: last(of, LSTM) <= last(of, ATTENTION) - FEWER,
        ),
    ),
    tells=lambda of: (
        f"of 100 digits {FAR[-1]} steps back are recalled: {told(of)}; from within their reach at worst "
        + " and ".join(worst(of, arm, depth * (SPAN - 1)) for arm, depth in WINDOWS.items())
    ),
    otherwise="longer training, with which a well-started RNN reaches farther; an LSTM's gates, which learn to let "
    "through what must be kept, however many steps it takes; more layers of windows; and recall is not gradient: a "
    "state that has latched keeps the digit though its gradient is nearly nothing",
    panels=(
        Lines(y="recall", title="What is recalled", label="% of digits", **OVER),
        Lines(y="steps", title="Steps from digit to answer", label="products in a row", **OVER | {"log": "xy"}),
        Lines(
            y="gradient",
            title="Gradient by the digit (1e-30: that or less)",
            label=f"times that of the model for {FAR[0]} steps",
            **OVER | {"log": "xy"},
        ),
    ),
)
