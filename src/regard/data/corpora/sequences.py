"""`copy` and `reverse`: letters, and the same again or backwards. Any system that looks back can learn them."""

import random
from collections.abc import Iterator

from regard.data.corpora.corpus import Corpus, drawn_records
from regard.data.sources import Record

SIZES = {"train": 6000, "valid": 200, "test": 400}
LETTERS = "abcdefghijklmnop"
LENGTHS = (2, 1000)  # letters


def copies(split: str, least: int = 4, most: int = 12) -> Iterator[Record]:
    chance = random.Random(f"sequences {split}")

    def copy() -> Record:
        line = " ".join(chance.choices(LETTERS, k=chance.randint(least, most)))
        return line, line

    return drawn_records(split, SIZES[split], copy, home)


def reversals(split: str, least: int = 4, most: int = 12) -> Iterator[Record]:
    return ((line, line[::-1]) for line, _ in copies(split, least, most))


def home(line: str) -> str:
    """Different sequences in each split: a sequence's first two letters say where it belongs."""
    first, second = map(LETTERS.index, line.split()[:2])
    return {0: "valid", 1: "test"}.get((first * len(LETTERS) + second) % 10, "train")


COPY = Corpus("copy", ("source", "target"), copies, lengths=LENGTHS)
REVERSE = Corpus("reverse", ("source", "target"), reversals, lengths=LENGTHS)
