"""C1: a recurrent layer in attention's place, or windows in an RNN's, and the steps are not as claimed."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard import read
from regard.lab.claims import experiment
from regard.lab.claims.c01 import ATTENTION, DEPTHS, LSTM, RNN, last_state
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.running import lab
from regard.systems import built


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
    assert [of("all", RNN, depth=depth) for depth in DEPTHS] == [7 + depth - 1 for depth in DEPTHS]


@pytest.mark.parametrize("preset", ["rnn-lm", "lstm-lm", "gpt"])
def test_token_by_token_a_text_is_read_as_at_once(preset: str) -> None:
    text = torch.randint(11, (1, 7))
    model = built(read(preset, ["system.width=12", "system.depth=3"]).system, 11).eval()
    assert torch.allclose(last_state(model, text), model.hidden(text)[:, -1:], atol=1e-6)


def rows(recurrent: float, attention: float, layers: int, added: int = 3) -> list[dict]:
    """As if measured, with these powers of the length in time; four layers of attention take `layers` times the steps
    of one, those of an RNN so many `added` ones."""
    found: list[dict] = []
    for arm, power in ((RNN, recurrent), (LSTM, recurrent), (ATTENTION, attention)):
        for length in (16, 64):
            waits = 5 if arm == ATTENTION else length
            found.append({"arm": arm, "seed": 0, "length": length, "steps": waits, "ms": length**power})
        four = 5 * layers if arm == ATTENTION else 5 + added
        found += [{"arm": arm, "seed": 0, "depth": depth, "all": every} for depth, every in ((1, 5), (4, four))]
    return found


@pytest.mark.parametrize(
    "recurrent, attention, layers, verdict",
    [(1.0, 0.2, 4, TRUE), (1.0, 1.0, 4, HALF), (0.5, 0.2, 4, HALF), (1.0, 0.2, 2, HALF)],
)
def test_time_and_layers_count_too(recurrent: float, attention: float, layers: int, verdict: str) -> None:
    assert judged(experiment("C1"), rows(recurrent, attention, layers)).word == verdict
    longer = [{**row, "steps": row["length"]} if "steps" in row else row for row in rows(recurrent, attention, layers)]
    assert judged(experiment("C1"), longer).word == NOT


def test_a_layer_of_an_rnn_adds_one_step():
    assert judged(experiment("C1"), rows(1.0, 0.2, 4, added=15)).word == HALF
