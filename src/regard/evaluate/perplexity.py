"""Loss and perplexity, per token, word, character and byte, with the policy in words."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch

from regard.data import Batch
from regard.data.sources import Source
from regard.objectives import NextToken
from regard.systems import System


@dataclass(frozen=True)
class Units:
    """How much text the nats are spread over."""

    words: int
    characters: int
    bytes: int

    @staticmethod
    def of(source: Source) -> "Units":
        """Of the last column, which is the one predicted. Words are what white space separates."""
        words = characters = size = 0
        for record in source:
            text = record[-1]
            words += len(text.split())
            characters += len(text)
            size += len(text.encode())
        return Units(words, characters, size)


@torch.inference_mode()
def total_nats(model: System, batches: Iterable[Batch]) -> tuple[float, int]:
    """Negative log-likelihood of all counted targets, and their number. Only sums are kept."""
    nats, count, objective = 0.0, 0, NextToken()
    for batch in batches:
        nats += float(objective(model, batch.to(model.device)).nats)
        count += batch.count
    return nats, count


def perplexities(nats: float, tokens: int, units: Units) -> dict[str, float]:
    """exp(nats per unit). End symbols are predicted and cost nats, but are no words, characters or bytes."""
    over = {"token": tokens, "word": units.words, "character": units.characters, "byte": units.bytes}
    return {unit: bounded_exp(nats / count) for unit, count in over.items() if count}


def bounded_exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf
