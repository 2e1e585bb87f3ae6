"""The script that translates in three runtimes, on a tiny model that has learnt nothing."""

import random
from pathlib import Path

import pytest
import roads
import torch

from regard.checkpoint import Run, load
from regard.interop import export_model
from tests.cli.shell import fine, settings
from tests.helpers import lines_file, refused
from tests.interop.tiny import tiny


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Pairs of words turned round, and a vocabulary of these words."""
    folder, chance = tmp_path_factory.mktemp("roads"), random.Random(7)
    lines = [[chance.choice("abcdefghijk") for _ in range(chance.randint(2, 6))] for _ in range(90)]
    data = lines_file(folder / "pairs.tsv", [f"{' '.join(line)}\t{' '.join(line[::-1])}" for line in lines])
    few = settings(f"data.train={data}", "train.steps=30", "train.rate=0.01")
    fine("train", "transformer-tiny", "--out", folder / "run", "--quiet", *few)
    return load(folder / "run")


def test_every_translation_is_the_same(run: Run, tmp_path: Path) -> None:
    found = roads.measure(run, tmp_path, 9)
    count = found["sources"]
    assert count == len(roads.sources_of(run)) > 3 and found["most"] == 9
    assert found["greedy"] == found["beam of 4"] == {"ct2": count, "onnx": count}


def test_one_that_is_another_is_counted(run: Run, tmp_path: Path) -> None:
    export_model(run.path, tmp_path / "onnx", to="onnx")
    there = roads.in_onnx(run, tmp_path / "onnx")
    sources = roads.sources_of(run)
    other = load(run.path)
    with torch.no_grad():
        other.model.decoder.blocks[0].attention.to_value.weight.neg_()
    for beam in (1, 4):
        mine = roads.here(run)(sources, beam, 9)
        assert there(sources, beam, 9) == mine and len({*map(tuple, mine)}) > 1
        assert roads.here(other)(sources, beam, 9) != mine


def test_only_a_translator_is_asked(tmp_path: Path) -> None:
    with refused("translates nothing"):
        roads.sources_of(tiny(tmp_path / "run", "gpt"))
