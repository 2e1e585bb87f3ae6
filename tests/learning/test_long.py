"""The presets of long texts learn what stands around a hidden word, and not only how common it is."""

from pathlib import Path

import pytest

from regard.checkpoint import load
from regard.evaluate import evaluate
from regard.recipe import read
from regard.train import train


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["linformer", "bigbird"])
def test_a_preset_guesses_better_than_by_how_common_words_are(tmp_path: Path, preset: str) -> None:
    """In under half of its steps."""
    recipe = read(preset, ["train.steps=250", "train.evaluate_every=1000", "train.device=cpu"])
    told = evaluate([load(train(recipe, tmp_path / "run", quiet=True))])
    assert told["loss"] < told["unigram_entropy"] - 0.2
