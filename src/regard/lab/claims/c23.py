"""C23: an RNN takes texts of any length without growing; a Transformer with learned positions does not."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from regard.checkpoint import Run
from regard.lab.claims.c05 import reader
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.panels import Lines
from regard.lab.claims.texts import HELD_OUT, library, nats, windows
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
    if found:
        yield {"late": late(found, length)}
    yield {"reads": int(found is not None)}


def late(run: Run, length: int) -> float:
    """Nats per character in the second halves of texts of that length: the same characters for every length."""
    longest, half = LENGTHS[-1], length // 2
    tokens = windows(run, CHARACTERS // HELD_OUT // longest * longest).flatten()
    return float(nats(run, tokens[longest // 2 - half :].unfold(0, length, half))[:, -half:].mean())


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


def lost(of: Found, arm: str, length: int) -> float:
    """What a text of that length costs more than one of the trained length, in its second half."""
    return of("late", arm, length=length) - of("late", arm, length=LENGTHS[0])


def told(of: Found, arm: str) -> str:
    """How far it reads and at what loss."""
    longest = max(row["length"] for row in of.rows if row["arm"] == arm and "late" in row)
    return f"{arm} {longest} ({lost(of, arm, longest):+.2f} nats)"


OVER: Row = {"x": "length", "across": "characters", "log": "x"}
EXPERIMENT = Experiment(
    id="C23",
    title="Texts of any length",
    claim="An RNN takes texts of any length without growing; a Transformer with learned positions does not.",
    method=f"Language models are trained on {LENGTHS[0]} characters of Python's library at a time, then given unseen "
    f"text up to {LENGTHS[-1]} at a time. Weights and what is remembered are counted for models of each length.",
    refuted="an RNN reads longer texts worse or not at all, or learned positions let them be read",
    arms={
        RNN: Arm("rnn-lm"),
        LEARNED: Arm("gpt"),
        SINUSOIDAL: Arm("gpt", "system.position=sinusoidal"),
        ROTARY: Arm("gpt", "system.position=rotary"),
    },
    settings=("train.batch_tokens=1024", "train.rate=2e-3"),
    small=Size(18, "train.steps=300", "system.width=128", "system.depth=2"),
    full=Size(90, "train.steps=1200", "system.width=192", "system.depth=2"),
    measure=measure,
    predictions=(
        Prediction(
            f"the RNN reads the second half of every longer text at most {WORSE} nats worse than that of a trained "
            "one; with learned positions none but the trained length is read",
            lambda of: (
                all(every(of, RNN, "reads"))
                and max(lost(of, RNN, length) for length in LENGTHS) <= WORSE
                and sum(every(of, LEARNED, "reads")) == 1
            ),
        ),
        Prediction(
            "the RNN needs the same weights and memory for every length; learned positions need more of both",
            lambda of: (
                grows(of, RNN, "weights") == grows(of, RNN, "kept") == 1
                and min(grows(of, LEARNED, name) for name in ("weights", "kept")) > 1
            ),
        ),
    ),
    tells=lambda of: (
        f"characters that are read at most, and their loss against {LENGTHS[0]}: "
        f"{', '.join(told(of, arm) for arm in (RNN, LEARNED, SINUSOIDAL, ROTARY))}; an RNN's worst is "
        f"{max(lost(of, RNN, length) for length in LENGTHS):+.2f}; for {LENGTHS[-1]} characters it has "
        f"{grows(of, RNN, 'weights'):g} times the weights and remembers {grows(of, RNN, 'kept'):g} times as much, "
        f"learned positions {grows(of, LEARNED, 'weights'):.2f} and {grows(of, LEARNED, 'kept'):g} times"
    ),
    otherwise="for learned positions a table that was made longer beforehand; other positions take any length, and how "
    "well they read is another question",
    panels=(
        Lines(y="late", title="The same characters of unseen text", label="nats per character", **OVER),
        Lines(y="weights", title="A model for this length", label="weights", **OVER | {"log": "xy"}),
        Lines(y="kept", title="What it remembers of a text", label="numbers", **OVER | {"log": "xy"}),
    ),
)
