"""How commands end when the world interferes: a full disk, Ctrl-C, SIGTERM, a closed pipe."""

import errno
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Place
from tests.cli.shell import PROGRAM, environment, fine, finished, regard, settings, start, untouched, wait_for

STATE = "state/trainer.safetensors"
ENDLESS = ("train.steps=1000000", "train.save_every=20", "train.log_every=5", "train.batch_tokens=200")


def training(place: Place, out: Path, *more: str) -> list[str]:
    return ["train", "gpt", "--out", str(out), *settings(f"data.train={place.play}", *more)]


def logged(run: Path) -> list[int]:
    """The steps in the log so far."""
    lines = (run / "log.jsonl").read_text().splitlines() if (run / "log.jsonl").exists() else []
    return [json.loads(line)["step"] for line in lines[:-1]]  # the last may be half written


def no_room(*args: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_one_line_and_the_last_good_checkpoint_stays(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, real = tmp_path / "run", os.fsync
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: no_room() if (run / STATE).exists() else real(handle))
        done = regard(*training(place, run, "train.steps=12", "train.save_every=4"), "--quiet")
    assert (done.code, len(done.err.splitlines())) == (1, 1)
    assert done.err.startswith(f"regard: cannot write {run}/model.safetensors: No space left on device")
    assert not list(run.rglob("*.part"))
    fine("generate", run, "--prompt", "R", "--max-tokens", "2")
    assert fine("resume", run, "--quiet", "--json").json["steps"] == 12


def test_a_disk_that_is_full_from_the_start_leaves_no_half_run(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", no_room)
    done = regard(*training(place, tmp_path / "run"), "--quiet")
    assert (done.code, len(done.err.splitlines())) == (1, 1)
    assert not (tmp_path / "run").exists()


def test_results_that_cannot_be_written_are_no_success() -> None:
    with Path("/dev/full").open("w") as full:
        done = finished(start("lectures", "--json", stdout=full))
    assert done.code == 1
    assert done.err == "regard: the system: No space left on device\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_an_interrupted_training_leaves_a_checkpoint_and_goes_on(place: Place, tmp_path: Path, number: int) -> None:
    run = tmp_path / "run"
    child = start(*training(place, run, *ENDLESS))
    wait_for(lambda: len(logged(run)) > 3, child)
    child.send_signal(number)
    done = finished(child)
    assert done.code == 130
    assert done.out == ""
    assert done.err.splitlines()[-1].startswith("regard: stopped at step ")
    assert done.err.splitlines()[-1].endswith("; the checkpoint is written")
    end = int(done.err.split("stopped at step ")[1].split(";")[0]) + 7
    shorten(run, end)
    assert fine("resume", run, "--quiet", "--json").json["steps"] == end


def shorten(run: Path, steps: int) -> None:
    """Let the training end after so many steps."""
    config = json.loads((run / "config.json").read_text())
    config["train"]["steps"] = steps
    (run / "config.json").write_text(json.dumps(config))


def test_interrupted_while_it_reads_its_data_a_training_leaves_nothing(tmp_path: Path) -> None:
    """So many lines take longer to read than the signal takes to come."""
    text = tmp_path / "long.txt"
    text.write_text("love is a rose\n" * 200_000)
    child = start("train", "gpt", "--out", tmp_path / "run", "--set", f"data.train={text}")
    wait_for((tmp_path / ".run.part/tokens").exists, child)
    child.send_signal(signal.SIGINT)
    done = finished(child)
    assert done.code == 130
    assert done.err.splitlines()[-1] == "regard: interrupted"
    assert [path.name for path in tmp_path.iterdir()] == ["long.txt"]


def test_an_answer_that_is_told_to_end_is_one_line(place: Place) -> None:
    child = start("generate", place.model, "--prompt", "R", "--stream", "--max-tokens", "100000", "--temperature", "0")
    assert child.stdout is not None
    os.read(child.stdout.fileno(), 1)
    child.send_signal(signal.SIGTERM)
    done = finished(child)
    assert (done.code, done.err) == (130, "regard: interrupted\n")


def test_a_closed_pipe_ends_quietly(place: Place) -> None:
    """As in `regard generate RUN | head -c 5`, where the reader goes first."""
    child = start("generate", place.model, "--prompt", "R", "--stream", "--max-tokens", "3000", "--temperature", "0")
    assert child.stdout is not None and child.stderr is not None
    os.read(child.stdout.fileno(), 5)
    child.stdout.close()
    told = child.stderr.read()
    child.stderr.close()
    assert (child.wait(60), told) == (0, "")


@pytest.mark.parametrize("words", ["--help", "lectures"])
def test_a_closed_pipe_ends_a_list_quietly(words: str) -> None:
    done = subprocess.run(
        ["bash", "-c", f'"$@" {words} 2>err | true; echo "${{PIPESTATUS[0]}}"; cat err; rm err', "-", *PROGRAM],
        capture_output=True,
        text=True,
        env=environment(),
        cwd=os.environ.get("TMPDIR", "/tmp"),
    )
    assert done.stdout == "0\n"


def test_what_was_there_survives_a_training_that_is_refused(place: Place) -> None:
    with untouched(place.model):
        command = training(place, place.model, "train.device=tpu")
        assert regard(*command, "--force").code == 2


def test_texts_are_utf_8_whatever_the_locale_says(place: Place) -> None:
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [*PROGRAM, "translate", str(place.translator)],
        input=b"the old cat sees the big dog\n",
        capture_output=True,
        env=environment(**locale),
    )
    assert done.stdout.decode() == "die alte Katze sieht die große Hündin\n"


def test_a_translator_may_stand_in_a_pipe(place: Place, tmp_path: Path) -> None:
    """Lines through a pipe, results to a file: as many as came in, and nothing else."""
    english, _ = place.pair("b")
    with english.open() as lines, (tmp_path / "out.de").open("w") as out:
        done = finished(start("translate", place.translator, stdin=lines, stdout=out))
    assert (done.code, done.err) == (0, "")
    assert len((tmp_path / "out.de").read_text().splitlines()) == 12
    scores = fine("evaluate", place.translator, "--data", english, tmp_path / "out.de", "--json").json
    assert scores["exact_match"] == 1
