"""Convolutional systems learn: what a window reaches is read off, what it does not reach stays unknown."""

import math
from pathlib import Path

import pytest

from regard.blocks.convolution import Causal
from regard.systems import bytenet
from tests.learning.toys import copied, spelt

SMALL = {"steps": 250, "width": 48, "context": 16}
CHANCE = math.log(8)  # nats of one letter out of eight


@pytest.mark.parametrize("unit", ["glu", "tanh"])
def test_a_window_language_model_repeats_what_its_windows_reach(tmp_path: Path, unit: str) -> None:
    """Two windows of three reach four tokens back; the letter to repeat is three before the newest."""
    first, second = copied(
        tmp_path, "window-lm", range(3, 4), steps=250, width=48, context=16, depth=2, window=3, unit=unit
    )
    assert second < 0.2
    assert first == pytest.approx(CHANCE, abs=0.05)  # what is chance stays chance: nothing leaks from the future


def test_one_window_of_three_cannot_repeat_what_lies_beyond_it(tmp_path: Path) -> None:
    assert copied(tmp_path, "window-lm", range(3, 4), **SMALL, depth=1, window=3)[1] > 1


def test_convs2s_spells_backwards(tmp_path: Path) -> None:
    assert spelt(tmp_path, "convs2s", depth=2) >= 0.9


def test_bytenet_spells_backwards(tmp_path: Path) -> None:
    assert spelt(tmp_path, "bytenet", steps=400, depth=3) >= 0.9


def test_bytenet_on_an_encoder_that_sees_the_past_alone_cannot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first letter to write is the last of the source: a step that stands on its place's past has not read it."""
    monkeypatch.setattr(bytenet, "Centred", Causal)
    assert spelt(tmp_path, "bytenet", depth=3) < 0.5
