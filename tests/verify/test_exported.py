"""The line about exports holds for a copy that says the same, and fails for one that was changed."""

import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from regard.checkpoint import load
from regard.interop import export_model, import_model
from regard.verify import verify
from tests.interop.cases import CASES

LINE = "exported = native"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    CASES["gpt2"].write(tmp_path / "there")
    import_model(tmp_path / "there", tmp_path / "run")
    return tmp_path / "run"


def test_a_copy_that_says_the_same_holds(run: Path, tmp_path: Path) -> None:
    (line,) = verify(load(run), only=[LINE]).lines
    assert (line.state, line.why) == ("does not apply", "no exported copy of this run exists")
    export_model(run, tmp_path / "copy")
    (line,) = verify(load(run), only=[LINE]).lines
    assert line.state == "holds"
    assert 0 < line.difference < line.tolerance
    shutil.rmtree(tmp_path / "copy")
    (line,) = verify(load(run), only=[LINE]).lines
    assert line.state == "does not apply"


def test_a_copy_that_was_changed_fails(run: Path, tmp_path: Path) -> None:
    export_model(run, tmp_path / "copy")
    path = tmp_path / "copy" / "model.safetensors"
    tensors = load_file(path)
    tensors["transformer.h.1.mlp.c_fc.weight"][0, 0] += 0.7
    save_file(tensors, path, metadata={"format": "pt"})
    (line,) = verify(load(run), only=[LINE]).lines
    assert line.state == "fails"
    assert "copy: " in line.why and "MORE than" in line.why
