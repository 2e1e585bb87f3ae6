"""Does the vector of a word know in which sense it is used (C14)? Its uses in several texts, compared with each other.

A table of vectors has one for "bank", be it a river's or a lender's: every cosine is 1. Where texts tell senses apart
by a label, `scores` says how far vectors do too.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from regard.checkpoint import Run
from regard.errors import UserError
from regard.evaluate.vectors import word_vectors
from regard.shapes import Float, Tensor

ALIKE = 1e-5  # cosines that differ by less are the same


@dataclass(frozen=True)
class Use:
    """A word where it stands in a text, and the sense that the text says it has there, if it does."""

    text: str
    start: int
    end: int
    sense: str = ""

    @property
    def word(self) -> str:
        return self.text[self.start : self.end]


@dataclass(frozen=True, eq=False)
class Compared:
    """The vectors of uses, as one run has them."""

    run: str
    uses: Sequence[Use]
    vectors: Float[Tensor, "n w"]

    @property
    def cosines(self) -> Float[Tensor, "n n"]:
        unit = torch.nn.functional.normalize(self.vectors.double(), dim=-1)
        return unit @ unit.T

    @property
    def scores(self) -> dict[str, Any]:
        """Of the uses whose sense is named; nothing where fewer than two senses are."""
        named = [i for i, use in enumerate(self.uses) if use.sense]
        senses = [self.uses[i].sense for i in named]
        return separation(self.vectors[named], senses) if len(set(senses)) > 1 else {}


def uses_of(word: str, texts: Iterable[tuple[str, str]]) -> list[Use]:
    """Every place where the word stands in (text, sense) pairs, in small letters or large; none is an error."""
    whole, found = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE), []
    for text, sense in texts:
        places = [match.span() for match in whole.finditer(text)]
        if not places or not word:
            raise UserError(f"the text {text!r} has no word '{word}'")
        found += [Use(text, *place, sense) for place in places]
    return found


def compared(run: Run, uses: Sequence[Use], *, layer: int | None = None) -> Compared:
    """The vectors of the uses, each in its own text."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for use in uses:
        spans.setdefault(use.text, []).append((use.start, use.end))
    texts = list(spans)
    read = dict(zip(texts, word_vectors(run, texts, layer=layer, spans=spans.__getitem__), strict=True))
    vectors = [next(word.vector for word in read[use.text] if word.start == use.start) for use in uses]
    for use, vector in zip(uses, vectors, strict=True):
        if vector is None:
            raise UserError(f"{run.path}: no token is left of '{use.word}' in {use.text!r}")
    return Compared(run.path.resolve().name, uses, torch.stack([vector for vector in vectors if vector is not None]))


def separation(vectors: Float[Tensor, "n w"], senses: Sequence[str]) -> dict[str, Any]:
    """How far vectors tell senses apart.

    `within` and `between` are the mean cosines of two uses of one sense and of two senses, `separation` their
    difference. `accuracy` is how often a use is nearest to the mean of its own sense, which it is left out of; where
    several means are equally near each counts alike, so vectors that are all the same get `chance`.
    """
    unit = torch.nn.functional.normalize(vectors.double(), dim=-1)
    cosines = unit @ unit.T
    same = torch.tensor([[one == other for other in senses] for one in senses])
    pairs = torch.ones_like(same).triu(1).bool()
    counts, found = Counter(senses), dict[str, Any]()
    found["within"], found["between"] = mean(cosines[pairs & same]), mean(cosines[pairs & ~same])
    if None not in found.values():
        found["separation"] = found["within"] - found["between"]
    judged = [i for i, sense in enumerate(senses) if counts[sense] > 1]
    if judged:
        right = [nearest(unit, senses, i) for i in judged]
        found |= {"accuracy": sum(right) / len(right), "chance": 1 / len(counts)}
    return found | {"uses": len(senses), "senses": dict(counts)}


def nearest(unit: Float[Tensor, "n w"], senses: Sequence[str], use: int) -> float:
    """1 where the mean of its own sense is the nearest one to a use, a part of it where others are as near, else 0."""
    near = {}
    for sense in dict.fromkeys(senses):
        others = [i for i, other in enumerate(senses) if other == sense and i != use]
        if others:
            near[sense] = float(torch.nn.functional.cosine_similarity(unit[others].mean(0), unit[use], dim=0))
    best = [sense for sense, value in near.items() if value > max(near.values()) - ALIKE]
    return (senses[use] in best) / len(best)


def mean(values: Tensor) -> float | None:
    return float(values.mean()) if len(values) else None
