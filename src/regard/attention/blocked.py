"""Attention among blocks: what each block of queries sees is put side by side, and computed as a row of its own."""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch.nn.functional import pad

from regard.attention.blocks import Local
from regard.attention.patterns import Sight, everyone
from regard.place import Place
from regard.shapes import Float, Int, Tensor

Dense = Callable[[Tensor, Tensor, Tensor, Sight], Tensor]


def blocked(
    dense: Dense,
    query: Float[Tensor, "b h t d"],
    key: Float[Tensor, "b g t d"],
    value: Float[Tensor, "b g t e"],
    sight: Sight,
) -> Float[Tensor, "b h t e"]:
    """By a kernel `dense` that is given each block of queries with the keys it sees, as a row of a larger batch.

    Blocks of queries that see everything are given all keys, in one row for each text. An unfinished last block is
    filled up with padding.
    """
    blocks, length = sight.blocks, query.shape[2]
    assert blocks is not None
    within = sight.pattern.within or everyone
    seeing, size = min(length, blocks.everything * blocks.size), blocks.size
    parts = []
    if seeing:
        parts.append(dense(query[:, :, :seeing], key, value, Sight(within, cut(sight.q, seeing), sight.k)))
    if seeing < length:
        at = filled(sight.k, -length % size)
        query, key, value = (pad(x, (0, 0, 0, -length % size)) for x in (query, key, value))
        rows, count = query.shape[0], query.shape[2] // size
        mine = in_rows(query[:, :, seeing:], size)
        q = at.map(lambda field: in_row(field[:, seeing:], size))
        if isinstance(blocks, Local):
            found = dense(mine, in_rows(key, size), in_rows(value, size), Sight(within, q, q))
        else:
            number = torch.arange(blocks.everything, count, device=query.device)
            chosen = blocks.chosen(number[None], count, lengths(at, size))
            k = gathered_places(at, chosen, size, full=at.present is None and within.ahead)
            found = dense(mine, gathered(key, chosen, size), gathered(value, chosen, size), Sight(within, q, k))
        parts.append(found.unflatten(0, (rows, -1)).transpose(1, 2).flatten(2, 3)[:, :, : length - seeing])
    return torch.cat(parts, dim=2)


def stepped(
    dense: Dense,
    query: Float[Tensor, "b h 1 d"],
    key: Float[Tensor, "b g k d"],
    value: Float[Tensor, "b g k e"],
    sight: Sight,
) -> Float[Tensor, "b h 1 e"]:
    """One query in each row, whose keys stand in order: only the blocks that it sees are fetched."""
    blocks, length = sight.step, key.shape[2]
    assert blocks is not None
    size, count = blocks.size, -(-length // blocks.size)
    seen = blocks.chosen(sight.q.index // size, count, sight.q.index.new_full((1,), count))[:, 0]
    slot = (seen[..., None] * size + torch.arange(size, device=query.device)).flatten(1)
    k = Place(slot, present=(slot >= 0) & (slot < length))
    slot, row = slot.clamp(0, length - 1), torch.arange(len(slot), device=query.device)[:, None]
    key, value = (x.transpose(1, 2)[row, slot].transpose(1, 2) for x in (key, value))
    return dense(query, key, value, Sight(sight.pattern.within or everyone, sight.q, k))


def cut(at: Place, length: int) -> Place:
    return at.map(lambda field: field[:, :length])


def filled(at: Place, missing: int) -> Place:
    """Places with so many more at the end, which hold nothing."""
    if not missing:
        return at
    present = at.present if at.present is not None else torch.ones_like(at.index, dtype=torch.bool)
    end = at.index.shape[1] + torch.arange(missing, device=at.index.device).expand(len(at.index), -1)
    longer = at.map(lambda field: pad(field, (0, missing)))
    return replace(longer, index=torch.cat((at.index, end), dim=1), present=pad(present, (0, missing)))


def lengths(at: Place, size: int) -> Int[Tensor, "rows"]:
    """How many blocks each text has; one number for all of them where none is padded."""
    if at.present is None:
        return at.index.new_full((1,), at.index.shape[1] // size)
    return (at.index // size).masked_fill(~at.present, -1).amax(1) + 1


def in_row(x: Tensor, size: int) -> Tensor:
    """`[b t ...]` to blocks, each a row."""
    return x.unflatten(1, (-1, size)).flatten(0, 1)


def in_rows(x: Float[Tensor, "b h t d"], size: int) -> Float[Tensor, "n h s d"]:
    return x.unflatten(2, (-1, size)).transpose(1, 2).flatten(0, 1)


def gathered(x: Float[Tensor, "b h t d"], chosen: Int[Tensor, "rows n m"], size: int) -> Float[Tensor, "bn h ms d"]:
    """The blocks that each block of queries sees, one after the other. An absent one is the first, and is hidden."""
    x = x.unflatten(2, (-1, size))
    found = picked(x.transpose(1, 2), chosen)  # b n m h s d
    return found.transpose(2, 3).flatten(3, 4).flatten(0, 1)


def gathered_places(at: Place, chosen: Int[Tensor, "rows n m"], size: int, *, full: bool) -> Place:
    """Where the gathered keys stand; `full` when all of them are known to be there."""

    def rows(field: Tensor) -> Tensor:
        return picked(field.unflatten(1, (-1, size)), chosen).flatten(2).flatten(0, 1)

    found = at.map(rows)
    if full:
        return found
    there = (chosen >= 0).repeat_interleave(size, dim=2).expand(len(at.index), -1, -1).flatten(0, 1)
    return replace(found, present=there if found.present is None else found.present & there)


def picked(x: Tensor, chosen: Int[Tensor, "rows n m"]) -> Tensor:
    """`[b blocks ...]` to `[b n m ...]`: the chosen blocks of each row, or of all rows alike."""
    chosen = chosen.clamp(min=0)
    if len(chosen) == 1:
        return x.index_select(1, chosen.flatten()).unflatten(1, chosen.shape[1:])
    row = torch.arange(len(x), device=x.device)[:, None, None]
    return x[row, chosen]
