"""Where order comes in (B7). A scheme overrides only where it acts; the base class holds the neutral answers.

Sinusoids and learned rows are *tables*; a table enters in one of three ways: added at the input, added to queries, keys
and values inside every head, or concatenated to the word vector. Rotary turns queries and keys; what adds to the scores
is in `relative.py`. These see only how far apart two tokens are, and have no table of indices.
"""

import math
from dataclasses import dataclass

import torch
from torch import nn

from regard.attention.scores import Fits, scaled_dot
from regard.errors import UserError
from regard.place import Place
from regard.shapes import Float, Int, Tensor


class Position(nn.Module):
    """No order at all: what every scheme is where it does not act."""

    reach = 0
    limit: int | None = None  # the longest sequence it can number
    takes = 0  # of the width, what the word vector must leave free
    on_values = False  # whether `on_context` adds anything

    def inside(self) -> "Position":
        """What one layer of a stack is given: the same for all, unless each learns its own."""
        return self

    def on_input(self, x: Float[Tensor, "b t w"], at: Place) -> Tensor:
        return x

    def on_heads(self, query: Tensor, key: Tensor, value: Tensor, q: Place, k: Place):
        return query, key, value

    def on_scores(self, query: Tensor, q: Place, k: Place, score: Fits = scaled_dot) -> Tensor | None:
        """What is added to the scores; `score` says how well queries fit keys, and so vectors that stand for places."""
        return None

    def on_context(self, weights: Tensor, q: Place, k: Place) -> Tensor | None:
        """What is added to the mix of values; where it is something, no fused kernel can be used."""
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


class Split(Table):
    """sin of index / 10000^(i/(half - 1)), i from 0, in the first half of the columns, and cos in the second.

    As Tensor2Tensor made them, and others after it; `first` is what the first token of a text counts as. An odd last
    column is 0.
    """

    rate: Tensor

    def __init__(self, width: int, size: float = 1.0, first: int = 0):
        super().__init__()
        half = width // 2
        if half < 2:
            raise UserError(f"sinusoids in two halves need a width of at least 4; this is {width}")
        self.width, self.size, self.first = width, size, first
        rate = 10_000.0 ** (-torch.arange(half, dtype=torch.float32) / (half - 1))
        self.register_buffer("rate", rate, persistent=False)

    def forward(self, index: Int[Tensor, "b t"]) -> Float[Tensor, "b t w"]:
        angle = (index[..., None] + self.first) * self.rate
        halves = [angle.sin(), angle.cos(), angle.new_zeros(*index.shape, self.width % 2)]
        return self.size * torch.cat(halves, dim=-1)


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


@dataclass(frozen=True)
class Turns:
    """How fast pairs of components turn: by base^(-2i/width) each token, and less for texts longer than once learnt.

    All rates are divided by `factor` (Chen et al., 2023), or, where a `context` is given, as in Llama 3: pairs that
    turn less than `low` times in so many tokens in full, those that turn more than `high` times not, others partly.
    """

    base: float = 10_000.0
    factor: float = 1.0
    context: int = 0
    low: float = 1.0
    high: float = 4.0

    def rates(self, width: int) -> Float[Tensor, "half"]:
        rate = rates(width, self.base)
        if self.factor == 1:
            return rate
        if not self.context:
            return rate / self.factor
        times = self.context * rate / (2 * math.pi)
        kept = ((times - self.low) / (self.high - self.low)).clamp(0, 1)
        return rate * (kept + (1 - kept) / self.factor)


class Rotary(Position):
    """Queries and keys turned by an angle that grows with the index (Su et al., 2021).

    Neighbouring components form the pairs that turn, so a score depends on the difference of two indices alone.
    """

    rate: Tensor

    def __init__(self, width: int, turns: Turns = Turns()):
        super().__init__()
        if width % 2:
            raise UserError(f"rotary positions turn pairs of components; a head of width {width} has an odd one")
        self.register_buffer("rate", turns.rates(width), persistent=False)

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
