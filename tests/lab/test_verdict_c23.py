"""C23: sinusoids in place of learned positions read on, and the verdict says so; what is remembered, by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard import read
from regard.lab.claims import experiment
from regard.lab.claims.c23 import LEARNED, LENGTHS, RNN, SINUSOIDAL, kept
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size
from regard.lab.claims.running import lab
from regard.systems import built

TINY = Size(3, "train.steps=20", "train.batch_tokens=256", "system.width=8", "system.depth=1")
ON = Arm("gpt", "system.position=sinusoidal", "system.heads=2")


@pytest.mark.parametrize("settings, verdicts", [((), (TRUE, HALF)), (("system.position=sinusoidal",), (NOT,))])
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


@pytest.mark.parametrize("preset, settings, wanted", [
    ("rnn-lm", (), lambda length: 3 * 8),
    ("lstm-lm", (), lambda length: 3 * 2 * 8),  # state and cell
    ("gpt", ("system.heads=2",), lambda length: 3 * 2 * 8 * length),  # keys and values
])  # fmt: skip
def test_what_is_remembered_is_a_state_or_keys_and_values(preset, settings, wanted):
    for length in (13, 29):
        recipe = read(preset, ["system.width=8", "system.depth=3", f"system.context={length}", *settings])
        assert kept(built(recipe.system, 11), length) == wanted(length)
