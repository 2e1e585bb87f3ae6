"""A run folder in which something is broken: one line says which file, and nothing is guessed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from regard.checkpoint import FORMAT, WEIGHTS, read_tensors, write
from tests.cli.conftest import Place
from tests.cli.shell import refused, regard, untouched


@pytest.fixture
def copy(place: Place, tmp_path: Path) -> Path:
    return Path(shutil.copytree(place.model, tmp_path / "run"))


def gone(path: Path) -> None:
    path.unlink()


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def halved(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) * 2 // 3] ^= 1
    path.write_bytes(content)


def overwritten(path: Path) -> None:
    path.write_bytes(b"\xff\x00 nothing of a run\n" * 9)


BREAKS = (gone, emptied, halved, overwritten)


@pytest.mark.parametrize("harm", BREAKS)
@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_model_with_a_broken_file_is_not_used(copy: Path, file: str, harm: Callable[[Path], None]) -> None:
    harm(copy / file)
    with untouched(copy):
        refused("generate", copy, "--prompt", "R", because=file)


@pytest.mark.parametrize("harm", (*BREAKS[1:], flipped))
def test_a_training_with_a_broken_state_does_not_go_on(copy: Path, harm: Callable[[Path], None]) -> None:
    harm(copy / "state/trainer.safetensors")
    refused("resume", copy, because="trainer.safetensors is damaged")


@pytest.mark.parametrize("harm", BREAKS)
@pytest.mark.parametrize("file", ["text.u16", "text.ends.npy"])
def test_a_training_with_broken_tokens_does_not_go_on(copy: Path, file: str, harm: Callable[[Path], None]) -> None:
    harm(copy / "tokens/train" / file)
    refused("resume", copy, because="the tokens in")


def test_a_damaged_log_is_cut_where_it_broke(copy: Path) -> None:
    log = copy / "log.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole + b'"half a line\n')
    assert regard("resume", copy, "--quiet").code == 0
    assert log.read_bytes() == whole


def test_one_changed_bit_of_the_weights_is_found(copy: Path) -> None:
    flipped(copy / WEIGHTS)
    refused("generate", copy, because="is damaged: its content does not match its hash")


def test_another_tokenizer_is_found(copy: Path, place: Place) -> None:
    shutil.copy(place.translator / "tokenizer.json", copy)
    refused("generate", copy, because="tokenizer.json is not the tokenizer")


def test_other_weights_are_found(copy: Path, place: Place) -> None:
    shutil.copy(place.translator / WEIGHTS, copy)
    refused("generate", copy, because="is not the tokenizer that")


def changed(copy: Path, change: Callable[[dict], object]) -> None:
    """The run's configuration with something done to it."""
    config = json.loads((copy / "config.json").read_text())
    change(config)
    (copy / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize(
    ("change", "because"),
    [
        (lambda config: config.update(format=FORMAT + 1), "was written by a newer Regard"),
        (lambda config: config.pop("system"), "section [system] is missing"),
        (lambda config: config["system"].update(kind="gtp"), "no kind 'gtp'; did you mean 'gpt'?"),
        (lambda config: config["system"].update(width=64), "the configuration asks for"),
        (lambda config: config["system"].update(future=1), "no setting 'future'"),
    ],
    ids=["newer", "incomplete", "unknown", "other size", "other setting"],
)
def test_a_configuration_that_does_not_fit_is_told(copy: Path, change: Callable, because: str) -> None:
    changed(copy, change)
    refused("generate", copy, because=because)


def test_weights_of_a_newer_format_are_told(copy: Path) -> None:
    from safetensors.torch import save

    tensors, notes = read_tensors(copy / WEIGHTS)
    write(copy / WEIGHTS, save(tensors, metadata={**notes, "format": str(FORMAT + 1)}))
    refused("generate", copy, because=f"has format {FORMAT + 1}; this Regard reads up to {FORMAT}: update it")


def test_a_run_without_its_first_checkpoint_says_so(copy: Path) -> None:
    (copy / WEIGHTS).unlink()
    refused("evaluate", copy, because="its training did not reach a checkpoint")


def test_a_damaged_run_is_still_a_run_to_overwrite(copy: Path, place: Place) -> None:
    emptied(copy / WEIGHTS)
    done = regard("train", "gpt", "--out", copy, "--set", f"data.train={place.play}", "--set", "train.steps=1")
    assert done.code == 2
    assert "holds a run already; --force overwrites it" in done.err
