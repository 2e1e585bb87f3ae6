"""Trees for tests: drawn at random, walked the slow way, and written as CoNLL-U."""

import random
from pathlib import Path

from tests.helpers import lines_file

WORDS = ("the", "old", "chicken", "crosses", "a", "wide", "road", "slowly")


def drawn(words: int, seed: int) -> list[int]:
    """Heads of a random tree, in any order: each word hangs on one that was hung before."""
    chance = random.Random(f"{words} {seed}")
    order = chance.sample(range(1, words + 1), words)
    heads = [0] * words
    for place, word in enumerate(order[1:], 1):
        heads[word - 1] = chance.choice(order[:place])
    return heads


def path(heads: list[int], word: int) -> list[int]:
    """From a word, counted from 1, to the root, step by step."""
    found = [word]
    while heads[found[-1] - 1]:
        found.append(heads[found[-1] - 1])
    return found


def apart(heads: list[int], i: int, j: int) -> int:
    """Wang et al.: the difference of the depths on one path to the root, else the sum with the sign of i - j."""
    deep, other = len(path(heads, i)) - 1, len(path(heads, j)) - 1
    if i in path(heads, j) or j in path(heads, i):
        return deep - other
    return (deep + other) * (1 if i > j else -1)


def row(number: int, form: str, head: int | str) -> str:
    return "\t".join((str(number), form, form, "X", "_", "_", str(head), "dep", "_", "_"))


def conllu(folder: Path, sentences: list[tuple[list[str], list[int]]], name: str = "a.conllu") -> str:
    """A file of words and the words that they hang on."""
    lines = []
    for words, heads in sentences:
        lines += [row(n, *each) for n, each in enumerate(zip(words, heads, strict=True), 1)] + [""]
    return lines_file(folder / name, lines)


def sentences(count: int, seed: int = 0) -> list[tuple[list[str], list[int]]]:
    chance = random.Random(seed)
    sizes = [chance.randint(2, 11) for _ in range(count)]
    return [(chance.choices(WORDS, k=size), drawn(size, seed + i)) for i, size in enumerate(sizes)]
