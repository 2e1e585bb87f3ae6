"""Resumed = uninterrupted, to the last bit, whatever broke the training off."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from regard import checkpoint
from regard.checkpoint import LOG, STATE, WEIGHTS, load, read_tokenizer
from regard.errors import Interrupted, WorldError
from regard.recipe import Recipe
from regard.text import Text, Tokenizer
from regard.train import resume, train
from tests.helpers import refused
from tests.train import killed
from tests.train.runs import MAKERS, identical, language_model, listen, log, progress, translator, weights

OFTEN = {"steps": 31, "save_every": 7, "evaluate_every": 5}
LIVELY = {"dropout": 0.1}


def kill(recipe: Recipe, out: Path, moment: str) -> None:
    """Train in another process until it is killed there."""
    settings = out.with_suffix(".json")
    settings.write_text(json.dumps(recipe.to_dict()))
    done = subprocess.run(
        [sys.executable, killed.__file__, str(settings), str(out), moment], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


KILLED = {
    "between two checkpoints": (language_model, {"accumulate": 2}, "step:17", 14),
    "while a checkpoint is written": (translator, {"average": "ema"}, "sync:7", 7),
}


@pytest.mark.parametrize("moment", KILLED)
def test_a_killed_run_goes_on_to_the_last_bit(tmp_path: Path, moment: str) -> None:
    make, settings, when, kept = KILLED[moment]
    recipe = make(tmp_path, system=LIVELY, **OFTEN, **settings)
    kill(recipe, tmp_path / "killed", when)
    assert progress(tmp_path / "killed")["step"] == kept
    resume(tmp_path / "killed", quiet=True)
    train(recipe, tmp_path / "whole", quiet=True)
    identical(tmp_path / "killed", tmp_path / "whole")


def test_a_run_that_broke_off_before_its_first_checkpoint_starts_at_step_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Lost(BaseException):
        """Nothing catches it, as nothing catches a power cut."""

    def lose(event: dict) -> None:
        if event["step"] == 3:
            raise Lost

    recipe = language_model(tmp_path, system=LIVELY, **OFTEN)
    with monkeypatch.context() as patch:
        listen(patch, lose)
        with pytest.raises(Lost):
            train(recipe, tmp_path / "lost", quiet=True)
    assert not (tmp_path / "lost" / STATE).exists()
    with refused("has no model.safetensors yet: its training did not reach a checkpoint"):
        load(tmp_path / "lost")
    resume(tmp_path / "lost", quiet=True)
    train(recipe, tmp_path / "whole", quiet=True)
    identical(tmp_path / "lost", tmp_path / "whole")


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("average", ["none", "ema", "last"])
@pytest.mark.parametrize(
    ("number", "event", "step"), [(signal.SIGINT, "step", 10), (signal.SIGTERM, "valid", 15)], ids=["SIGINT", "SIGTERM"]
)
def test_an_interrupted_run_leaves_a_checkpoint_and_goes_on_to_the_last_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, maker: str, average: str, number: int, event: str, step: int
) -> None:
    """The signal may come at any moment, validation included; its checkpoint is none of the averaged ones."""
    recipe = MAKERS[maker](tmp_path, system=LIVELY, **OFTEN, average=average, average_last=3)
    with monkeypatch.context() as patch:
        listen(patch, lambda e: os.kill(os.getpid(), number) if (e["event"], e["step"]) == (event, step) else None)
        with refused(f"stopped at step {step}; the checkpoint is written", Interrupted):
            train(recipe, tmp_path / "stopped", quiet=True)
    assert progress(tmp_path / "stopped")["step"] == step
    load(tmp_path / "stopped")
    resume(tmp_path / "stopped", quiet=True)
    train(recipe, tmp_path / "whole", quiet=True)
    identical(tmp_path / "stopped", tmp_path / "whole")


def test_after_an_interruption_signals_mean_what_they_meant(tmp_path: Path) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    train(language_model(tmp_path), tmp_path / "run", quiet=True)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_finished_run_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = train(language_model(tmp_path), tmp_path / "run", quiet=True)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    capsys.readouterr()
    resume(folder)
    assert f"{folder} is finished: 6 steps" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_a_half_written_line_of_the_log_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = language_model(tmp_path, **OFTEN)
    with monkeypatch.context() as patch:
        listen(patch, lambda event: os.kill(os.getpid(), signal.SIGINT) if event["step"] == 9 else None)
        with pytest.raises(Interrupted):
            train(recipe, tmp_path / "run", quiet=True)
    with (tmp_path / "run" / LOG).open("a") as file:
        file.write('{"event": "step", "st')
    resume(tmp_path / "run", quiet=True)
    assert [step for step, _ in log(tmp_path / "run")] == list(range(1, 32))


def full_disk(patch: pytest.MonkeyPatch, name: str, from_call: int) -> None:
    """From the given call on, writing the named file finds no room."""
    real, calls = checkpoint.write, []

    def write(path: Path, content: bytes) -> None:
        calls.append(path.name)
        if path.name == name and calls.count(name) >= from_call:
            patch.setattr(os, "fsync", no_room)
        real(path, content)

    def no_room(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    patch.setattr(checkpoint, "write", write)


@pytest.mark.parametrize("file", [WEIGHTS, STATE])
@pytest.mark.parametrize("checkpoint_number", [2, 5], ids=["in the middle", "at the end"])
def test_a_full_disk_leaves_the_last_good_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, checkpoint_number: int
) -> None:
    recipe, folder = translator(tmp_path, **OFTEN), tmp_path / "run"
    with monkeypatch.context() as patch:
        full_disk(patch, Path(file).name, checkpoint_number)
        with refused("No space left on device; what was there before is untouched", WorldError):
            train(recipe, folder, quiet=True)
    assert progress(folder)["step"] == 7 * (checkpoint_number - 1)
    assert not list(folder.rglob("*.part"))
    load(folder)
    resume(folder, quiet=True)
    train(recipe, tmp_path / "whole", quiet=True)
    identical(folder, tmp_path / "whole")


def test_a_full_disk_under_the_log_is_a_failure_of_the_world(tmp_path: Path) -> None:
    with checkpoint.appended(Path("/dev/full")) as emit, refused("cannot write /dev/full: No space", WorldError):
        emit({"step": 1})


def test_a_state_of_another_tokenizer_is_refused(tmp_path: Path) -> None:
    folder = train(language_model(tmp_path), tmp_path / "run", quiet=True)
    other = Tokenizer.train(["ghijkl "], Text(kind="char"))
    assert len(other) == len(read_tokenizer(folder))
    (folder / "tokenizer.json").write_text(other.to_json())
    with refused("tokenizer.json is not the tokenizer"):
        resume(folder, quiet=True)


def test_what_is_no_run_cannot_be_resumed(tmp_path: Path) -> None:
    with refused(f"no such run: {tmp_path / 'none'}"):
        resume(tmp_path / "none")
    with refused(f"{tmp_path} is no run: config.json is missing"):
        resume(tmp_path)


def test_a_run_without_its_tokens_cannot_be_resumed(tmp_path: Path) -> None:
    folder = train(language_model(tmp_path), tmp_path / "run", quiet=True)
    (folder / "tokens").rename(folder / "elsewhere")
    with refused(f"{folder} has no training tokens"):
        resume(folder, quiet=True)
    assert weights(folder)
