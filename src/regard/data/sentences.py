"""Sentences of given words with something beside each token, from records to token files (O4, B7)."""

from array import array
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from regard.data.store import Counts, Store, Writer, digest, fits
from regard.text import Tokenizer
from regard.text.words import Spelt, spell

Beside = Callable[[Spelt, Any, int], list[int]]


def write_sentences(
    sentences: Iterable[tuple[list[str], Any]],
    tokenizer: Tokenizer,
    folder: Path,
    *,
    name: str,
    columns: tuple[str, ...],
    context: int,
    too_long: str,
    beside: Beside,
    values: int,
) -> tuple[list[Store], Counts]:
    """A store of tokens and one of what stands `beside` them, numbers below `values`, of the first so many tokens.

    A sentence has room for a start and an end symbol.
    """
    counts, most, room = Counts(), context - 2, f"{context - 2}, a start and an end"
    hashes = array("Q")
    with Writer(folder / columns[0], len(tokenizer)) as text, Writer(folder / columns[1], values) as others:
        for words, given in sentences:
            spelt = spell(tokenizer, words)
            counts.records += 1
            counts.unknown += spelt.ids.count(tokenizer.unknown)
            if words:
                hashes.append(digest((" ".join(words),)))
            if fits([spelt.ids], most, counts, f"{name}: a sentence", room, symbols=2, too_long=too_long):
                text.add(spelt.ids[:most])
                others.add(beside(spelt, given, most))
                counts.tokens += len(spelt.ids[:most]) + 2
        counts.hashes = np.asarray(hashes, np.uint64)
        return [text.close(), others.close()], counts
