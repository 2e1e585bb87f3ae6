"""Several models as one: their probabilities are averaged. A system like any other, so nothing else knows of it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import nn

from regard.attention.cache import Cache
from regard.blocks.memory import Memory
from regard.place import Place
from regard.shapes import Int, Tensor
from regard.systems import System


@dataclass(frozen=True)
class Memories:
    """What each member made of the source."""

    each: list[Memory]

    def reorder(self, rows: Int[Tensor, "n"]) -> "Memories":
        return Memories([memory.reorder(rows) for memory in self.each])


@dataclass(frozen=True)
class Caches:
    """What each member remembers; they stand at the same place of the text."""

    each: list[Cache]

    @property
    def used(self) -> int:
        return self.each[0].used

    def places(self, tokens: Int[Tensor, "b t"], present: Tensor | None = None) -> Place:
        return self.each[0].places(tokens, present)

    def reorder(self, rows: Int[Tensor, "n"]) -> None:
        for cache in self.each:
            cache.reorder(rows)

    def trim(self, length: int) -> None:
        for cache in self.each:
            cache.trim(length)


class Ensemble(System):
    """Members with one vocabulary. Hidden vectors stand side by side, logits are the log of the mean probability."""

    def __init__(self, members: Sequence[System]):
        super().__init__()
        self.members = nn.ModuleList(members)
        self.reads_source, self.writes_text = members[0].reads_source, members[0].writes_text
        self.labels = members[0].labels
        self._answers = members[0].answers
        self.context = min(member.context for member in members)
        self.packs = all(member.packs for member in members)
        self.vocabulary = members[0].vocabulary
        self.width = sum(member.width for member in members)

    @property
    def limit(self) -> int | None:
        return min((member.limit for member in self.systems if member.limit is not None), default=None)

    @property
    def systems(self) -> list[System]:
        return list(cast("Iterable[System]", self.members))  # torch types what a ModuleList holds as Module

    def encode(self, source, present=None):
        return Memories([member.encode(source, present) for member in self.systems])

    def hidden(self, tokens, memory=None, cache=None, at=None):
        if at is None:
            at = cache.places(tokens) if cache is not None else Place.line(tokens)
        memories = memory.each if memory is not None else [None] * len(self.systems)
        caches = cache.each if cache is not None else [None] * len(self.systems)
        parts = [m.hidden(tokens, mem, c, at) for m, mem, c in zip(self.systems, memories, caches, strict=True)]
        return torch.cat(parts, dim=-1)

    def logits(self, vectors):
        parts = vectors.split([member.width for member in self.systems], dim=-1)
        return averaged([m.logits(part) for m, part in zip(self.systems, parts, strict=True)])

    @property
    def answers(self) -> str:
        return self._answers

    def answer(self, tokens, at=None):
        return averaged([member.answer(tokens, at) for member in self.systems])

    def start(self, rows, capacity):
        return Caches([member.start(rows, capacity) for member in self.systems])


def averaged(logits: Sequence[Tensor]) -> Tensor:
    """The log of the mean probability."""
    return torch.stack([each.float().log_softmax(-1) for each in logits]).logsumexp(0) - math.log(len(logits))


def together(models: Sequence[System]) -> System:
    """One model as it is, several as an ensemble."""
    return models[0] if len(models) == 1 else Ensemble(models).eval()
