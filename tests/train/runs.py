"""Small real runs: a language model on packed documents and a translator, and what is compared between two of them."""

import json
import random
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.checkpoint import LOG, STATE, WEIGHTS, read_tensors
from regard.recipe import Recipe
from regard.train import run
from tests.helpers import lines_file, recipe


def language_model(folder: Path, *, system: dict[str, Any] | None = None, **train: Any) -> Recipe:
    """Many short documents, packed: a window holds several."""
    chance = random.Random(7)
    lines = ["".join(chance.choices("abcdef ", k=chance.randint(3, 31))) for _ in range(97)]
    data = {"train": lines_file(folder / "text.txt", lines), "document": "line"}
    return recipe("gpt", data=data, system=system or {}, train={"threads": 1, **train})


def translator(folder: Path, *, system: dict[str, Any] | None = None, **train: Any) -> Recipe:
    """Letters to the same letters backwards."""
    chance = random.Random(11)
    lines = ["".join(chance.choices("abcdef", k=chance.randint(2, 13))) for _ in range(97)]
    data = {"train": lines_file(folder / "pairs.tsv", [f"{line}\t{line[::-1]}" for line in lines])}
    return recipe("transformer", data=data, system=system or {}, train={"threads": 1, **train})


def classifier(folder: Path, *, system: dict[str, Any] | None = None, **train: Any) -> Recipe:
    """Whether a text has its a before its b."""
    chance = random.Random(13)
    lines = ["".join(chance.sample("abcdefghij", chance.randint(3, 10))) for _ in range(97)]
    rows = [f"{line}\t{'yes' if line.find('a') < line.find('b') else 'no'}" for line in lines]
    data = {"train": lines_file(folder / "labelled.tsv", rows)}
    return recipe("rnn-encoder", data=data, system=system or {}, train={"threads": 1, **train})


MAKERS: dict[str, Callable[..., Recipe]] = {
    "language model": language_model,
    "translator": translator,
    "classifier": classifier,
}


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return read_tensors(folder / WEIGHTS)[0]


def progress(folder: Path) -> dict[str, Any]:
    return json.loads(read_tensors(folder / STATE)[1]["progress"])


def log(folder: Path, kind: str = "step") -> list[tuple[int, float]]:
    """Step and loss of each event of that kind."""
    events = [json.loads(line) for line in (folder / LOG).read_text().splitlines()]
    return [(event["step"], event["loss"]) for event in events if event["event"] == kind]


def identical(one: Path, other: Path) -> None:
    """To the last bit: the model, the optimiser, the averages, the generators; and every step was logged once."""
    for name in (WEIGHTS, STATE):
        a, b = read_tensors(one / name)[0], read_tensors(other / name)[0]
        assert a.keys() == b.keys()
        different = [key for key in a if not torch.equal(a[key], b[key])]
        assert not different
    untimed = {"seconds": 0, "validating": 0}
    assert progress(one) | untimed == progress(other) | untimed
    for kind in ("step", "valid"):
        assert log(one, kind) == log(other, kind)


def listen(monkeypatch: pytest.MonkeyPatch, hear: Callable[[dict[str, Any]], Any]) -> None:
    """Let every training that starts from now on tell `hear` what happens."""
    real = run.watchers

    @contextmanager
    def watchers(*args: Any, **kwargs: Any):
        with real(*args, **kwargs) as found:
            yield [*found, hear]

    monkeypatch.setattr(run, "watchers", watchers)
