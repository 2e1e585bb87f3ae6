"""`distant`: a digit, then letters that mean nothing; the answer is the digit, however far back it stands.

    7 k a f a m     7

Nothing but the digit must be kept, so that a row asks how far back a model can look and not how much it can hold. A
row's length is its number of letters.
"""

import random
from collections.abc import Iterator

from regard.data.corpora.corpus import Corpus, drawn_length, drawn_records
from regard.data.sources import Record

SIZES = {"train": 6_000, "valid": 200, "test": 400}
DIGITS, LETTERS = "0123456789", "abcdefghijklmnop"
LENGTHS = (1, 10_000)


def rows(split: str, least: int = 1, most: int = 32) -> Iterator[Record]:
    """Rows of `least` to `most` letters; a row's text decides its split."""
    chance = random.Random(f"distant {split}")

    def row() -> Record:
        digit = chance.choice(DIGITS)
        return " ".join((digit, *chance.choices(LETTERS, k=drawn_length(chance, least, most)))), digit

    return drawn_records(split, SIZES[split], row)


DISTANT = Corpus("distant", ("source", "target"), rows, answers=True, lengths=LENGTHS)
