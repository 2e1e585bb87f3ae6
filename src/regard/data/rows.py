"""Texts laid out in rows that are read whole (S8): `<s> text </s>`, or of two texts `<s> first </s> second </s>`.

Two are told apart by their segments or, as RoBERTa has it, by an end symbol more: `<s> first </s></s> second </s>`.
What is read and what is written of it stand in rows of their own: `text </s>`, and `<s> text` before `text </s>`.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from regard.data.batch import IGNORE, Batch, pad, presence
from regard.place import Place
from regard.shapes import Int, Tensor
from regard.text import Tokenizer

Texts = Sequence[Sequence[int] | np.ndarray]  # one text or several that share a row


def between(texts: Texts, start: int, end: int, parted: int = 1) -> np.ndarray:
    """The texts of one row: `start` before them, `end` after each, so many times between two."""
    *others, last = texts
    parts = [np.concatenate([text, [end] * parted]) for text in others]
    return np.concatenate([[start], *parts, last, [end]]).astype(np.int64)


def room(texts: int, parted: int = 1) -> int:
    """How many symbols stand between and around so many texts."""
    return 2 + (texts - 1) * parted


def segments(texts: Texts) -> np.ndarray:
    """Of which text each token of a row is, where one end symbol stands between; the start symbol is of the first."""
    counts = [len(text) + 1 for text in texts]
    return np.repeat(np.arange(len(texts)), [counts[0] + 1, *counts[1:]])


def laid_out(rows: Sequence[Texts], tokenizer: Tokenizer) -> tuple[Int[Tensor, "b t"], Place]:
    """Rows side by side, and where their tokens stand; texts that share a row are told apart."""
    parted = tokenizer.habits.parted
    lines = [between(texts, tokenizer.start, tokenizer.end, parted) for texts in rows]
    tokens = pad(lines, tokenizer.pad)
    place = Place.line(tokens, presence(lines))
    if len(rows[0]) == 1 or parted > 1:
        return tokens, place
    return tokens, replace(place, segment=pad([segments(texts) for texts in rows], 0))


def paired(sources: Sequence[np.ndarray], targets: Sequence[np.ndarray], tokenizer: Tokenizer) -> Batch:
    """What is read, and what should be written of it."""
    read, written = (
        [between([text], tokenizer.start, tokenizer.end) for text in texts] for texts in (sources, targets)
    )
    read = [line[1:] for line in read]
    tokens, wanted = pad([line[:-1] for line in written], tokenizer.pad), pad([line[1:] for line in written], IGNORE)
    count = sum(len(line) - 1 for line in written)
    return Batch(tokens, wanted, count, source=pad(read, tokenizer.pad), source_present=presence(read))


def shortened(texts: Sequence[list[int]], most: int) -> list[list[int]]:
    """At most so many tokens in all: long texts lose their last ones, a short one stays whole where it can."""
    kept, left = list(texts), most
    for done, i in enumerate(sorted(range(len(texts)), key=lambda i: len(texts[i]))):
        kept[i] = texts[i][: left // (len(texts) - done)]
        left -= len(kept[i])
    return kept
