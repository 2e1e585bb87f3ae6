"""Where order comes in (B7). A scheme overrides only where it acts; the base class holds the neutral answers.

Sinusoids and learned rows are *tables*; a table enters in one of three ways: added at the input, added to queries, keys
and values inside every head, or concatenated to the word vector. Rotary turns queries and keys, buckets add to the
scores: both see only how far apart two tokens are, and have no table of indices.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from regard.errors import UserError, suggest
from regard.place import Place
from regard.shapes import Float, Int, Tensor

BIAS = 2.0  # the first spread of what is added to scores: AdamW moves it by a rate a step and would take thousands


class Position(nn.Module):
    """No order at all: what every scheme is where it does not act."""

    reach = 0
    limit: int | None = None  # the longest sequence it can number
    takes = 0  # of the width, what the word vector must leave free

    def on_input(self, x: Float[Tensor, "b t w"], at: Place) -> Tensor:
        return x

    def on_heads(self, query: Tensor, key: Tensor, value: Tensor, q: Place, k: Place):
        return query, key, value

    def on_scores(self, query: Tensor, q: Place, k: Place) -> Tensor | None:
        return None


class Table(nn.Module):
    """A row for each index, up to `limit` where there is one."""

    limit: int | None = None

    def forward(self, index: Int[Tensor, "b t"]) -> Float[Tensor, "b t w"]:
        raise NotImplementedError


class Sinusoid(Table):
    """sin and cos of index / 10000^(2i/width), i from 0, interleaved (Vaswani et al., 2017, section 3.5).

    `size` is the height of the waves: that of the word vectors they are added to, 1 in the paper.
    """

    rate: Tensor

    def __init__(self, width: int, size: float = 1.0):
        super().__init__()
        self.width, self.size = width, size
        self.register_buffer("rate", rates(width, 10_000.0), persistent=False)

    def forward(self, index: Int[Tensor, "b t"]) -> Float[Tensor, "b t w"]:
        angle = index[..., None] * self.rate
        return self.size * torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(-2)[..., : self.width]


class Learned(Table):
    """One learned row per index. It cannot number more than `limit` tokens (C23).

    `std` must be that of the word vectors it is added to: rows on another scale drown one of the two.
    """

    def __init__(self, width: int, limit: int, std: float):
        super().__init__()
        self.limit = limit
        self.rows = nn.Embedding(limit, width)
        nn.init.normal_(self.rows.weight, std=std)

    def forward(self, index: Int[Tensor, "b t"]) -> Float[Tensor, "b t w"]:
        return self.rows(index)


class Added(Position):
    """x + table(index)."""

    def __init__(self, table: Table):
        super().__init__()
        self.table, self.limit = table, table.limit

    def on_input(self, x, at):
        return x + self.table(at.index).to(x.dtype)


class Concatenated(Position):
    """The last columns of the input vector say where it stands."""

    def __init__(self, table: Table, takes: int):
        super().__init__()
        self.table, self.limit, self.takes = table, table.limit, takes

    def on_input(self, x, at):
        return torch.cat((x, self.table(at.index).to(x.dtype).expand(*x.shape[:2], -1)), dim=-1)


class AddedToHeads(Position):
    """table(index) added to queries, keys and values in every head (text 001)."""

    def __init__(self, table: Table):
        super().__init__()
        self.table, self.limit = table, table.limit

    def on_heads(self, query, key, value, q, k):
        mine, theirs = (self.table(at.index)[:, None].to(query.dtype) for at in (q, k))
        return query + mine, key + theirs, value + theirs


class Rotary(Position):
    """Queries and keys turned by an angle that grows with the index (Su et al., 2021).

    Neighbouring components form the pairs that turn, so a score depends on the difference of two indices alone.
    """

    rate: Tensor

    def __init__(self, width: int, base: float = 10_000.0):
        super().__init__()
        if width % 2:
            raise UserError(f"rotary positions turn pairs of components; a head of width {width} has an odd one")
        self.register_buffer("rate", rates(width, base), persistent=False)

    def on_heads(self, query, key, value, q, k):
        return self.turn(query, q), self.turn(key, k), value

    def turn(self, x: Float[Tensor, "b h t d"], at: Place) -> Float[Tensor, "b h t d"]:
        angle = (at.index[..., None] * self.rate)[:, None]
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


def rates(width: int, base: float) -> Float[Tensor, "half"]:
    """base^(-2i/width) for i = 0, 1, ...: each pair of components turns more slowly than the one before."""
    return base ** (-torch.arange(0, width, 2, dtype=torch.float32) / width)


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

    def on_scores(self, query, q, k):
        offset = (alike(k)[:, None, :] - alike(q)[:, :, None]).clamp(-self.reach, self.reach)
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


@dataclass(frozen=True)
class Site:
    """What a scheme is made for.

    Vectors of `width` whose words have the scale `std`, heads of `head_width`, texts of at most `limit` tokens, of
    whom some may look `ahead`.
    """

    width: int
    heads: int
    head_width: int
    limit: int
    std: float
    ahead: bool = True


SCHEMES: dict[str, Callable[[Site], Position]] = {
    "none": lambda site: Position(),
    "rotary": lambda site: Rotary(site.head_width),
    "buckets": lambda site: Buckets(site.heads, ahead=site.ahead, std=BIAS),
}
TABLES: dict[str, Callable[[Site, int, float], Table]] = {
    "sinusoidal": lambda site, columns, size: Sinusoid(columns, size),
    "learned": lambda site, columns, size: Learned(columns, site.limit, site.std),
}
POSITIONS = (*SCHEMES, *TABLES)
PLACES = ("input", "heads", "concatenated")


def position(kind: str, place: str, site: Site) -> Position:
    """The scheme that a configuration names."""
    if kind not in POSITIONS:
        raise UserError(f"no position scheme '{kind}'{suggest(kind, list(POSITIONS))}")
    if place not in PLACES:
        raise UserError(f"positions cannot enter at '{place}'{suggest(place, list(PLACES))}")
    if kind in SCHEMES:
        if place != "input":
            raise UserError(f"position '{kind}' has no table to put at '{place}'; leave position_at out")
        return SCHEMES[kind](site)
    table = TABLES[kind]
    if place == "input":
        return Added(table(site, site.width, site.std))
    if place == "heads":
        return AddedToHeads(table(site, site.head_width, 1.0))  # queries and keys are of the size of one
    return Concatenated(table(site, site.width // 4, site.std), takes=site.width // 4)
