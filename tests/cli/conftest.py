"""Texts of a user, and runs trained on them once by the very commands that are tested."""

import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.shell import fine, quoted, settings
from tests.helpers import lines_file

WORDS = {
    "the": "die",
    "small": "kleine",
    "big": "große",
    "old": "alte",
    "cat": "Katze",
    "dog": "Hündin",
    "house": "Häuser",
    "sees": "sieht",
    "likes": "mag",
}
LEARNING = ("train.steps=300", "train.batch_tokens=400", "train.warmup=30", "train.rate=0.01", "objective.smoothing=0")


def sentence(chance: random.Random) -> str:
    def thing() -> str:
        return f"the {chance.choice(['small', 'big', 'old'])} {chance.choice(['cat', 'dog', 'house'])}"

    return f"{thing()} {chance.choice(['sees', 'likes'])} {thing()}"


def pairs(folder: Path, name: str, count: int, *, seed: int = 0) -> tuple[str, str]:
    """Files name.en and name.de of parallel lines, translated word by word."""
    chance = random.Random(f"{name} {seed}")
    english = [sentence(chance) for _ in range(count)]
    german = [" ".join(WORDS[word] for word in line.split()) for line in english]
    return lines_file(folder / f"{name}.en", english), lines_file(folder / f"{name}.de", german)


@dataclass(frozen=True)
class Place:
    """A user's folder: `a`, `v` and `b` are parallel files, `play.txt` is text."""

    folder: Path
    translator: Path
    model: Path

    def pair(self, name: str) -> tuple[Path, Path]:
        return self.folder / f"{name}.en", self.folder / f"{name}.de"

    @property
    def play(self) -> Path:
        return self.folder / "play.txt"


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("user")
    for name, count in (("a", 300), ("v", 20), ("b", 12)):
        pairs(folder, name, count)
    chance = random.Random(5)
    words = ["love", "is", "a", "rose", "thou", "art", "naïve"]
    play = [f"{chance.choice(['ROMEO', 'JULIET'])}: {' '.join(chance.choices(words, k=6))}" for _ in range(200)]
    lines_file(folder / "play.txt", play)
    made = Place(folder, folder / "translator", folder / "model")
    data = settings(f"data.train={quoted(*made.pair('a'))}", f"data.valid={quoted(*made.pair('v'))}", *LEARNING)
    fine("train", "transformer-tiny", "--out", made.translator, "--quiet", *data)
    data = settings(f"data.train={made.play}", "train.steps=150", "train.batch_tokens=400", "train.rate=0.01")
    fine("train", "gpt", "--out", made.model, "--quiet", *data)
    return made


@pytest.fixture(scope="session")
def second(place: Place) -> Place:
    """The same again from another seed: the same tokenizers, other weights."""
    again = Place(place.folder, place.folder / "translator-2", place.folder / "model-2")
    data = (f"data.train={quoted(*place.pair('a'))}", f"data.valid={quoted(*place.pair('v'))}")
    fine(
        "train", "transformer-tiny", "--out", again.translator, "--quiet", *settings(*data, "train.steps=20", "seed=1")
    )
    data = settings(f"data.train={place.play}", "train.steps=20", "train.batch_tokens=400", "seed=1")
    fine("train", "gpt", "--out", again.model, "--quiet", *data)
    return again


@pytest.fixture
def here(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The user's folder as working directory."""
    monkeypatch.chdir(place.folder)
    return place
