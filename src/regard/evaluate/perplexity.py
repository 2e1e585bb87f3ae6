"""Loss and perplexity, per token, word, character and byte, with the policy in words."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch

from regard.data import IGNORE, Batch
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


def cut(sizes: np.ndarray, least: int) -> list[np.ndarray]:
    """Of each text the sizes of its parts: one, or several of like size where there are fewer than `least` texts."""
    most = sizes.max() if len(sizes) >= least else max(1, int(sizes.sum()) // least)
    return [np.diff(np.linspace(0, size, -(-size // most) + 1).astype(int)) for size in sizes.tolist()]


@torch.inference_mode()
def nats_of_parts(model: System, batches: Iterable[Batch], sizes: list[np.ndarray], order: np.ndarray) -> np.ndarray:
    """Negative log-likelihood of the counted targets, summed over each part of each text.

    `sizes` are the targets in the parts of each text; the batches hold the texts in this `order`.
    """
    flat = np.concatenate(sizes)
    texts = np.split(np.arange(len(flat)), np.cumsum([len(text) for text in sizes])[:-1])
    reading = np.concatenate([texts[i] for i in order])
    nats, ends, done, objective = np.zeros(len(flat)), np.cumsum(flat[reading]), 0, NextToken()
    for batch in batches:
        batch = batch.to(model.device)
        each = objective(model, batch).each[batch.targets != IGNORE].double().cpu().numpy()
        part = np.searchsorted(ends, np.arange(done, done + len(each)), side="right")
        np.add.at(nats, reading[part], each)
        done += len(each)
    return nats


def perplexities(nats: float, tokens: int, units: Units) -> dict[str, float]:
    """exp(nats per unit). End symbols are predicted and cost nats, but are no words, characters or bytes."""
    over = {"token": tokens, "word": units.words, "character": units.characters, "byte": units.bytes}
    return {unit: bounded_exp(nats / count) for unit, count in over.items() if count}


def bounded_exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf
