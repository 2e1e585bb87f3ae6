"""The script that holds vectors of sentences against those of `transformers`, on a tiny model."""

from pathlib import Path

import minilm
import pytest
import torch
from transformers import BertModel

from regard.checkpoint import load
from regard.interop import import_model
from tests.helpers import refused
from tests.interop.folders import written

TEXTS = ("the dog crosses the road", "a cafe, a dog", "京", "the dogs")


def test_vectors_of_sentences_are_the_same(tmp_path: Path) -> None:
    written(tmp_path / "there", BertModel)
    import_model(tmp_path / "there", tmp_path / "run")
    run = load(tmp_path / "run")
    found = minilm.measure(run, tmp_path / "there", TEXTS)
    assert found["largest difference"] < 1e-5
    assert (found["texts"], found["width"]) == (4, 12)
    assert {"within", "between", "accuracy"} <= found["bank"].keys()
    with torch.no_grad():
        run.model.encoder.blocks[1].attention.to_value.weight[0, 0] += 0.7
    assert minilm.measure(run, tmp_path / "there", TEXTS)["largest difference"] > 1e-4


def test_a_folder_is_needed_where_the_package_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package")
    with refused("no FOLDER given, and the package no-such-package is not installed"):
        minilm.installed()
