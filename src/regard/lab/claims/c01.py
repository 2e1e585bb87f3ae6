"""C1: an RNN needs as many steps in a row as there are tokens, attention a few for each layer."""

from functools import partial
from typing import Any

import torch

from regard.blocks.recurrent import Recurrent
from regard.lab.bench import fastest
from regard.lab.chain import longest_chain, step_by_step
from regard.lab.claims.c25 import power
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.panels import Lines
from regard.lab.claims.trial import Row, Trial
from regard.place import Place
from regard.shapes import Float, Int, Tensor
from regard.systems import System, built
from regard.train.device import choose_device

RNN, LSTM, ATTENTION = "RNN", "LSTM", "attention"
RECURRENT = RNN, LSTM
LENGTHS, DEPTHS = (32, 64, 128, 256, 512, 1024, 2048), (1, 2, 4, 8)
VOCABULARY, REPEATS = 50, 9


def measure(trial: Trial) -> list[Row]:
    """Steps and time of one layer by length, then steps by depth. They do not depend on what was learnt."""
    torch.manual_seed(trial.seed)
    text = torch.randint(VOCABULARY, (1, max(trial.size["lengths"])))
    rows = [timed(trial, text[:, :length]) for length in trial.size["lengths"]]
    shortest = text[:, : min(trial.size["lengths"])]
    return [*rows, *({"depth": depth, "all": steps(model(trial, depth), shortest)} for depth in DEPTHS)]


def timed(trial: Trial, text: Int[Tensor, "1 t"]) -> Row:
    one, device = model(trial, 1), choose_device(trial.device)
    waits = steps(one, text)
    with torch.inference_mode():
        seconds = fastest(device, partial(one.to(device).hidden, text.to(device)), REPEATS)
    return {"length": text.shape[1], "steps": waits, "ms": 1e3 * seconds}


def model(trial: Trial, depth: int) -> System:
    return built(trial.recipe(f"system.depth={depth}").system, VOCABULARY).eval()


def steps(model: System, text: Int[Tensor, "1 t"]) -> int:
    """How many matrix products need one another's results until the text is read: the longest chain of them."""
    with step_by_step():
        return longest_chain(last_state(model, text))


def last_state(model: Any, text: Int[Tensor, "1 t"]) -> Float[Tensor, "1 1 w"]:
    """After the last token. A recurrent layer takes a token as soon as the layer below has read it, and not all later,
    as torch's layers do: those would show a row of products that nothing asks for."""
    if not isinstance(getattr(model, "layers", None), Recurrent):
        return model.hidden(text)[:, -1:]
    vectors = model.embedding(text, Place.line(text)).split(1, dim=1)
    for layer in model.layers.layers:
        state, below, vectors = torch.zeros(1, layer.parts, model.width), vectors, []
        for vector in below:
            made, state = layer(vector, state, None)
            vectors.append(made)
    return vectors[-1]


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
    method="Language models of one layer read texts of several lengths, those of more layers the shortest. Steps are "
    "matrix products that need one another's results, the longest chain of them in the graph of the computation, where "
    "every recurrent layer takes a token as soon as the one below has read it. Reading with one layer is timed.",
    refuted="the chain of an RNN is shorter than its text, or that of attention grows with it",
    arms={RNN: Arm("rnn-lm"), LSTM: Arm("lstm-lm"), ATTENTION: Arm("gpt")},
    timed=("ms",),
    small=Size(2, "system.width=64", "system.context=1024", lengths=LENGTHS[:-1]),
    full=Size(30, "system.width=256", "system.context=2048", lengths=LENGTHS),
    measure=measure,
    predictions=(
        Prediction(
            "a layer of an RNN or LSTM takes one step a token; one of attention takes as many at every length",
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
            "with attention layers add up, four take four times the steps of one; in an RNN or LSTM each adds one step",
            lambda of: (
                of("all", ATTENTION, depth=4) == 4 * of("all", ATTENTION, depth=1)
                and all(of("all", arm, depth=4) == of("all", arm, depth=1) + 3 for arm in RECURRENT)
            ),
        ),
    ),
    tells=lambda of: (
        f"from the shortest text to the longest the steps of a layer go from {grown(of, RNN, 'steps')} in an RNN, "
        f"{grown(of, LSTM, 'steps')} in an LSTM and {grown(of, ATTENTION, 'steps')} with attention (four layers take, "
        f"for the shortest, {of('all', RNN, depth=4):g}, {of('all', LSTM, depth=4):g} and "
        f"{of('all', ATTENTION, depth=4):g}), and the time from {grown(of, RNN, 'ms')}, {grown(of, LSTM, 'ms')} and "
        f"{grown(of, ATTENTION, 'ms')} ms (powers of the length {power(of, RNN, 'ms'):.2f}, "
        f"{power(of, LSTM, 'ms'):.2f}, {power(of, ATTENTION, 'ms'):.2f})"
    ),
    otherwise="for steps nothing; for time the machine: one thread of a processor does one thing after another and "
    "needs time for attention's work, which grows faster than the text; a GPU that is not yet full does "
    "not; and on a GPU longer texts: a short one costs hardly more than the call, so that an RNN's time grows late",
    panels=(
        Lines(y="steps", title="Steps of a layer", label="matrix products in a row", **OVER),
        Lines(x="depth", y="all", title="Steps of layers, shortest text", across="layers", label="in a row", log="xy"),
        Lines(y="ms", title="Time of reading", label="milliseconds", **OVER),
    ),
)
