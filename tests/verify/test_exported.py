"""The line about exports holds for a copy that says the same, and fails for one that was changed."""

import shutil
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from regard.checkpoint import load
from regard.interop import export_model, import_model
from regard.interop.families import FAMILIES
from regard.interop.families.encoders import Encoders
from regard.verify import verify
from tests.cli.shell import fine
from tests.helpers import refused
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


@pytest.mark.parametrize("first", ["hf", "ct2"])
def test_a_library_that_is_missing_hides_no_copy_that_fails(
    first: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for to in (first, "ct2" if first == "hf" else "hf"):
        export_model(run, tmp_path / to, to=to)
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    (line,) = verify(load(run), only=[LINE]).lines
    unread = f"{tmp_path / 'ct2'} was not compared: this needs the package 'ctranslate2', which is not installed"
    assert line.state == "holds" and line.why.startswith(unread)
    path = tmp_path / "hf" / "model.safetensors"
    tensors = load_file(path)
    tensors["transformer.h.1.mlp.c_fc.weight"][0, 0] += 0.7
    save_file(tensors, path, metadata={"format": "pt"})
    (line,) = verify(load(run), only=[LINE]).lines
    assert line.state == "fails" and "hf: " in line.why and unread in line.why
    monkeypatch.setitem(sys.modules, "transformers", None)
    (line,) = verify(load(run), only=[LINE]).lines
    assert line.state == "does not apply"
    assert unread in line.why and f"{tmp_path / 'hf'} was not compared: " in line.why
    assert "'transformers', which is not" in line.why


def test_blocks_that_an_older_release_wrote_for_others_are_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    CASES["big_bird-blocks"].write(tmp_path / "there")
    import_model(tmp_path / "there", tmp_path / "run")
    family = FAMILIES["big_bird"]
    with monkeypatch.context() as older:
        older.setitem(FAMILIES, "big_bird", replace(family, write=partial(Encoders.write, family.write.__self__)))
        export_model(tmp_path / "run", tmp_path / "copy")
    (line,) = verify(load(tmp_path / "run"), only=[LINE]).lines
    assert line.state == "does not apply"
    reason = "system.attention = 'bigbird' cannot be said there"
    assert line.why.startswith(f"{tmp_path / 'copy'} was not compared: {reason}")


def test_what_was_not_compared_is_printed(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for to in ("hf", "onnx"):
        export_model(run, tmp_path / to, to=to)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    done = fine("verify", run, "--only", LINE)
    assert done.lines[0].startswith(f"holds  {LINE}") and f"{tmp_path / 'onnx'} was not compared: " in done.lines[1]


def test_no_difference_is_said_in_words(run: Path) -> None:
    (line,) = fine("verify", run, "--only", "saved = loaded").lines
    assert " no difference, tolerance " in line


def test_a_copy_that_cannot_be_read_any_more_fails(run: Path, tmp_path: Path) -> None:
    export_model(run, tmp_path / "copy")
    (tmp_path / "copy" / "model.safetensors").write_bytes(b"")
    (line,) = verify(load(run), only=[LINE]).lines
    assert line.state == "fails" and "'transformers' cannot read" in line.why


def test_an_export_for_another_library_is_not_replaced(run: Path, tmp_path: Path) -> None:
    export_model(run, tmp_path / "copy")
    with refused("holds an export already; --force overwrites it"):
        export_model(run, tmp_path / "copy")
    with refused("holds an export for hf; give another --out"):
        export_model(run, tmp_path / "copy", to="ct2", force=True)
