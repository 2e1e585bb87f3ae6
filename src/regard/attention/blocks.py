"""Rules on blocks of tokens: which blocks of keys a block of queries sees (S12, S13).

Block n of a text holds the tokens with index n size to (n + 1) size - 1. `chosen` lists, for each block of queries, the
blocks of keys that it sees; a kernel that computes no others costs as much as the text is long. `rule` says the same of
pairs of tokens.
"""

from dataclasses import dataclass

import torch

from regard.place import Place
from regard.shapes import Bool, Int, Tensor

ABSENT = 2**62  # the rank of a block that cannot be chosen


@dataclass(frozen=True)
class Blocks:
    """Blocks of `size` tokens. The first `everything` of them, as queries, see all blocks."""

    size: int

    @property
    def everything(self) -> int:
        return 0

    @property
    def most(self) -> int:
        """How many blocks are seen by one that does not see everything."""
        raise NotImplementedError

    @property
    def reach(self) -> int:
        """Of the blocks that one may see together: in a longer text some do not see each other."""
        return self.size * (self.most + self.everything)

    def chosen(
        self, query: Int[Tensor, "rows n"], count: int, length: Int[Tensor, "rows"]
    ) -> Int[Tensor, "rows n most"]:
        """Which of `count` blocks those of `query` see in texts of `length` blocks, in order; -1 where there is none.

        Where there is one row of either, it stands for all.
        """
        raise NotImplementedError

    def rule(self, q: Place, k: Place) -> Bool[Tensor, "..."]:
        """As a pattern asks it: places that broadcast to one value per pair."""
        query, key = q.index // self.size, k.index // self.size
        count = int(max(query.max(), key.max())) + 1
        last = key if k.present is None else key.masked_fill(~k.present, -1)
        sees = table(self, count, last.flatten(1).amax(1) + 1)
        row = torch.arange(len(sees), device=sees.device).view(-1, *[1] * (query.ndim - 1))
        return sees[row, query, key]


@dataclass(frozen=True)
class Local(Blocks):
    """Each block sees itself (Liu et al., 2018, section 4.2.3)."""

    @property
    def most(self) -> int:
        return 1

    def chosen(self, query, count, length):
        return query[..., None].expand(max(len(query), len(length)), -1, -1)

    def rule(self, q, k):
        return q.index // self.size == k.index // self.size


@dataclass(frozen=True)
class BigBird(Blocks):
    """Each block sees the `first` ones, `near` ones on either side of it, and some at random (Zaheer et al., 2020).

    The first blocks see all. The others see as many blocks as the text has, but no more than `most`: where one has
    fewer neighbours, because the text ends there or they are among the first, it sees more at random. Chance is a rank
    of every pair of blocks, made from `seed` alone, and the lowest ranks among the blocks of the text are taken. So
    what a text is padded with changes nothing. Where nobody looks `ahead`, all are taken from what came before.
    """

    first: int = 2
    near: int = 1
    random: int = 3
    seed: int = 0
    ahead: bool = True

    @property
    def everything(self) -> int:
        return self.first if self.ahead else 0

    @property
    def most(self) -> int:
        return self.first + self.near * (1 + self.ahead) + 1 + self.random

    def chosen(self, query, count, length):
        return drawn(query, length, count, self.most, [self.first, self.near, self.seed, int(self.ahead)])


@torch.library.custom_op("regard::drawn_blocks", mutates_args=())  # compiled, its large numbers would not survive
def drawn(query: Tensor, length: Tensor, count: int, most: int, shape: list[int]) -> Tensor:
    """`[rows n most]`: the first and near blocks of each, then those of lowest rank, in order; -1 where none is."""
    first, near, seed, ahead = shape
    query, key = query[..., None], torch.arange(count, device=length.device)
    fixed = (key < first) | ((query - key).abs() <= near)
    rank = mixed(query, key, seed).masked_fill(fixed, -1)
    there = (key < length[:, None, None]) & ((key <= query) | bool(ahead))
    rank, block = torch.where(there, rank, ABSENT).topk(min(most, count), largest=False)
    return block.masked_fill(rank == ABSENT, -1).sort().values


@drawn.register_fake
def _(query, length, count, most, shape):
    rows = len(query) if len(length) == 1 else len(length)
    return query.new_empty(rows, query.shape[1], min(most, count))


def mixed(query: Int[Tensor, "... 1"], key: Int[Tensor, "k"], seed: int) -> Int[Tensor, "... k"]:
    """A number for each pair that looks like chance, no two alike in one row, the same on every machine."""
    x = (query * 0x9E3779B1 + key * 0x85EBCA77 + seed * 0xC2B2AE3D) & 0xFFFFFFFF
    for _ in range(2):
        x = ((x ^ (x >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
    return ((x ^ (x >> 16)) << 24) + key


def table(blocks: Blocks, count: int, length: Int[Tensor, "rows"]) -> Bool[Tensor, "rows count count"]:
    """True where a block of queries sees a block of keys."""
    chosen = blocks.chosen(torch.arange(count, device=length.device)[None], count, length)
    sees = torch.zeros(len(length), count, count + 1, dtype=torch.bool, device=length.device)
    sees = sees.scatter(2, chosen.masked_fill(chosen < 0, count), True)[..., :-1]
    return sees | (torch.arange(count, device=length.device) < blocks.everything)[:, None]
