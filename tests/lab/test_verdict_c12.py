"""C12: where full attention grows no faster than the others, or these lose nothing, the claim does not stand."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.errors import WorldError
from regard.lab import length
from regard.lab.claims import c12, experiment
from regard.lab.claims.c12 import BIGBIRD, FORMULA, FULL, LINEAR, LINFORMER, WAYS
from regard.lab.claims.experiment import HALF, NOT, TRUE, Found, Size, judged
from regard.lab.claims.figure import picture
from regard.lab.claims.panels import LIGHT
from regard.lab.claims.running import lab
from regard.lab.claims.trial import Trial
from regard.lab.length import exponent

TINY = Size(
    *(5, "train.steps=2", "train.batch_tokens=60", "system.width=12", "system.heads=3", "system.hidden=13"),
    *("system.depth=1", "train.warmup=1"),
    lengths=[64, 128, 256],
    repeats=1,
    model=["system.width=12"],
)


def measured(full: float, linear: float, recall: float, *, memory: float = 2.0) -> list[dict]:
    rows: list[dict] = [{"arm": FORMULA, "seed": 0, "time": full, "memory": memory}]
    for arm in (FULL, *LINEAR):
        power = full if arm == FULL else linear
        found = 95 if arm == FULL else recall
        rows.append({"arm": arm, "seed": 0, "time": power, "memory": 1.0, "recall": found, "steps": 9, "seconds": 1})
    return rows


@pytest.mark.parametrize(
    "rows, verdict",
    [
        (measured(1.9, 1.0, 60), TRUE),
        (measured(1.2, 1.0, 60), NOT),
        (measured(1.9, 1.5, 60), NOT),
        (measured(1.9, 1.0, 93), HALF),  # they give nothing up
        (measured(1.9, 1.0, 60, memory=1.1), HALF),
    ],
)
def test_growth_and_what_is_lost_decide(rows, verdict) -> None:
    assert judged(experiment("C12"), rows).word == verdict


def without(rows: list[dict], name: str, *arms: str) -> list[dict]:
    """As if nobody knew that number."""
    return [{key: value for key, value in row.items() if key != name or row["arm"] not in arms} for row in rows]


def failed(why: str, *arms: str) -> list[dict]:
    return [{"arm": arm, "seed": 0, "length": 8192, "failed": why} for arm in arms]


EVERY = measured(1.9, 1.0, 60)
OUT = "out of memory"


@pytest.mark.parametrize(
    "rows, verdict, told",
    [
        (without(EVERY, "memory", *WAYS.values()), HALF, "memory with unknown, unknown, unknown, and with unknown"),
        (without(EVERY, "memory", FORMULA) + failed(OUT, FORMULA), TRUE, f"(it runs out with: {FORMULA})"),
        (without(EVERY, "memory", *WAYS.values()) + failed(OUT, FORMULA), HALF, f"(it runs out with: {FORMULA})"),
        (without(EVERY, "memory", FORMULA), HALF, "(it runs out with: none)"),
        (EVERY + failed(OUT, FORMULA, BIGBIRD), HALF, f"(it runs out with: {FORMULA}; {BIGBIRD})"),
        (without(EVERY, "time", FULL) + failed(OUT, FULL), NOT, "the power unknown, 1.00, 1.00 of the length"),
        (without(EVERY, "time", LINFORMER), NOT, "the power 1.90, 1.00, unknown of the length"),
    ],
)
def test_what_nobody_knows_is_no_number_and_to_run_out_of_memory_is_a_finding(rows, verdict, told) -> None:
    found = judged(experiment("C12"), rows)
    assert found.word == verdict
    assert told in found.sentence
    results = {"rows": rows, "seeds": [0], "claim": "so", "sentence": found.sentence, "left_out": {}}
    assert picture(experiment("C12"), results, "png", LIGHT)


def test_a_machine_that_does_not_tell_its_memory_is_measured(tmp_path: Path, monkeypatch) -> None:
    """No peak anywhere, and where every weight is kept the longer text does not fit."""

    def bench(systems, settings, *, lengths, repeats, say):
        for name in systems:
            rows: list[dict] = [{"length": n, "seconds": 1e-6 * n, "peak_bytes": None} for n in lengths]
            if name == "formula":
                rows[1:] = [{"length": n, "error": "out of memory"} for n in lengths[1:]]
            yield {"system": name, "rows": rows, "exponent": exponent(rows, "seconds"), "exponent_memory": None}

    monkeypatch.setattr(length, "measure", bench)
    monkeypatch.setattr(c12, "recall", lambda trial, seed: [])
    rows = c12.measure(Trial(TINY, "cpu", tmp_path, {}, (3,)))
    assert {key for row in rows for key in row} == {"seed", "arm", "time", "length", "ms", "failed"}
    assert None not in [value for row in rows for value in row.values()]
    first, *others = [row for row in rows if row["arm"] == FORMULA and "length" in row]
    assert first == {"seed": 3, "arm": FORMULA, "length": 64, "ms": pytest.approx(0.064)}
    assert [row["failed"] for row in others] == ["out of memory"] * 2


def test_a_step_that_fails_for_another_reason_than_memory_is_no_finding(tmp_path: Path, monkeypatch) -> None:
    rows = [{"length": 64, "seconds": 1e-3, "peak_bytes": 5}, {"length": 128, "error": "exit code 1: KeyError"}]
    record = {"system": "full", "rows": rows, "exponent": None, "exponent_memory": None}
    monkeypatch.setattr(length, "measure", lambda systems, settings, **how: [record])
    with pytest.raises(WorldError, match="a step of 128 tokens, full: exit code 1: KeyError"):
        c12.measure(Trial(TINY, "cpu", tmp_path, {}, (3,)))


@pytest.mark.parametrize("power, verdicts", [(2.0, (HALF, TRUE)), (1.0, (NOT,))])
def test_the_power_of_the_length_decides(tmp_path: Path, monkeypatch, power: float, verdicts) -> None:
    """Models are trained; what a step takes is as said, so that no clock decides."""

    def bench(systems, settings, *, lengths, repeats, say):
        for name in systems:
            grows = power if name in ("formula", "full") else 1.0
            rows = [{"length": n, "seconds": 1e-6 * n**grows, "peak_bytes": 5 * n**grows} for n in lengths]
            powers = {"exponent": exponent(rows, "seconds"), "exponent_memory": exponent(rows, "peak_bytes")}
            yield {"system": name, "rows": rows, **powers}

    monkeypatch.setattr(length, "measure", bench)
    changed = replace(experiment("C12"), small=TINY)
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    assert found["verdict"] in verdicts
    of = Found(found["rows"])
    assert of("ms", FULL, length=256) == pytest.approx(1e-3 * 256**power)
    assert of("time", LINFORMER) == pytest.approx(1.0)
    assert [of("steps", arm) for arm in (FULL, BIGBIRD, LINFORMER)] == [2, 2, 2]
    assert {row["arm"] for row in found["rows"]} == set(WAYS.values())
