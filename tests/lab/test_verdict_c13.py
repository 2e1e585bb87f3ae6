"""C13: attention in an RNN's place waits for nothing, and the verdict says so; and the use of a machine, counted."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard import read
from regard.lab.claims import experiment
from regard.lab.claims.c13 import ATTENTION, LSTM, RNN, rate, trained
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Size, judged
from regard.lab.claims.running import lab
from regard.systems import built

GPT = Arm("gpt", "system.context=41")


def rows(recurrent: float, power: float, steps: float = 1.0) -> list[dict]:
    """As if measured: use of the machine, power of the length in time, and in steps, of RNN and LSTM."""
    found: list[dict] = []
    for arm, use, time, wait in ((RNN, recurrent, power, steps), (LSTM, 10.0, 1.0, 1.0), (ATTENTION, 60.0, 1.3, 0.0)):
        for length in (64, 256):
            row = {"length": length, "steps": 10 * length**wait, "ms": length**time, "used": use}
            found.append({"arm": arm, "seed": 0, **row})
        found.append({"arm": arm, "seed": 0, "texts": 16, "beside": 2 * use})
    return found


@pytest.mark.parametrize(
    "figures, verdict",
    [((5, 1.0), TRUE), ((40, 1.0), NOT), ((5, 0.4), NOT), ((5, 2.0), NOT), ((5, 1.0, 0.0), HALF)],
)
def test_the_verdict_follows_from_time_use_and_steps(figures: tuple[float, ...], verdict: str) -> None:
    assert judged(experiment("C13"), rows(*figures)).word == verdict
    busy = [{**row, "used": 50.0} if row["arm"] == LSTM and "used" in row else row for row in rows(*figures)]
    assert judged(experiment("C13"), busy).word == (HALF if verdict == TRUE else verdict)


@pytest.mark.parametrize("changed", [{RNN: GPT}, {}])
def test_attention_in_place_of_an_rnn_is_seen(tmp_path: Path, changed: dict[str, Arm]) -> None:
    """Times of so little work mean nothing; that it is as busy as itself, and waits for no token, is seen."""
    made = experiment("C13")
    tiny = Size(1, "system.width=32", "system.context=41", lengths=(11, 37), texts=(1, 2))
    made = replace(made, arms={**made.arms, **changed}, small=tiny)
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([made], ended=lambda found: None)
    assert found["held"][-1]["seeds"]["0"] == (not changed)
    if changed:
        assert found["verdict"] == NOT


def test_arithmetic_is_that_of_all_matrices_forward_and_backward():
    model = built(read("rnn-lm", ["system.width=16", "system.depth=1", "system.tied=true"]).system, 11)
    seconds, flops = trained(model, torch.randint(11, (3, 8)))
    assert seconds > 0
    forward = 2 * 3 * 7 * (16 * 16 + 16 * 16 + 16 * 11)  # input, state, output
    assert 2.5 * forward < flops <= 3 * forward
    assert 1e8 < rate(torch.device("cpu")) < 1e13
