"""`copy` and `reverse`: letters, and the same again or backwards. Any system that looks back can learn them."""

import random
from collections.abc import Iterator

from regard.data.corpora.corpus import Corpus
from regard.data.sources import Record

SIZES = {"train": 6000, "valid": 200, "test": 400}
LETTERS = "abcdefghijklmnop"
LENGTHS = (2, 1000)  # letters


def sequences(split: str, least: int, most: int) -> Iterator[str]:
    """Different sequences in each split: a sequence's first two letters say where it belongs."""
    chance = random.Random(f"sequences {split}")
    made = 0
    while made < SIZES[split]:
        letters = chance.choices(LETTERS, k=chance.randint(least, most))
        residue = (LETTERS.index(letters[0]) * len(LETTERS) + LETTERS.index(letters[1])) % 10
        if split == {0: "valid", 1: "test"}.get(residue, "train"):
            made += 1
            yield " ".join(letters)


def copies(split: str, least: int = 4, most: int = 12) -> Iterator[Record]:
    return ((line, line) for line in sequences(split, least, most))


def reversals(split: str, least: int = 4, most: int = 12) -> Iterator[Record]:
    return ((line, line[::-1]) for line in sequences(split, least, most))


COPY = Corpus("copy", ("source", "target"), copies, lengths=LENGTHS)
REVERSE = Corpus("reverse", ("source", "target"), reversals, lengths=LENGTHS)
