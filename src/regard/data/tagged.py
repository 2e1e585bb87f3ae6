"""Words and a tag for each (O4): from records to token files, and from these to batches.

Beside the tokens of a sentence stands for each of them the number of its word's tag, from 1, where the word begins, and
0 elsewhere. A tag that training does not have is 0 too: it is not in the loss.
"""

from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from regard.data.batch import IGNORE, Batch, pad, presence
from regard.data.batching import Bucketed
from regard.data.sources import Source
from regard.data.store import Counts, Store, Writer, digest, fits
from regard.errors import UserError
from regard.place import Place
from regard.text import Tokenizer
from regard.text.words import given_words, spell


def sentences(source: Source) -> Iterator[tuple[list[str], list[str]]]:
    """The words of each record and as many tags."""
    for number, record in enumerate(source, 1):
        words, tags = map(given_words, record)
        if len(words) != len(tags):
            raise UserError(
                f"{source.name}: record {number} has {len(words)} word(s) and {len(tags)} tag(s); "
                "blanks separate them, and each word needs one tag"
            )
        yield words, tags


def write_tagged(
    source: Source,
    tokenizer: Tokenizer,
    folder: Path,
    *,
    columns: tuple[str, str],
    labels: tuple[str, ...],
    context: int,
    too_long: str,
) -> tuple[list[Store], Counts]:
    """A store of tokens and one of the tags' numbers. A sentence has room for a start and an end symbol."""
    counts, most, room = Counts(), context - 2, f"{context - 2}, a start and an end"
    numbers, hashes = {tag: number for number, tag in enumerate(labels, 1)}, array("Q")
    with Writer(folder / columns[0], len(tokenizer)) as text, Writer(folder / columns[1], len(labels) + 1) as marks:
        for words, tags in sentences(source):
            spelt = spell(tokenizer, words)
            counts.records += 1
            counts.unknown += spelt.ids.count(tokenizer.unknown)
            if words:
                hashes.append(digest((" ".join(words),)))
            if fits([spelt.ids], most, counts, f"{source.name}: a sentence", room, too_long=too_long):
                marked = [0] * len(spelt.ids)
                for place, tag in zip(spelt.begins, tags, strict=True):
                    marked[place] = numbers.get(tag, 0)
                text.add(spelt.ids[:most])
                marks.add(marked[:most])
                counts.tokens += len(spelt.ids[:most]) + 2
        counts.hashes = np.asarray(hashes, np.uint64)
        return [text.close(), marks.close()], counts


class Tagged(Bucketed):
    """Sentences, each between a start and an end symbol, with a tag where a word begins."""

    def __init__(self, stores: list[Store], tokenizer: Tokenizer, *, batch_tokens: int, seed: int = 0):
        self.text, self.tags = stores
        self.tokenizer = tokenizer
        super().__init__(self.text.lengths + 2, batch_tokens=batch_tokens, seed=seed)

    def collate(self, rows: np.ndarray) -> Batch:
        texts = [np.r_[self.tokenizer.start, self.text[i], self.tokenizer.end] for i in rows]
        marks = pad([np.r_[0, self.tags[i], 0] for i in rows], 0)
        tokens, targets = pad(texts, self.tokenizer.pad), torch.where(marks > 0, marks - 1, IGNORE)
        return Batch(tokens, targets, int((marks > 0).sum()), Place.line(tokens, presence(texts)), whole=True)
