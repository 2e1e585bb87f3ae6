"""The formula of the lectures (B3-B6, B12), step by step, with every intermediate kept.

It is the reference that the fast kernels must equal, what the explainer walks through, and what runs where no kernel
fits.
"""

from typing import NamedTuple

import torch

from regard.attention.scores import Fits, scaled_dot
from regard.shapes import Bool, Float, Tensor


class Attended(NamedTuple):
    scores: Float[Tensor, "b h q k"]
    weights: Float[Tensor, "b h q k"]
    dropped: Float[Tensor, "b h q k"]  # the weights that are left by dropout
    context: Float[Tensor, "b h q d"]


def attend(
    query: Float[Tensor, "b h q d"],
    key: Float[Tensor, "b g k d"],
    value: Float[Tensor, "b g k e"],
    *,
    allow: Bool[Tensor, "#b #h #q #k"] | None = None,
    bias: Float[Tensor, "#b #h #q #k"] | None = None,
    score: Fits = scaled_dot,
    dropout: float = 0.0,
) -> Attended:
    """softmax(score(query, key) + bias) value, over what `allow` lets each query see.

    `allow` is True where a query may look; a query that may look nowhere gets zeros. Keys and values may have fewer
    heads than queries: each then serves a group of them.
    """
    key, value = serve(key, query.shape[1]), serve(value, query.shape[1])
    scores = score(query, key)
    if bias is not None:
        scores = scores + bias
    if allow is not None:
        scores = scores.masked_fill(~allow, -torch.inf)
    weights = softmax_or_zero(scores) if allow is not None else scores.softmax(-1)
    dropped = torch.nn.functional.dropout(weights, dropout) if dropout else weights
    return Attended(scores, weights, dropped, dropped @ value)


def softmax_or_zero(scores: Float[Tensor, "*n k"]) -> Float[Tensor, "*n k"]:
    """Softmax in which a row of nothing but -inf gives zeros, in value and in gradient."""
    blind = (scores == -torch.inf).all(-1, keepdim=True)
    return scores.masked_fill(blind, 0.0).softmax(-1).masked_fill(blind, 0.0)


def serve(x: Float[Tensor, "b g k d"], heads: int) -> Float[Tensor, "b h k d"]:
    """Repeat each key-value head for the group of query heads that shares it."""
    return x if x.shape[1] == heads else x.repeat_interleave(heads // x.shape[1], dim=1)
