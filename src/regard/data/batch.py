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
    """`targets[i]` is what should follow `tokens[i]`, or IGNORE. `count` says how many are not ignored."""

    tokens: Int[Tensor, "b t"]
    targets: Int[Tensor, "b t"]
    count: int
    at: Place | None = None
    source: Int[Tensor, "b s"] | None = None
    source_present: Bool[Tensor, "b s"] | None = None

    def __len__(self) -> int:
        return self.tokens.shape[0]

    def to(self, device: torch.device | str) -> "Batch":
        return self._map(lambda x: x.to(device, non_blocking=True))

    def split(self, pieces: int) -> list["Batch"]:
        """At most `pieces` batches with about the same number of rows; together they are this one."""
        size = -(-len(self) // pieces)
        parts = [self._map(lambda x, i=i: x[i : i + size]) for i in range(0, len(self), size)]
        return [replace(part, count=int((part.targets != IGNORE).sum())) for part in parts]

    def columns(self, begin: int, end: int) -> "Batch":
        """The tokens from one place to another, of every row."""
        targets = self.targets[:, begin:end]
        return Batch(self.tokens[:, begin:end], targets, int((targets != IGNORE).sum()))

    def row(self, i: int) -> "Batch":
        """One row, without the padding to its right."""
        one = self._map(lambda x: x[i : i + 1])
        length = int((one.targets[0] != IGNORE).nonzero().max()) + 1
        source = one.source
        if source is not None and one.source_present is not None:
            source = source[:, : int(one.source_present.sum())]
        at = one.at.map(lambda x: x[:, :length]) if one.at is not None else None
        tokens, targets = one.tokens[:, :length], one.targets[:, :length]
        return Batch(tokens, targets, int((targets != IGNORE).sum()), at, source)

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
