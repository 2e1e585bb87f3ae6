"""C12: attention costs O(T^2 d); Linformer and BigBird grow linearly; what they give up."""

import math
from collections.abc import Iterator

from regard.errors import WorldError
from regard.evaluate import evaluate
from regard.lab import length
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.panels import Bars, Lines
from regard.lab.claims.trial import Row, Trial, history

FORMULA, FULL, BIGBIRD, LINFORMER = "full, as the formula says", "full", "BigBird", "Linformer"
WAYS = {"formula": FORMULA, "full": FULL, "bigbird": BIGBIRD, "linformer": LINFORMER}
LINEAR = (BIGBIRD, LINFORMER)
BLOCKS = ("system.block=2", "system.first=1", "system.near=0", "system.random=1")
LITTLE = ("system.width=64", "system.hidden=64", "system.depth=2")
TRAINED = (FULL, *LINEAR)  # FORMULA is the same model as full


def measure(trial: Trial) -> list[Row]:
    """What nobody knows is left out: memory where it cannot be read, all numbers of a step that found no room."""
    rows = [{"seed": seed, **row} for seed in trial.seeds for row in (*cost(trial, seed), *recall(trial, seed))]
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def cost(trial: Trial, seed: int) -> Iterator[Row]:
    """`regard bench length`: a training step at each length, and the power of the length that it grows with."""
    model = [f"seed={seed}", f"train.device='{trial.device}'", "train.threads=1", *trial.size["model"]]
    lengths, repeats = tuple(trial.size["lengths" if trial.device == "cpu" else "longer"]), trial.size["repeats"]
    for record in length.measure(tuple(WAYS), model, lengths=lengths, repeats=repeats, say=lambda line: None):
        yield {"arm": WAYS[record["system"]], "time": record["exponent"], "memory": record["exponent_memory"]}
        for row in record["rows"]:
            took, peak, error = (row.get(name) for name in ("seconds", "peak_bytes", "error"))
            if error not in (None, *length.SHORT):
                raise WorldError(f"a step of {row['length']} tokens, {record['system']}: {error}")
            numbers = {"ms": took and 1e3 * took, "mb": peak and peak / 1e6, "failed": error}
            yield {"arm": WAYS[record["system"]], "length": row["length"], **numbers}


def recall(trial: Trial, seed: int) -> Iterator[Row]:
    """What each way of looking finds again of what it read, after how many steps and seconds."""
    for name in TRAINED:
        run = trial.train(arm=trial.arms[name], seed=seed)
        *_, last = history(run)
        took = {"steps": last["step"], "seconds": last["seconds"]}
        yield {"arm": name, "recall": 100 * evaluate([run])["accuracy"], **took}


def known(of: Found, name: str, arm: str) -> float:
    """No number where nobody knows it."""
    return of(name, arm) if any(row["arm"] == arm and name in row for row in of.rows) else math.nan


def runs_out(of: Found, arm: str) -> bool:
    return any(row["arm"] == arm and "failed" in row for row in of.rows)


def hungry(of: Found) -> bool:
    """Whether memory is taken as predicted, as far as it is known."""
    steep = runs_out(of, FORMULA) or known(of, "memory", FORMULA) >= 1.6
    return steep and all(known(of, "memory", arm) <= 1.3 and not runs_out(of, arm) for arm in LINEAR)


def told(of: Found, name: str, form: str, *arms: str) -> str:
    return ", ".join(format(known(of, name, arm), form) for arm in arms or TRAINED).replace("nan", "unknown")


EXPERIMENT = Experiment(
    id="C12",
    title="The cost of a long text",
    claim="Attention costs O(T² d); Linformer and BigBird grow linearly with the length T and give something up.",
    method="One small encoder, four ways of looking; a training step is timed at several lengths, and its peak memory "
    "taken. 'As the formula says' keeps every weight; the others use fast kernels. Then each way learns to say which "
    "value stood beside a key.",
    refuted="full attention grows no faster than the others",
    arms={
        **dict.fromkeys((FORMULA, FULL), Arm("recall")),
        BIGBIRD: Arm("recall", "system.attention=bigbird", *BLOCKS),
        LINFORMER: Arm("recall", "system.attention=linformer", "system.projected=4"),
    },
    small=Size(
        *(150, "data.train='recall:2-3'", "train.steps=900", "train.batch_tokens=768", "train.rate=6e-3", *LITTLE),
        lengths=[1024, 2048, 4096],
        repeats=1,
        model=["system.width=64", "system.hidden=128", "system.block=16"],
    ),
    full=Size(
        *(1500, "data.train='recall:2-8'", "system.context=20", "train.steps=1500", "train.batch_tokens=2048"),
        lengths=[1024, 2048, 4096, 8192],
        longer=[8192, 16_384, 32_768],  # for a GPU, which shorter ones leave idle
        repeats=3,
        model=["system.width=128", "system.hidden=256"],
    ),
    together=True,
    timed=("time", "memory", "ms", "mb", "seconds"),
    measure=measure,
    predictions=(
        Prediction(
            "a step of full attention grows with a power of the length of 1.6 at least, of the others of 1.3 at most",
            lambda of: known(of, "time", FULL) >= 1.6 and all(known(of, "time", arm) <= 1.3 for arm in LINEAR),
        ),
        Prediction(
            "memory, all weights kept, runs out or grows with a power of at least 1.6; in linear ways of at most 1.3",
            hungry,
        ),
        Prediction(
            "both linear ways find at least 5 fewer of 100 values",
            lambda of: max(of("recall", arm) for arm in LINEAR) <= of("recall", FULL) - 5,
        ),
    ),
    tells=lambda of: (
        f"time grows with the power {told(of, 'time', '.2f')} of the length with {', '.join(TRAINED)}; memory with "
        f"{told(of, 'memory', '.2f')}, and with {told(of, 'memory', '.2f', FORMULA)} where every weight is kept (it "
        f"runs out with: {'; '.join(arm for arm in WAYS.values() if runs_out(of, arm)) or 'none'}); after "
        f"{of('steps', FULL):.0f} steps ({told(of, 'seconds', '.0f')} s) {told(of, 'recall', '.0f')} of 100 are found"
    ),
    otherwise="shorter texts, whose cost is that of all other layers; a fast kernel saves the memory of full attention "
    "and not its time. BigBird and Linformer lose less with more blocks, more mixes or more training",
    panels=(
        Lines(x="length", y="ms", title="Time of a step", across="tokens", label="milliseconds", log="xy"),
        Lines(x="length", y="mb", title="Memory of a step", across="tokens", label="megabytes", log="xy"),
        Bars(y="recall", title="What is found again", label="% of values"),
    ),
)
