"""Words and a tag for each (O4): from records to token files, and from these to batches.

Beside the tokens of a sentence stands for each of them the number of its word's tag, from 1, where the word begins, and
0 elsewhere. A tag that training does not have is 0 too: it is not in the loss.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.data.batch import IGNORE, Batch, pad, presence
from regard.data.batching import Bucketed
from regard.data.given import tagged
from regard.data.sentences import write_sentences
from regard.data.sources import Source
from regard.data.store import Counts, Store
from regard.place import Place
from regard.text import Tokenizer
from regard.text.words import Spelt


def sentences(source: Source) -> Iterator[tuple[list[str], list[str]]]:
    """The words of each record and as many tags."""
    return (tagged(record, f"{source.name}: record {number}") for number, record in enumerate(source, 1))


def write_tagged(
    source: Source, tokenizer: Tokenizer, folder: Path, *, labels: tuple[str, ...], **how: Any
) -> tuple[list[Store], Counts]:
    """A store of tokens and one of the tags' numbers."""
    numbers = {tag: number for number, tag in enumerate(labels, 1)}

    def marks(spelt: Spelt, tags: list[str], most: int) -> list[int]:
        marked = [0] * len(spelt.ids)
        for place, tag in zip(spelt.begins, tags, strict=True):
            marked[place] = numbers.get(tag, 0)
        return marked[:most]

    given = {"name": source.name, "beside": marks, "values": len(labels) + 1, **how}
    return write_sentences(sentences(source), tokenizer, folder, **given)


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
