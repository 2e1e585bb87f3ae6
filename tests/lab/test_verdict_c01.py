"""C1: a recurrent layer in attention's place, or windows in an RNN's, and the steps are not as claimed."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.lab.claims import experiment
from regard.lab.claims.c01 import ATTENTION, DEPTHS, LSTM, RNN
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.running import lab


@pytest.mark.parametrize(
    "changed, verdicts", [({}, (TRUE, HALF)), ({ATTENTION: Arm("rnn-lm")}, (NOT,)), ({LSTM: Arm("window-lm")}, (NOT,))]
)
def test_who_waits_decides(tmp_path: Path, changed: dict[str, Arm], verdicts: tuple[str, ...]) -> None:
    made = experiment("C1")
    tiny = Size(1, "system.width=12", "system.context=41", lengths=(7, 41))
    made = replace(made, arms={**made.arms, **changed}, small=tiny)
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([made], ended=lambda found: None)
    assert found["verdict"] in verdicts
    of = Found(found["rows"])
    assert [of("steps", RNN, length=length) for length in (7, 41)] == [7, 41]
    assert [of("all", RNN, depth=depth) for depth in DEPTHS] == [7 * depth for depth in DEPTHS]


def rows(recurrent: float, attention: float, layers: int) -> list[dict]:
    """As if measured, with these powers of the length in time; four layers take `layers` times the steps of one."""
    found: list[dict] = []
    for arm, power in ((RNN, recurrent), (LSTM, recurrent), (ATTENTION, attention)):
        for length in (16, 64):
            waits = 5 if arm == ATTENTION else length
            found.append({"arm": arm, "seed": 0, "length": length, "steps": waits, "ms": length**power})
        found += [{"arm": arm, "seed": 0, "depth": depth, "all": every} for depth, every in ((1, 5), (4, 5 * layers))]
    return found


@pytest.mark.parametrize(
    "recurrent, attention, layers, verdict",
    [(1.0, 0.2, 4, TRUE), (1.0, 1.0, 4, HALF), (0.5, 0.2, 4, HALF), (1.0, 0.2, 2, HALF)],
)
def test_time_and_layers_count_too(recurrent: float, attention: float, layers: int, verdict: str) -> None:
    assert judged(experiment("C1"), rows(recurrent, attention, layers)).word == verdict
    longer = [{**row, "steps": row["length"]} if "steps" in row else row for row in rows(recurrent, attention, layers)]
    assert judged(experiment("C1"), longer).word == NOT
