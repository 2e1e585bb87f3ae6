"""C23: an RNN that reads long texts worse, or positions that read on, change the verdict; what is remembered."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard import read
from regard.lab.claims import c23, experiment
from regard.lab.claims.c23 import LEARNED, LENGTHS, RNN, ROTARY, SINUSOIDAL, kept
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.running import lab
from regard.lab.claims.trial import Row
from regard.systems import built

TINY = Size(3, "train.steps=20", "train.batch_tokens=256", "system.width=8", "system.depth=1")
ON = Arm("gpt", "system.position=sinusoidal", "system.heads=2")


@pytest.mark.parametrize("settings, verdicts", [((), (TRUE,)), (("system.position=sinusoidal",), (NOT,))])
def test_a_table_of_places_decides(tmp_path: Path, settings: tuple[str, ...], verdicts: tuple[str, ...]) -> None:
    made = experiment("C23")
    arms = {RNN: made.arms[RNN], LEARNED: Arm("gpt", "system.heads=2", *settings), SINUSOIDAL: ON}
    changed = replace(made, arms=arms, small=TINY, tells=lambda of: "so it is")
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    assert found["verdict"] in verdicts
    of = Found(found["rows"])
    assert [of("reads", LEARNED, length=length) for length in LENGTHS] == ([1] * 5 if settings else [1, 0, 0, 0, 0])
    weights = [of("weights", LEARNED, length=length) for length in LENGTHS]
    assert [more - weights[0] for more in weights] == [0 if settings else 8 * (n - LENGTHS[0]) for n in LENGTHS]


@pytest.mark.parametrize(
    "worse, read, larger, verdict, told",
    [
        (0.05, 1, 1, TRUE, "RNN 1024 (+0.05 nats), learned positions 64 (+0.00 nats)"),
        (-0.05, 1, 1, TRUE, "RNN 1024 (-0.05 nats)"),
        (0.2, 1, 1, NOT, "RNN 1024 (+0.20 nats)"),  # it takes long texts and does not read them
        (0.05, 2, 1, NOT, "learned positions 128 (+1.00 nats)"),
        (0.05, 1, 2, HALF, "it has 2 times the weights"),
    ],
)
def test_the_verdict_follows_from_how_long_texts_are_read(
    worse: float, read: int, larger: int, verdict: str, told: str
) -> None:
    compared = rows(RNN, worse, 5, larger) + rows(LEARNED, 1.0, read, 3)
    found = judged(experiment("C23"), compared + rows(SINUSOIDAL) + rows(ROTARY))
    assert found.word == verdict
    assert told in found.sentence


def rows(arm: str, worse: float = 0.5, read: int = 5, larger: int = 1) -> list[Row]:
    """As measured: so many of the lengths are read, the longer ones so much worse, with so many times the weights."""
    every: list[Row] = []
    for number, length in enumerate(LENGTHS):
        times = larger if number else 1
        every.append({"length": length, "weights": 10 * times, "kept": 10 * times, "reads": int(number < read)})
        every += [{"length": length, "late": 2.0 + worse * (number > 0)}] * (number < read)
    return [{"arm": arm, "seed": 0, **row} for row in every]


def test_every_length_is_asked_for_the_same_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    text = torch.rand(c23.CHARACTERS // c23.HELD_OUT // LENGTHS[-1], LENGTHS[-1], dtype=torch.float64)
    monkeypatch.setattr(c23, "windows", lambda run, characters: text.flatten()[:characters].view(-1, LENGTHS[0]))
    monkeypatch.setattr(c23, "nats", lambda run, rows: rows[:, 1:])
    late = text.flatten()[LENGTHS[-1] // 2 :].mean()
    assert [c23.late(None, length) for length in LENGTHS] == pytest.approx([float(late)] * len(LENGTHS))


@pytest.mark.parametrize("preset, settings, wanted", [
    ("rnn-lm", (), lambda length: 3 * 8),
    ("lstm-lm", (), lambda length: 3 * 2 * 8),  # state and cell
    ("gpt", ("system.heads=2",), lambda length: 3 * 2 * 8 * length),  # keys and values
])  # fmt: skip
def test_what_is_remembered_is_a_state_or_keys_and_values(preset, settings, wanted):
    for length in (13, 29):
        recipe = read(preset, ["system.width=8", "system.depth=3", f"system.context={length}", *settings])
        assert kept(built(recipe.system, 11), length) == wanted(length)
