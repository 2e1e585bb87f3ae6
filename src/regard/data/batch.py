"""What the trainer hands to an objective: tokens, what should follow each, and where they stand."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch

from regard.place import Place
from regard.shapes import Bool, Int, Tensor

IGNORE = -100  # a target that is not counted


@dataclass(frozen=True)
class Batch:
    """What is read and what should be said: a token to follow each (or IGNORE), or one label for each row.

    `count` says how many targets are not ignored. Rows that are read `whole` before anything is said of them have their
    targets anywhere, and `at` tells what is padding; of others it is all that follows the last target. `label` is one
    more target for each row. Where targets are `few`, `chosen` are their places, all rows one after another.
    """

    tokens: Int[Tensor, "b t"]
    targets: Int[Tensor, "b t"] | Int[Tensor, "b"]
    count: int
    at: Place | None = None
    source: Int[Tensor, "b s"] | None = None
    source_present: Bool[Tensor, "b s"] | None = None
    label: Int[Tensor, "b"] | None = None
    whole: bool = False
    few: bool = False
    chosen: Int[Tensor, "n"] | None = None

    def __len__(self) -> int:
        return self.tokens.shape[0]

    @property
    def lengths(self) -> list[int]:
        """Of the rows, without the padding to their right: up to the last target, or as their places say."""
        rows, width = self.tokens.shape
        if not self.whole:
            steps = torch.arange(1, width + 1, device=self.targets.device)
            return (steps * (self.targets != IGNORE)).amax(1).tolist()
        present = self.at.present if self.at is not None else None
        return [width] * rows if present is None else present.sum(1).tolist()

    def to(self, device: torch.device | str) -> "Batch":
        """On a device. Few targets are looked up before: who asks a device where they are waits for it."""
        found = replace(self, chosen=self.places_of_targets()) if self.few else self
        return found._map(lambda x: x.to(device, non_blocking=True))

    def places_of_targets(self) -> Int[Tensor, "n"]:
        """Of those that are not ignored, all rows one after another."""
        return (self.targets != IGNORE).flatten().nonzero()[:, 0] if self.chosen is None else self.chosen

    def split(self, pieces: int) -> list["Batch"]:
        """At most `pieces` batches with about the same number of rows; together they are this one."""
        size = -(-len(self) // pieces)
        parts = [self._rows(i, i + size) for i in range(0, len(self), size)]
        return [replace(part, count=int((part.targets != IGNORE).sum())) for part in parts]

    def columns(self, begin: int, end: int) -> "Batch":
        """The tokens from one place to another, of every row."""
        targets = self.targets[:, begin:end]
        return Batch(self.tokens[:, begin:end], targets, int((targets != IGNORE).sum()))

    def places(self) -> Place:
        """Where its tokens stand, and which are padding: all that follows the last counted target of a row."""
        present = (self.targets != IGNORE).flip(1).cummax(1).values.flip(1)
        return replace(self.at or Place.line(self.tokens), present=present)

    def row(self, i: int) -> "Batch":
        """One row, without the padding to its right."""
        one = self._rows(i, i + 1)
        length = one.lengths[0]
        source = one.source
        if source is not None and one.source_present is not None:
            source = source[:, : int(one.source_present.sum())]
        at = replace(one.at.map(lambda x: x[:, :length]), present=None) if one.at is not None else None
        targets = one.targets if one.targets.ndim == 1 else one.targets[:, :length]
        cut = replace(one, tokens=one.tokens[:, :length], targets=targets, count=int((targets != IGNORE).sum()))
        return replace(cut, at=at, source=source, source_present=None)

    def _rows(self, begin: int, end: int) -> "Batch":
        return replace(self, chosen=None)._map(lambda x: x[begin:end])

    def _map(self, change) -> "Batch":
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        changed: dict[str, Any] = {
            name: value.map(change) if isinstance(value, Place) else change(value)
            for name, value in values.items()
            if isinstance(value, Tensor | Place)
        }
        return replace(self, **changed)


def pad(rows: list[np.ndarray], filler: int) -> Tensor:
    """Rows side by side, filled up on the right."""
    table = np.full((len(rows), max(map(len, rows))), filler, np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
    return torch.from_numpy(table)


def presence(rows: list[np.ndarray]) -> Tensor | None:
    """True where a row goes on; None when all are equally long."""
    lengths = torch.tensor([len(row) for row in rows])
    if bool((lengths == lengths[0]).all()):
        return None
    return torch.arange(int(lengths.max())) < lengths[:, None]
