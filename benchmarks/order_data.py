"""The files that `before`, `above` and `text` are trained and measured on."""

import random
from collections.abc import Iterator
from pathlib import Path

from order_tables import LETTERS

CHARACTERS = {"train": 1_500_000, "valid": 5_000, "test": 40_000}
SENTENCES = {"train": 20_000, "valid": 300, "test": 300}  # with trees; of the test for each length
ALPHABET = "abcdefgh"


def write_data(folder: Path) -> None:
    """All of them, each under the name that its table gives it."""
    from regard.data.corpora import CORPORA

    folder.mkdir(parents=True, exist_ok=True)
    rows = CORPORA["copy"].of(f"4-{LETTERS[0]}")
    parts = {"train": rows.make("train"), "valid": rows.make("valid")}
    parts |= {str(n): CORPORA["copy"].of(str(n)).make("test") for n in LETTERS}
    for name, records in parts.items():
        pairs = ((text, " ".join(["-", *text.split()[:-1]])) for text, _ in records)
        write_rows(folder / f"before-{name}.tsv", ("words", "tags"), pairs)
    for name in ("train", "valid", *map(str, LETTERS)):
        write_rows(folder / f"above-{name}.tsv", ("words", "heads"), sentences(name))
    for split, count in CHARACTERS.items():
        (folder / f"text-{split}.txt").write_text(beginning(CORPORA["stdlib"].make(split), count), encoding="utf-8")


def write_rows(path: Path, columns: tuple[str, str], rows: Iterator[tuple[str, str]]) -> None:
    lines = ("\t".join(row) + "\n" for row in (columns, *rows))
    path.write_text("".join(lines), encoding="utf-8")


def sentences(name: str) -> Iterator[tuple[str, str]]:
    """Letters and their heads, of as many letters as the name says, or as a training has. Each letter follows in the
    alphabet on the one that it hangs on, wherever that stands."""
    chance = random.Random(f"above {name}")
    for _ in range(SENTENCES.get(name, SENTENCES["test"])):
        heads = tree(chance, int(name) if name.isdecimal() else chance.randint(4, LETTERS[0]))
        first = chance.randrange(len(ALPHABET))
        letters = (ALPHABET[(first + depth(heads, word)) % len(ALPHABET)] for word in range(1, len(heads) + 1))
        yield " ".join(letters), " ".join(map(str, heads))


def tree(chance: random.Random, words: int) -> list[int]:
    """The head of each word, counted from 1: one that was hung before it, in an order by chance."""
    order = chance.sample(range(1, words + 1), words)
    heads = [0] * words
    for place, word in enumerate(order[1:], 1):
        heads[word - 1] = chance.choice(order[:place])
    return heads


def depth(heads: list[int], word: int) -> int:
    """Steps from a word to the root."""
    above = heads[word - 1]
    return 0 if above == 0 else 1 + depth(heads, above)


def beginning(records: Iterator[tuple[str, ...]], count: int) -> str:
    """So many characters of a corpus."""
    pieces: list[str] = []
    while sum(map(len, pieces)) < count and (record := next(records, None)):
        pieces += record
    return "\n".join(pieces)[:count]
