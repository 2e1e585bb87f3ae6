"""What a training tells while it runs: its own speed, and how far a validation is."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from regard.checkpoint import LOG, REPORT
from regard.train import train
from regard.train import watch as module
from regard.train.loop import Trainer
from tests.train.runs import MAKERS, language_model, listen, progress, translator

PAUSE = 0.7  # seconds that a validation takes here
OFTEN = {"steps": 4, "evaluate_every": 1, "log_every": 2}


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Validations that take long."""
    real = Trainer.evaluate

    def evaluate(trainer: Trainer, *args: Any) -> float:
        time.sleep(PAUSE)
        return real(trainer, *args)

    monkeypatch.setattr(Trainer, "evaluate", evaluate)


def test_speed_is_that_of_training_alone(tmp_path: Path, slow: None) -> None:
    folder = train(translator(tmp_path, **OFTEN), tmp_path / "run", quiet=True)
    events = [json.loads(line) for line in (folder / LOG).read_text().splitlines()]
    first, second = (event for event in events if event["event"] == "step")
    assert (second["tokens"] - first["tokens"]) / second["tokens_per_second"] < PAUSE
    assert second["seconds"] - first["seconds"] > 2 * PAUSE, "the time that goes by is the time of all"
    told = json.loads((folder / REPORT).read_text())["measured"]
    assert 4 * PAUSE < told["validation_seconds"] == progress(folder)["validating"] < told["seconds"]
    training = told["seconds"] - told["validation_seconds"]
    assert told["tokens_per_second"] == pytest.approx(told["tokens"] / training)
    assert told["flops_per_second"] == pytest.approx(told["flops"] / training)


@pytest.mark.parametrize("maker", MAKERS)
def test_how_far_a_validation_is_is_told_but_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, maker: str
) -> None:
    monkeypatch.setattr("regard.train.loop.OFTEN", -1.0)
    heard: list[dict[str, Any]] = []
    listen(monkeypatch, heard.append)
    folder = train(MAKERS[maker](tmp_path, **OFTEN, batch_tokens=16), tmp_path / "run", quiet=True)
    parts = [event["part"] for event in heard if event["event"] == "validating" and event["step"] == 1]
    assert len(parts) > 1 and parts == pytest.approx([i / len(parts) for i in range(len(parts))])
    kinds = {json.loads(line)["event"] for line in (folder / LOG).read_text().splitlines()}
    assert kinds == {"step", "valid", "end"}


def test_lines_say_how_far_a_validation_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("regard.train.loop.OFTEN", -1.0)
    real = module.plain
    monkeypatch.setattr(module, "plain", lambda: real(every=0.0))
    train(language_model(tmp_path, **OFTEN, batch_tokens=46), tmp_path / "run")
    told = capsys.readouterr().err
    assert re.search(r"^ 25%  step 1  validating, \d+% done$", told, re.MULTILINE)
    assert re.search(r"^step 1  validation loss", told, re.MULTILINE)
