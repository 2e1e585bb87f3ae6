"""Very small runs, trained once: two language models on many short documents and a translator."""

import json
import random
from pathlib import Path

import pytest

from regard.checkpoint import Run, load
from regard.recipe import read
from regard.train import train
from regard.verify import verify

WORDS = ["the", "chicken", "road", "dog", "boy", "crosses", "old", "young", "tired", "wide", "because", "it", "was"]
SYSTEM = ["system.width=24", "system.hidden=37", "system.context=41", "system.dropout=0.1"]
TRAIN = ["train.steps=60", "train.batch_tokens=410", "train.rate=1e-2", "train.warmup=10", "train.device=cpu"]


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the runs; tests read them and change nothing."""
    folder, chance = tmp_path_factory.mktemp("verify"), random.Random(1)
    documents = [" ".join(chance.choices(WORDS, k=chance.randint(3, 9))) for _ in range(300)]
    text = folder / "documents.jsonl"
    text.write_text("".join(json.dumps({"text": document}) + "\n" for document in documents))
    train(read("gpt", [f'data.train="{text}"', "system.depth=2", *SYSTEM, *TRAIN]), folder / "language", quiet=True)
    train(
        read("transformer-tiny", ['data.train="reverse"', "system.depth=1", *SYSTEM, *TRAIN]),
        folder / "translator",
        quiet=True,
    )
    recurrent = ["system.width=24", "system.depth=2", *TRAIN]
    train(read("lstm-lm", [f'data.train="{text}"', *recurrent]), folder / "recurrent", quiet=True)
    return folder


@pytest.fixture
def recurrent(trained: Path) -> Run:
    return load(trained / "recurrent")


@pytest.fixture
def language(trained: Path) -> Run:
    return load(trained / "language")


@pytest.fixture
def translator(trained: Path) -> Run:
    return load(trained / "translator")


@pytest.fixture(params=["language", "translator"])
def run(trained: Path, request: pytest.FixtureRequest) -> Run:
    """Either of them."""
    return load(trained / request.param)


def failing(run: Run) -> set[str]:
    """The lines that fail, compiling left out because it takes long."""
    return {line.name for line in verify(run, skip=("compiled = eager",)).lines if line.state == "fails"}
