"""Texts laid out in rows that are read whole (S8): `<s> text </s>`, or of two texts `<s> first </s> second </s>`."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from regard.data.batch import pad, presence
from regard.place import Place
from regard.shapes import Int, Tensor
from regard.text import Tokenizer

Texts = Sequence[Sequence[int] | np.ndarray]  # one text or several that share a row


def between(texts: Texts, start: int, end: int) -> np.ndarray:
    """The texts of one row: `start` before them, `end` after each."""
    return np.concatenate([[start], *(np.append(text, end) for text in texts)]).astype(np.int64)


def room(texts: int) -> int:
    """How many symbols stand between and around so many texts."""
    return texts + 1


def segments(texts: Texts) -> np.ndarray:
    """Of which text each token of a row is; the start symbol is of the first."""
    counts = [len(text) + 1 for text in texts]
    return np.repeat(np.arange(len(texts)), [counts[0] + 1, *counts[1:]])


def laid_out(rows: Sequence[Texts], tokenizer: Tokenizer) -> tuple[Int[Tensor, "b t"], Place]:
    """Rows side by side, and where their tokens stand; texts that share a row are told apart."""
    lines = [between(texts, tokenizer.start, tokenizer.end) for texts in rows]
    tokens = pad(lines, tokenizer.pad)
    place = Place.line(tokens, presence(lines))
    if len(rows[0]) == 1:
        return tokens, place
    return tokens, replace(place, segment=pad([segments(texts) for texts in rows], 0))


def shortened(texts: Sequence[list[int]], most: int) -> list[list[int]]:
    """At most so many tokens in all: long texts lose their last ones, a short one stays whole where it can."""
    kept, left = list(texts), most
    for done, i in enumerate(sorted(range(len(texts)), key=lambda i: len(texts[i]))):
        kept[i] = texts[i][: left // (len(texts) - done)]
        left -= len(kept[i])
    return kept
