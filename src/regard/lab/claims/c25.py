"""C25: which inputs a state can see, and how many steps it takes: both figures of the lecture, off running models."""

from collections.abc import Callable, Iterator
from functools import partial

import torch

from regard.explain.influence import derivable, word_vectors
from regard.lab.bench import fastest
from regard.lab.chain import longest_chain, step_by_step
from regard.lab.claims.c22 import influence
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.panels import Lines
from regard.lab.claims.trial import Row, Trial
from regard.lab.length import exponent
from regard.shapes import Bool, Int, Tensor
from regard.systems import System, built
from regard.train.device import choose_device

RNN, WINDOW, ATTENTION = "RNN", "window", "attention"
LAYERS, SPAN = 3, 5  # of windows, and how many tokens each sees
WINDOWS = f"system.depth={LAYERS}", f"system.window={SPAN}"
REACH = LAYERS * (SPAN - 1) + 1  # tokens in a window of windows of windows
LENGTHS, VOCABULARY, REPEATS = (32, 64, 128, 256, 512, 1024, 2048), 50, 9


def measure(trial: Trial) -> list[Row]:
    """Of a model as it is before training: what it can see does not depend on what it has learnt."""
    torch.manual_seed(trial.seed)
    model = built(trial.recipe().system, VOCABULARY).eval()
    text = torch.randint(VOCABULARY, (1, max(trial.size["lengths"])))
    seen = visible(model.double(), text[:, : max(trial.size["tokens"])])  # not every device has double
    asked = [(n, seen[n - 1]) for n in trial.size["tokens"]]
    rows = [{"token": n, "sees": int(row.sum()), "ahead": int(row[n:].sum())} for n, row in asked]
    return [*rows, *read(model.float(), text, trial.size["lengths"], choose_device(trial.device))]


def visible(model: System, text: Int[Tensor, "1 t"]) -> Bool[Tensor, "t t"]:
    """True in row i and column j where the state at token i has a derivative by token j.

    It may be tiny: with an RNN of 256 tokens single precision would round it to 0.
    """
    count = text.shape[1]
    with derivable(), word_vectors(model) as vectors:
        states = model.hidden(text.expand(count, count))  # a row for each state that is asked about
        return influence(states, vectors[0]) > 0


def read(model: System, text: Int[Tensor, "1 t"], lengths: tuple[int, ...], device: torch.device) -> Iterator[Row]:
    """What must wait for one another until the last state is there, and how long that takes on the device."""
    with step_by_step():
        chains = [longest_chain(model.hidden(text[:, :length])) for length in lengths]
    for length, chain in zip(lengths, chains, strict=True):
        with torch.inference_mode():
            seconds = fastest(device, partial(model.to(device).hidden, text[:, :length].to(device)), REPEATS)
        yield {"length": length, "steps": chain, "ms": 1e3 * seconds}


def power(of: Found, arm: str, name: str) -> float:
    """Of the length, that a number grows with."""
    if (found := exponent([row for row in of.rows if row["arm"] == arm], name)) is None:
        raise KeyError(f"no '{name}' of '{arm}' at two lengths")
    return found


def sees(of: Found, arm: str, most: int = 10**9) -> bool:
    """Whether each state sees its own token, as many before it as `most` allows, and none after it."""
    mine = [row for row in of.rows if row["arm"] == arm and "token" in row]
    return all(row["sees"] == min(row["token"], most) and row["ahead"] == 0 for row in mine)


def steps(of: Found, arm: str) -> list[tuple[int, int]]:
    """With the lengths of the texts."""
    return [(row["length"], row["steps"]) for row in of.rows if row["arm"] == arm and "steps" in row]


def each(number: Callable[[str], float]) -> str:
    return ", ".join(f"{round(number(arm), 2):g} ({arm})" for arm in (RNN, WINDOW, ATTENTION))


OVER: Row = {"x": "length", "across": "tokens of the text", "log": "xy"}
EXPERIMENT = Experiment(
    id="C25",
    title="What a state sees, and when",
    claim="A state of an RNN sees all before it and waits a step for each token; a window's sees a few and attention's "
    "all, and both wait for no token.",
    method=f"One layer of an RNN, {LAYERS} of windows of {SPAN} tokens, one block of attention. A state sees an input "
    "by which it has a derivative; steps are matrix products that need one another's results; reading is timed.",
    refuted="a state sees other inputs than these",
    arms={RNN: Arm("rnn-lm"), WINDOW: Arm("window-lm", *WINDOWS), ATTENTION: Arm("gpt")},
    settings=("system.depth=1",),
    timed=("ms",),
    small=Size(2, "system.width=64", "system.context=1024", tokens=(1, 7, *range(13, 62, 6)), lengths=LENGTHS[:-1]),
    full=Size(15, "system.width=256", "system.context=2048", tokens=(1, 7, 13, *range(32, 257, 32)), lengths=LENGTHS),
    measure=measure,
    predictions=(
        Prediction(
            f"token n sees n tokens in an RNN and with attention, {REACH} at most through windows; nobody sees ahead",
            lambda of: sees(of, RNN) and sees(of, ATTENTION) and sees(of, WINDOW, REACH),
        ),
        Prediction(
            "an RNN takes a step for each token; windows and attention as many for long texts as for short ones",
            lambda of: (
                all(length == count for length, count in steps(of, RNN))
                and all(len({count for _, count in steps(of, arm)}) == 1 for arm in (WINDOW, ATTENTION))
            ),
        ),
        Prediction(
            "time shows it: an RNN's grows with a power of the length of at least 0.7, the others' of at most 0.5",
            lambda of: power(of, RNN, "ms") >= 0.7 and max(power(of, arm, "ms") for arm in (WINDOW, ATTENTION)) <= 0.5,
        ),
    ),
    tells=lambda of: (
        f"the last state sees {each(lambda arm: of.last('sees', arm, 'token'))} tokens; the longest text takes "
        f"{each(lambda arm: of.last('steps', arm, 'length'))} steps; time grows with the length's power "
        f"{each(lambda arm: power(of, arm, 'ms'))}"
    ),
    otherwise="for inputs and steps other layers; for time a machine that does much at once, as one thread of a "
    "processor does not; and on a GPU, until it is full, longer texts: a short one costs hardly more than the call",
    panels=(
        Lines(x="token", y="sees", title="What a state sees", across="its token", label="tokens"),
        Lines(y="steps", title="Steps that wait for one another", label="matrix products in a row", **OVER),
        Lines(y="ms", title="Time of reading", label="milliseconds", **OVER),
    ),
)
