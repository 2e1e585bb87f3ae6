"""C23: an RNN takes texts of any length without growing; a Transformer with learned positions does not."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import regard
from regard.checkpoint import Run
from regard.errors import UserError
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.panels import Lines
from regard.lab.claims.texts import library, nats, windows
from regard.lab.claims.trial import Row, Trial
from regard.systems import built, parameters

RNN, LEARNED, SINUSOIDAL, ROTARY = "RNN", "learned positions", "sinusoidal positions", "rotary positions"
LENGTHS = (64, 128, 256, 512, 1024)  # the first is the one it is trained on
CHARACTERS, WORSE = 300_000, 0.1


def measure(trial: Trial) -> list[Row]:
    run = trial.train(*library(trial, CHARACTERS), f"system.context={LENGTHS[0]}")
    return [{"length": length, **row} for length in LENGTHS for row in read(run, length)]


def read(run: Run, length: int) -> Iterator[Row]:
    """What a model for texts of that length needs, and how the trained one reads them, where it does."""
    larger = built(replace(run.recipe.system, context=length), run.model.vocabulary)
    yield {"weights": parameters(larger), "kept": kept(larger, length)}
    found = reader(run, length)
    yield {"reads": found is not None}
    if found:
        tokens = windows(run, LENGTHS[-1] * (CHARACTERS // 20 // LENGTHS[-1])).flatten()
        costs = nats(found, tokens[: len(tokens) // length * length].view(-1, length))
        yield {"late": float(costs[:, length // 2 :].mean())}


def reader(run: Run, length: int) -> Run | None:
    """The run, ready for texts of that length; None where it cannot be."""
    if run.model.limit is None or length <= run.model.limit:
        return run
    try:
        return regard.load(run.path, str(run.model.device), context=length)
    except UserError:
        return None


def kept(model: Any, length: int) -> int:
    """How many numbers it must remember of a text of that length to read one more token."""
    cache: Any = model.eval().start(1, length)
    model.hidden(model.output.rows.weight.new_zeros(1, length).long(), None, cache)
    parts = [cache.state] if hasattr(cache, "state") else [part for layer in cache.layers for part in layer.kept]
    return sum(part.numel() for part in parts)


def every(of: Found, arm: str, name: str) -> list[float]:
    """By length."""
    return [of(name, arm, length=length) for length in LENGTHS]


def grows(of: Found, arm: str, name: str) -> float:
    """How many times as large it is for the longest text."""
    first, *_, last = every(of, arm, name)
    return last / first


def lost(of: Found, arm: str) -> str:
    """What the longest text that is read costs more than one of the trained length, in its second half."""
    found = [row["length"] for row in of.rows if row["arm"] == arm and "late" in row]
    more = of("late", arm, length=max(found)) - of("late", arm, length=LENGTHS[0])
    return f"{more:+.2f} nats at {max(found)}"


OVER: Row = {"x": "length", "across": "characters", "log": "x"}
EXPERIMENT = Experiment(
    id="C23",
    title="Texts of any length",
    claim="An RNN takes texts of any length without growing; a Transformer with learned positions does not.",
    method=f"Language models are trained on {LENGTHS[0]} characters of Python's library at a time, then given unseen "
    f"text up to {LENGTHS[-1]} at a time. Weights and what is remembered are counted for models of each length.",
    refuted="an RNN refuses longer texts, reads them worse or grows for them, or learned positions let them be read",
    arms={
        RNN: Arm("rnn-lm"),
        LEARNED: Arm("gpt"),
        SINUSOIDAL: Arm("gpt", "system.position=sinusoidal"),
        ROTARY: Arm("gpt", "system.position=rotary"),
    },
    settings=("train.batch_tokens=1024", "train.rate=2e-3"),
    small=Size(18, "train.steps=300", "system.width=128", "system.depth=2"),
    full=Size(30, "train.steps=2000", "train.batch_tokens=8192", "system.width=256", "system.depth=4"),
    measure=measure,
    predictions=(
        Prediction(
            "the RNN reads every length; with learned positions none but the trained one is read",
            lambda of: all(every(of, RNN, "reads")) and sum(every(of, LEARNED, "reads")) == 1,
        ),
        Prediction(
            "the RNN needs the same weights and memory for every length; learned positions need more of both",
            lambda of: (
                grows(of, RNN, "weights") == grows(of, RNN, "kept") == 1
                and min(grows(of, LEARNED, name) for name in ("weights", "kept")) > 1
            ),
        ),
        Prediction(
            f"the RNN reads the second half of every longer text at most {WORSE} nats worse than that of a trained one",
            lambda of: max(every(of, RNN, "late")) <= of("late", RNN, length=LENGTHS[0]) + WORSE,
        ),
    ),
    tells=lambda of: (
        f"past {LENGTHS[0]} characters the RNN goes on ({lost(of, RNN)}), learned positions stop, sinusoids "
        f"({lost(of, SINUSOIDAL)}) and rotary positions ({lost(of, ROTARY)}) read on; for {LENGTHS[-1]} characters an "
        f"RNN has {grows(of, RNN, 'weights'):g} times the weights and remembers {grows(of, RNN, 'kept'):g} times as "
        f"much, learned positions {grows(of, LEARNED, 'weights'):.2f} and {grows(of, LEARNED, 'kept'):g} times"
    ),
    otherwise="for learned positions a table that was made longer beforehand; other positions take any length, and how "
    "well they read is another question",
    panels=(
        Lines(y="late", title="Second half of unseen texts", label="nats per character", **OVER),
        Lines(y="weights", title="A model for this length", label="weights", **OVER | {"log": "xy"}),
        Lines(y="kept", title="What it remembers of a text", label="numbers", **OVER | {"log": "xy"}),
    ),
)
