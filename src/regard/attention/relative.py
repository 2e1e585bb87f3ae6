"""Schemes that see how far apart two tokens are (B7): what they add to the scores, and to the values.

| scheme | adds to the score of query i and key j | to the value |
|---|---|---|
| buckets | a learned number for the range that j - i falls in | |
| alibi | the distance of i and j times a fixed slope of the head | |
| shaw | the score of q and a(j - i), a learned | a learned vector for j - i |
"""

import math

import torch
from torch import nn

from regard.attention.positions import Position
from regard.attention.scores import scaled_dot
from regard.place import Place
from regard.shapes import Float, Int, Tensor


class Buckets(Position):
    """A learned number for each head and range of distances, added to the scores (Raffel et al., 2020, section 2.1).

    Near keys have a bucket for each distance, farther ones share ranges that grow; from `reach` on all share the last.
    With `ahead` half of the buckets are for keys that follow their query. Without it nobody looks there.
    """

    numbers: Tensor

    def __init__(self, heads: int, *, ahead: bool, std: float, buckets: int = 32, reach: int = 128):
        super().__init__()
        self.reach = reach
        self.rows = nn.Embedding(buckets, heads)
        nn.init.normal_(self.rows.weight, std=std)
        near = [bucket(offset, buckets, reach, ahead=ahead) for offset in range(-reach, reach + 1)]
        self.register_buffer("numbers", torch.tensor(near), persistent=False)

    def on_scores(self, query, q, k, score=scaled_dot):
        offset = offsets(q, k).clamp(-self.reach, self.reach)
        by_offset = self.rows.weight[self.numbers].T  # summing gradients here first is much faster than in the buckets
        picked = by_offset.index_select(1, (offset + self.reach).flatten())
        return picked.unflatten(1, offset.shape).transpose(0, 1).to(query.dtype)


def bucket(offset: int, buckets: int, reach: int, *, ahead: bool) -> int:
    """The bucket of a key that stands `offset` places after its query, or before it where that is negative.

    The first half of a direction's n buckets holds one distance each, m of them. Then bucket m + j begins at the
    distance m (reach / m)^(j / (n - m)): compared in whole numbers, for rounding would move the edges.
    """
    if ahead:
        return bucket(-abs(offset), buckets // 2, reach, ahead=False) + (buckets // 2 if offset > 0 else 0)
    distance, single = max(0, -offset), buckets // 2
    if distance < single:
        return distance
    shared = buckets - single
    begun = [j for j in range(shared) if distance**shared * single**j >= reach**j * single**shared]
    return single + begun[-1]


def alike(at: Place) -> Int[Tensor, "rows t"]:
    """The indices of all rows, or of one where all are counted alike: such rows are one in memory."""
    return at.index[:1] if at.index.stride(0) == 0 else at.index


def offsets(q: Place, k: Place) -> Int[Tensor, "rows q k"]:
    """How many places after each query each key stands."""
    return alike(k)[:, None, :] - alike(q)[:, :, None]


class Alibi(Position):
    """-slope |i - j|, a slope for each head (Press et al., 2022). Nothing is learned and no length is a limit."""

    slope: Tensor

    def __init__(self, heads: int):
        super().__init__()
        self.register_buffer("slope", torch.tensor(slopes(heads)), persistent=False)

    def on_scores(self, query, q, k, score=scaled_dot):
        return -(self.slope[:, None, None] * offsets(q, k).abs()[:, None]).to(query.dtype)


def slopes(heads: int) -> list[float]:
    """2^(-8/n), 2^(-16/n), ... for n heads.

    Where n is no power of 2, those of the power below it, then every other one of those of twice that power.
    """
    power = 2 ** int(math.log2(heads))
    own = [2 ** (-8 * (i + 1) / power) for i in range(power)]
    return own if power == heads else own + slopes(2 * power)[0::2][: heads - power]


class Shaw(Position):
    """A vector for each distance up to `reach`, added to keys, and another to values (Shaw et al., 2018, eq. 3, 4).

    Farther keys count as that far. All heads share the vectors. A score that is linear in the key, as all are but the
    additive one, gives q and k + a what it gives q and k, and q and a, together.
    """

    on_values = True

    def __init__(self, width: int, reach: int):
        super().__init__()
        self.reach = reach
        self.keys, self.values = (nn.Parameter(torch.empty(2 * reach + 1, width)) for _ in range(2))
        for rows in (self.keys, self.values):
            nn.init.normal_(rows, std=width**-0.5)

    def on_scores(self, query, q, k, score=scaled_dot):
        by_distance = score(query, self.keys.to(query.dtype))
        return by_distance.gather(3, self._row(by_distance, q, k))

    def on_context(self, weights, q, k):
        room = weights.new_zeros(*weights.shape[:3], len(self.values))
        by_distance = room.scatter_add(3, self._row(weights, q, k), weights)
        return by_distance @ self.values.to(weights.dtype)

    def distances(self, q: Place, k: Place) -> Int[Tensor, "rows q k"]:
        return offsets(q, k)

    def _row(self, x: Float[Tensor, "b h q ..."], q: Place, k: Place) -> Int[Tensor, "b h q k"]:
        """Of the vectors, the one for each pair."""
        row = self.distances(q, k).clamp(-self.reach, self.reach) + self.reach
        return row[:, None].expand(x.shape[0], x.shape[1], -1, -1)
