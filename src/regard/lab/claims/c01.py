"""C1: an RNN needs as many steps in a row as there are tokens, attention a few for each layer."""

from functools import partial

import torch

from regard.lab.bench import fastest
from regard.lab.chain import longest_chain, step_by_step
from regard.lab.claims.c25 import power
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.panels import Lines
from regard.lab.claims.trial import Row, Trial
from regard.systems import built
from regard.train.device import choose_device

RNN, LSTM, ATTENTION = "RNN", "LSTM", "attention"
RECURRENT = RNN, LSTM
LENGTHS, DEPTHS = (32, 64, 128, 256, 512, 1024, 2048), (1, 2, 4, 8)
VOCABULARY, REPEATS = 50, 9


def measure(trial: Trial) -> list[Row]:
    """Steps by length and by depth, and time by length in the same run. They do not depend on what was learnt."""
    torch.manual_seed(trial.seed)
    text = torch.randint(VOCABULARY, (1, max(trial.size["lengths"])), device=choose_device(trial.device))
    rows = [timed(trial, text[:, :length]) for length in trial.size["lengths"]]
    shortest = text[:, : min(trial.size["lengths"])]
    return [*rows, *({"depth": depth, "all": steps(trial, shortest, depth)} for depth in DEPTHS)]


def timed(trial: Trial, text: torch.Tensor) -> Row:
    read = partial(model(trial).to(text.device).hidden, text)
    with torch.inference_mode():
        seconds = fastest(text.device, read, REPEATS)
    each = steps(trial, text, DEPTHS[1]) / DEPTHS[1]
    return {"length": text.shape[1], "steps": each, "ms": 1e3 * seconds}


def model(trial: Trial, depth: int = DEPTHS[1]):
    return built(trial.recipe(f"system.depth={depth}").system, VOCABULARY).eval()


def steps(trial: Trial, text: torch.Tensor, depth: int) -> int:
    """How many matrix products need one another's results until the text is read: the longest chain of them."""
    with step_by_step():
        return longest_chain(model(trial, depth).hidden(text.cpu()))


def grown(of: Found, arm: str, name: str) -> str:
    """From the shortest text to the longest."""
    lengths = [row["length"] for row in of.rows if "length" in row]
    first, last = (of(name, arm, length=length) for length in (min(lengths), max(lengths)))
    return f"{first:.3g} to {last:.4g}"


OVER: Row = {"x": "length", "across": "tokens", "log": "xy"}
EXPERIMENT = Experiment(
    id="C1",
    title="Steps in a row",
    claim="An RNN needs a number of sequential steps that grows with the length, attention a fixed number per layer.",
    method="Language models of two layers read texts of several lengths. Steps are matrix products that need one "
    "another's results, the longest chain of them in the graph of the computation; the same readings are timed.",
    refuted="the chain of an RNN is shorter than its text, or that of attention grows with it",
    arms={RNN: Arm("rnn-lm"), LSTM: Arm("lstm-lm"), ATTENTION: Arm("gpt")},
    timed=("ms",),
    small=Size(2, "system.width=64", "system.context=1024", lengths=LENGTHS[:-1]),
    full=Size(30, "system.width=256", "system.context=2048", lengths=LENGTHS),
    measure=measure,
    predictions=(
        Prediction(
            "for each layer an RNN or LSTM takes one step a token; attention takes as many at every length",
            lambda of: (
                all(row["steps"] == row["length"] for row in of.rows if row["arm"] in RECURRENT and "steps" in row)
                and len({row["steps"] for row in of.rows if row["arm"] == ATTENTION and "steps" in row}) == 1
            ),
        ),
        Prediction(
            "time shows it: an RNN's and an LSTM's grow with a power of the length of at least 0.7, attention's with "
            "at most 0.5",
            lambda of: min(power(of, arm, "ms") for arm in RECURRENT) >= 0.7 and power(of, ATTENTION, "ms") <= 0.5,
        ),
        Prediction(
            "layers add up: four take four times as many steps as one",
            lambda of: all(of("all", arm, depth=4) == 4 * of("all", arm, depth=1) for arm in (*RECURRENT, ATTENTION)),
        ),
    ),
    tells=lambda of: (
        f"from the shortest text to the longest the steps of a layer go from {grown(of, RNN, 'steps')} in an RNN, "
        f"{grown(of, LSTM, 'steps')} in an LSTM and {grown(of, ATTENTION, 'steps')} with attention, and the time from "
        f"{grown(of, RNN, 'ms')}, {grown(of, LSTM, 'ms')} and {grown(of, ATTENTION, 'ms')} ms (powers of the length "
        f"{power(of, RNN, 'ms'):.2f}, {power(of, LSTM, 'ms'):.2f}, {power(of, ATTENTION, 'ms'):.2f})"
    ),
    otherwise="for steps nothing; for time the machine: one thread of a processor does one thing after another and "
    "needs time for attention's work, which grows faster than the text; a GPU that is not yet full does not",
    panels=(
        Lines(y="steps", title="Steps of a layer", label="matrix products in a row", **OVER),
        Lines(x="depth", y="all", title="Steps of all layers", across="layers", label="products in a row", log="xy"),
        Lines(y="ms", title="Time of reading", label="milliseconds", **OVER),
    ),
)
