"""Convolutional systems learn: what a window reaches is read off, what it does not reach stays unknown."""

import math
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from regard import decode
from regard.blocks.convolution import Causal
from regard.systems import bytenet
from tests.helpers import lines_file
from tests.learning.test_recurrent import spelt
from tests.learning.toys import trained, words

CHANCE = math.log(8)  # nats of one letter out of eight


def repeated(folder: Path, **system: Any) -> tuple[float, float]:
    """Nats per letter for the first half of `abc|abc`, which is chance, and for the second, four tokens behind it."""
    files = {}
    for split, count in (("train", 3000), ("test", 100)):
        lines = [f"{word}|{word}" for word in words(count, range(3, 4), split, "abcdefgh")]
        files[split] = lines_file(folder / f"{split}.txt", lines)
    run = trained(
        folder,
        "window-lm",
        {**files, "valid": files["test"], "document": "line"},
        system={"width": 48, "context": 16, **system},
        train={"steps": 250, "batch_tokens": 500, "rate": 1e-2},
    )
    lines = Path(files["test"]).read_text().splitlines()
    found = decode.score(run.model, run.tokenizer, [run.tokenizer.encode(line) for line in lines])
    return -mean(x for row in found for x in row[:3]), -mean(x for row in found for x in row[4:7])


@pytest.mark.parametrize("unit", ["glu", "tanh"])
def test_a_window_language_model_repeats_what_its_windows_reach(tmp_path: Path, unit: str) -> None:
    """Two windows of three reach four tokens back; the letter to repeat is three before the newest."""
    first, second = repeated(tmp_path, depth=2, window=3, unit=unit)
    assert second < 0.2
    assert first == pytest.approx(CHANCE, abs=0.05)  # what is chance stays chance: nothing leaks from the future


def test_one_window_of_three_cannot_repeat_what_lies_beyond_it(tmp_path: Path) -> None:
    assert repeated(tmp_path, depth=1, window=3)[1] > 1


def test_convs2s_spells_backwards(tmp_path: Path) -> None:
    assert spelt(tmp_path, "convs2s", 200, depth=2) >= 0.9


def test_bytenet_spells_backwards(tmp_path: Path) -> None:
    assert spelt(tmp_path, "bytenet", 400, depth=3) >= 0.9


def test_bytenet_on_an_encoder_that_sees_the_past_alone_cannot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first letter to write is the last of the source: a step that stands on its place's past has not read it."""
    monkeypatch.setattr(bytenet, "Centred", Causal)
    assert spelt(tmp_path, "bytenet", depth=3) < 0.5
