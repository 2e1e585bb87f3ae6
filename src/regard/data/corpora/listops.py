"""`listops`: lists within lists, and what they come to (Nangia and Bowman, 2018; Tay et al., 2021).

    [MAX 4 [MIN 2 7 ] 3 [SM 8 9 5 ] ]     4

MAX and MIN are the largest and the smallest of a list, MED the median, rounded down, SM the sum modulo 10:
so every list comes to a digit. A text's length is its number of words: brackets and digits.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from regard.data.corpora.corpus import Corpus, drawn_length, drawn_records
from regard.data.sources import Record

SIZES = {"train": 20_000, "valid": 300, "test": 600}
OPERATORS: dict[str, Callable[[Sequence[int]], int]] = {
    "[MAX": max,
    "[MIN": min,
    "[MED": lambda values: int(median(values)),
    "[SM": lambda values: sum(values) % 10,
}
DEPTH = 4  # lists within lists
FEWEST, MOST = 2, 10  # entries of a list
LEAST = FEWEST + 2  # words of a list


def longest(depth: int) -> int:
    """The most words that so many lists within lists can have."""
    return 1 if not depth else MOST * longest(depth - 1) + 2


def expressions(split: str, least: int = LEAST, most: int = 24) -> Iterator[Record]:
    """Texts of `least` to `most` words; a text decides its split."""
    chance = random.Random(f"listops {split}")

    def expression() -> Record:
        words, value = drawn(chance, drawn_length(chance, least, most), DEPTH)
        return " ".join(words), str(value)

    return drawn_records(split, SIZES[split], expression)


def drawn(chance: random.Random, length: int, depth: int) -> tuple[list[str], int]:
    """An expression of `length` words and its value; a single word is a digit."""
    if length == 1:
        digit = chance.randrange(10)
        return [str(digit)], digit
    entries = [drawn(chance, size, depth - 1) for size in parts(chance, length - 2, depth)]
    name = chance.choice(tuple(OPERATORS))
    inner = [word for words, _ in entries for word in words]
    return [name, *inner, "]"], OPERATORS[name]([value for _, value in entries])


def parts(chance: random.Random, room: int, depth: int) -> list[int]:
    """How many words each entry of a list has, in a list with `room` words for them.

    What is left when every entry has one word makes some of them lists.
    """
    longer, most = LEAST - 1, longest(depth - 1) - 1  # that an entry gets to be a list
    counts = [n for n in range(FEWEST, min(MOST, room) + 1) if room == n or longer <= room - n <= n * most]
    sizes = [1] * chance.choice(counts)
    left = room - len(sizes)
    lists = chance.randint(-(-left // most), min(len(sizes), left // longer)) if left else 0
    for i in range(lists):
        others = lists - i - 1
        taken = chance.randint(max(longer, left - others * most), min(most, left - others * longer))
        sizes[i] += taken
        left -= taken
    chance.shuffle(sizes)
    return sizes


LISTOPS = Corpus("listops", ("source", "target"), expressions, answers=True, lengths=(LEAST, longest(DEPTH)))
