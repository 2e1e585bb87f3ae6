"""`recall`: pairs of a key and its value, then one of the keys; the answer is its value (associative recall).

    ba 3 ke 7 mo 1 ? ke     7

A value belongs to the key before it, so order counts; keys do not stand twice in a row, and every row pairs them anew,
so nothing can be learnt by heart. The pair that is asked for stands anywhere. A row's length is its number of pairs.
"""

import random
from collections.abc import Iterator

from regard.data.corpora.corpus import Corpus, drawn_length, drawn_records
from regard.data.sources import Record

SIZES = {"train": 20_000, "valid": 300, "test": 600}
KEYS = tuple(f"{first}{second}" for first in "bdfgklmnprstvz" for second in "aeiou")
VALUES = tuple("0123456789")
ASKED = "?"


def rows(split: str, least: int = 2, most: int = 8) -> Iterator[Record]:
    """Rows of `least` to `most` pairs; a row's text decides its split."""
    chance = random.Random(f"recall {split}")
    return drawn_records(split, SIZES[split], lambda: row(chance, drawn_length(chance, least, most)))


def row(chance: random.Random, pairs: int) -> Record:
    keys = chance.sample(KEYS, pairs)
    values = dict(zip(keys, chance.choices(VALUES, k=pairs), strict=True))
    asked = chance.choice(keys)
    return " ".join((*(f"{key} {value}" for key, value in values.items()), ASKED, asked)), values[asked]


RECALL = Corpus("recall", ("source", "target"), rows, answers=True, lengths=(1, len(KEYS)))
