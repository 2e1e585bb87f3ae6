"""C25: systems that see or wait otherwise change the verdict; and what is seen, against what is known."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard import read
from regard.lab.claims import experiment
from regard.lab.claims.c25 import ATTENTION, REACH, RNN, WINDOW, power, visible
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.running import lab
from regard.systems import built

NEAR = Arm("gpt", "system.attention='local'", "system.block=4")


@pytest.mark.parametrize(
    "changed, verdicts",
    [
        ({}, (TRUE, HALF)),
        ({ATTENTION: NEAR}, (NOT,)),
        ({RNN: Arm("window-lm")}, (NOT,)),
        ({WINDOW: Arm("gpt")}, (NOT,)),
    ],
)
def test_who_sees_what_decides(tmp_path: Path, changed: dict[str, Arm], verdicts: tuple[str, ...]) -> None:
    made = experiment("C25")
    tiny = Size(1, "system.width=12", "system.context=41", tokens=(1, 5, 13, 14, 23), lengths=(7, 41))
    made = replace(made, arms={**made.arms, **changed}, small=tiny)
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([made], ended=lambda found: None)
    assert found["verdict"] in verdicts


def test_an_rnn_sees_its_past_and_a_window_what_lies_in_it():
    text = torch.randint(11, (1, 7))
    past = torch.ones(7, 7).tril().bool()
    for preset in ("rnn-lm", "gpt"):
        model = built(read(preset, ["system.width=8", "system.depth=1"]).system, 11).eval()
        assert torch.equal(visible(model, text), past)
    model = built(read("window-lm", ["system.width=8", "system.depth=1", "system.window=3"]).system, 11).eval()
    assert torch.equal(visible(model, text), past & ~past.tril(-3))


def rows(recurrent: float, other: float, steps: int) -> list[dict]:
    """As if measured, with these powers of the length in time; windows take `steps` more for the longer text."""
    found: list[dict] = []
    for arm, grows in ((RNN, recurrent), (WINDOW, other), (ATTENTION, other)):
        for length in (16, 64):
            waits = length if arm == RNN else 3 + steps * (length > 16)
            found.append({"arm": arm, "seed": 0, "length": length, "steps": waits, "ms": length**grows})
        most = REACH if arm == WINDOW else 10**9
        found += [{"arm": arm, "seed": 0, "token": n, "sees": min(n, most), "ahead": 0} for n in (1, 5, 23)]
    return found


@pytest.mark.parametrize(
    "recurrent, other, steps, verdict",
    [(1.0, 0.2, 0, TRUE), (1.0, 0.9, 0, HALF), (0.3, 0.2, 0, HALF), (1.0, 0.2, 1, HALF)],
)
def test_steps_and_time_count_too(recurrent: float, other: float, steps: int, verdict: str) -> None:
    assert judged(experiment("C25"), rows(recurrent, other, steps)).word == verdict
    ahead = [{**row, "ahead": 1} if row.get("token") == 5 else row for row in rows(recurrent, other, steps)]
    assert judged(experiment("C25"), ahead).word == NOT
    assert Found(ahead).last("sees", WINDOW, "token") == REACH


def test_no_numbers_have_no_power():
    """One length tells nothing of growth, and that is not the same as none."""
    one = [row for row in rows(1.0, 0.2, 0) if row.get("length") != 64]
    with pytest.raises(KeyError, match="no 'ms' of 'window' at two lengths"):
        power(Found(one), WINDOW, "ms")
    assert power(Found(rows(1.0, 0.0, 0)), WINDOW, "ms") == 0
