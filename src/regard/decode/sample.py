"""Choosing the next token: the likeliest, or one drawn after the unlikely ones were put aside."""

import torch

from regard.decode.settings import Decode
from regard.shapes import Float, Int, Tensor


def repetition(scores: Float[Tensor, "b v"], rows: list[list[int]], penalty: float) -> Float[Tensor, "b v"]:
    """Tokens that a row already holds made less likely (Keskar et al., 2019): log-probabilities are negative."""
    if penalty == 1.0:
        return scores
    scores = scores.clone()
    for line, row in zip(scores, rows, strict=True):
        held = torch.tensor(sorted(set(row)), device=scores.device)
        line[held] = line[held] * penalty
    return scores


def top_k(scores: Float[Tensor, "b v"], k: int) -> Float[Tensor, "b v"]:
    """Keep the k likeliest."""
    if not 0 < k < scores.shape[-1]:
        return scores
    least = scores.topk(k).values[:, -1:]
    return scores.masked_fill(scores < least, -torch.inf)


def top_p(scores: Float[Tensor, "b v"], p: float) -> Float[Tensor, "b v"]:
    """Keep the likeliest tokens that together reach probability p (Holtzman et al., 2020)."""
    if p >= 1.0:
        return scores
    ordered, index = scores.softmax(-1).sort(descending=True)
    before = ordered.cumsum(-1) - ordered
    out = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, index, before >= p)
    return scores.masked_fill(out, -torch.inf)


def min_p(scores: Float[Tensor, "b v"], p: float) -> Float[Tensor, "b v"]:
    """Keep what is at least p times as likely as the likeliest (Nguyen et al., 2024)."""
    if p <= 0.0:
        return scores
    probabilities = scores.softmax(-1)
    return scores.masked_fill(probabilities < p * probabilities.amax(-1, keepdim=True), -torch.inf)


def filtered(scores: Float[Tensor, "b v"], settings: Decode) -> Float[Tensor, "b v"]:
    """Temperature first, then the filters, in the order of their names in the settings."""
    scores = scores / settings.temperature
    return min_p(top_p(top_k(scores, settings.top_k), settings.top_p), settings.min_p)


def draw(scores: Float[Tensor, "b v"], chance: Float[Tensor, "b"]) -> Int[Tensor, "b"]:
    """The token at which the cumulated probability passes `chance`, a number in [0, 1) for each row."""
    cumulated = scores.double().softmax(-1).cumsum(-1)
    reached = torch.searchsorted(cumulated, chance.double()[:, None] * cumulated[:, -1:], right=True)[:, 0]
    return reached.clamp(max=scores.shape[-1] - 1)


class Chance:
    """Random numbers of each row's own, so that a row draws the same whatever its neighbours do.

    `seeds` has one for each row, by its number.
    """

    def __init__(self, seeds: dict[int, int]):
        self.streams = {number: torch.Generator().manual_seed(seed) for number, seed in seeds.items()}

    def next(self, numbers: list[int]) -> Float[Tensor, "b"]:
        return torch.cat([torch.rand(1, generator=self.streams[number]) for number in numbers])


def seeds(seed: int, numbers: list[int], first: int = 0) -> dict[int, int]:
    """A seed for each row out of one, any whole number; `first` is added for rows that come after others."""
    return {number: (seed * 1_000_003 + first + number) % 2**63 for number in numbers}
