"""BigBird's attention on a GPU by programs of our own: a block of queries at a time, over the blocks it sees.

`blocked.py` puts what a block sees side by side, several copies of every key; here each key is read where it lies.
Where a block sees all others, or is seen by all, the long list is worked off by several programs, `PART` blocks each,
and what they give is put together afterwards, always in the same order: results do not change from run to run.
"""

from functools import lru_cache, partial
from typing import Any, NamedTuple

import torch
from torch.library import triton_op, wrap_triton
from triton import JITFunction

from regard.attention.blocks import BigBird, table
from regard.attention.programs import LOG2_E, context_kernel, drift_kernel, key_kernel, query_kernel
from regard.shapes import Bool, Float, Int, Tensor

PART = 8  # blocks
WARPS, STAGES = 4, 2  # of a program: threads by 32, and how many blocks are fetched ahead


class Lists(NamedTuple):
    """Which blocks each block of queries sees, and the other way round: for one text, or for all texts alike."""

    sees: Int[Tensor, "r n most"]
    seen_by: Int[Tensor, "r n n"]
    times: Int[Tensor, "r n"]


def lists_of(blocks: BigBird, count: int, length: Int[Tensor, "r"]) -> Lists:
    sees = blocks.chosen(torch.arange(count, device=length.device)[None], count, length)
    whole = table(blocks, count, length).mT  # keys first
    order = whole.int().argsort(dim=-1, descending=True, stable=True)
    return Lists(sees.int().contiguous(), order.int().contiguous(), whole.sum(-1).int())


@lru_cache(maxsize=256)
def lists_of_all(blocks: BigBird, count: int, device: torch.device) -> Lists:
    return lists_of(blocks, count, torch.tensor([count], device=device))


@torch.library.custom_op("regard::bigbird_lists", mutates_args=())
def shared_lists(shape: list[int], count: int, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """The lists for all texts alike: copies, for a compiler may put other things in their place."""
    sees, seen_by, times = lists_of_all(rule_of(shape), count, device)
    return sees.clone(), seen_by.clone(), times.clone()


@shared_lists.register_fake
def _(shape, count, device):
    most, make = min(rule_of(shape).most, count), partial(torch.empty, dtype=torch.int32, device=device)
    return make(1, count, most), make(1, count, count), make(1, count)


class Call(NamedTuple):
    """What the kernels are told of one attention."""

    blocks: BigBird
    scale: float
    present: Bool[Tensor, "b t"] | None
    seeds: Int[Tensor, "2"] | None  # of what is dropped
    dropout: float
    lists: Lists

    def plain(self, length: int) -> bool:
        """Whether every token of a listed block may be looked at."""
        whole = length % self.blocks.size == 0
        parts = length // self.blocks.size % PART == 0 or not self.blocks.everything  # no part of a list is cut short
        return self.present is None and self.blocks.ahead and whole and parts

    def told(self, query: Float[Tensor, "b t h d"], lists: Lists) -> dict[str, Any]:
        """What all kernels are given."""
        present, seeds, unread = self.present, self.seeds, lists.times
        return {
            "present": present.to(torch.int8) if present is not None else unread,
            "seeds": seeds if seeds is not None else unread,
            "dropout": self.dropout,
            "scale": self.scale * LOG2_E.value,
            "length": query.shape[1],
            "count": lists.times.shape[1],
            "SHARED": len(lists.times) == 1,
            "HEADS": query.shape[2],
            "WIDTH": query.shape[3],
            "SIZE": self.blocks.size,
            "PLAIN": self.plain(query.shape[1]),
            "CAUSAL": not self.blocks.ahead,
            "MASKED": present is not None,
            "DROPS": seeds is not None,
            "num_warps": WARPS,
            "num_stages": STAGES,
        }


def seen(kernel: Any) -> Any:
    """A program that a compiler sees, and may launch by itself; one that is interpreted is called as it is."""
    return wrap_triton(kernel) if isinstance(kernel, JITFunction) else kernel


class Work(NamedTuple):
    """What one kernel after the other is given."""

    call: Call
    given: tuple[Tensor, ...]
    told: dict[str, Any]

    def done(self, kernel: Any, results: tuple[Tensor, ...], lists: tuple[Tensor, ...], *, apart: int) -> list[Tensor]:
        """Fill in the results of all blocks but the first ones, `apart`, whose lists are long: theirs are given back
        in parts, `[part b t ...]`."""
        count, rows = self.told["count"], results[0].shape[1]
        heads, apart = results[0].shape[0] * results[0].shape[2], min(apart, count)
        if count > apart:
            most = lists[0].shape[2]
            seen(kernel)[count - apart, 1, heads](
                *self.given, *results, *lists, rows=rows, first=apart, MOST=most, DENSE=False, **self.told
            )
        if not apart:
            return []
        parts, room = -(-count // PART), apart * self.call.blocks.size
        rooms = [x.new_empty(parts, len(x), room, *x.shape[2:], dtype=torch.float32) for x in results]
        seen(kernel)[apart, parts, heads](
            *self.given, *rooms, *lists, rows=room, first=0, MOST=PART, DENSE=True, **self.told
        )
        return [x[:, :, :rows] for x in rooms]


def forward(call: Call, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Context `[b t h d]` and the logarithms `[b t h]`."""
    lists = call.lists
    context, level = torch.empty_like(query), query.new_empty(query.shape[:3], dtype=torch.float32)
    work = Work(call, (query, key, value), call.told(query, lists))
    if parts := work.done(context_kernel, (context, level), (lists.sees,), apart=call.blocks.everything):
        rows = parts[0].shape[2]
        context[:, :rows], level[:, :rows] = joined(*parts)
    return context, level


def joined(mixes: Float[Tensor, "p b t h d"], levels: Float[Tensor, "p b t h"]) -> tuple[Tensor, Tensor]:
    """One softmax from its parts: a part that saw nothing has the level inf, and its mix is 0."""
    levels = levels.masked_fill(levels == torch.inf, -torch.inf)
    highest = levels.amax(0)
    blind = highest == -torch.inf
    share = (levels - highest.masked_fill(blind, 0.0)).exp2()
    total = share.sum(0)
    mix = (share[..., None] * mixes).sum(0) / total.masked_fill(blind, 1.0)[..., None]
    return mix, (highest + total.log2()).masked_fill(blind, torch.inf)


def backward(call: Call, gradient, query, key, value, context, level) -> tuple[Tensor, Tensor, Tensor]:
    lists = call.lists
    told, drift = call.told(query, lists), torch.empty_like(level)
    rows, heads, width = query.shape[1:]
    grid = lists.times.shape[1], len(query) * heads
    seen(drift_kernel)[grid](gradient, context, drift, rows, heads, width, call.blocks.size)
    work = Work(call, (query, key, value, gradient, level, drift), told)
    found = torch.empty_like(query), torch.empty_like(key), torch.empty_like(value)
    by = lists.seen_by, lists.times
    parts = work.done(query_kernel, found[:1], (lists.sees,), apart=call.blocks.everything)
    parts += work.done(key_kernel, found[1:], by, apart=call.blocks.first)
    for whole, part in zip(found[len(found) - len(parts) :], parts, strict=True):  # those that are never in parts lead
        whole[:, : part.shape[2]] = part.sum(0)
    return found


@triton_op("regard::bigbird", mutates_args={})
def context_of(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    sees: Tensor,
    seen_by: Tensor,
    times: Tensor,
    present: Tensor | None,
    seeds: Tensor | None,
    numbers: list[float],
    shape: list[int],
) -> tuple[Tensor, Tensor]:
    call = Call(rule_of(shape), numbers[0], present, seeds, numbers[1], Lists(sees, seen_by, times))
    return forward(call, query, key, value)


@triton_op("regard::bigbird_backward", mutates_args={})
def gradients_of(
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    context: Tensor,
    level: Tensor,
    sees: Tensor,
    seen_by: Tensor,
    times: Tensor,
    present: Tensor | None,
    seeds: Tensor | None,
    numbers: list[float],
    shape: list[int],
) -> tuple[Tensor, Tensor, Tensor]:
    call = Call(rule_of(shape), numbers[0], present, seeds, numbers[1], Lists(sees, seen_by, times))
    return backward(call, gradient, query, key, value, context, level)


def keep(ctx, inputs, output) -> None:
    *tensors, present, seeds, ctx.numbers, ctx.shape = inputs
    ctx.save_for_backward(*tensors, *output, present, seeds)


def differentiate(ctx, gradient, _):
    query, key, value, sees, seen_by, times, context, level, present, seeds = ctx.saved_tensors
    given = gradient.contiguous(), query, key, value, context, level, sees, seen_by, times
    return *gradients_of(*given, present, seeds, ctx.numbers, ctx.shape), *[None] * 7


context_of.register_autograd(differentiate, setup_context=keep)


def rule_of(shape) -> BigBird:
    size, first, near, random, seed, ahead = shape
    return BigBird(size, first=first, near=near, random=random, seed=seed, ahead=bool(ahead))


def sparse(
    query: Float[Tensor, "b h t d"],
    key: Tensor,
    value: Tensor,
    *,
    blocks: BigBird,
    scale: float,
    present: Tensor | None,
    dropout: float = 0.0,
) -> Float[Tensor, "b h t d"]:
    """Attention among the tokens of each text by the rule of its blocks."""
    shape = [blocks.size, blocks.first, blocks.near, blocks.random, blocks.seed, int(blocks.ahead)]
    length = query.shape[2]
    count = -(-length // blocks.size)
    if present is None:
        lists = Lists(*shared_lists(shape, count, query.device))
    else:
        last = (torch.arange(length, device=query.device) * present).amax(1)
        lists = lists_of(blocks, count, last // blocks.size + present.any(1))
    lying = (x.transpose(1, 2).contiguous() for x in (query, key, value))
    seeds = torch.randint(2**31 - 1, (2,), dtype=torch.int32, device=query.device) if dropout else None
    return context_of(*lying, *lists, present, seeds, [scale, dropout], shape)[0].transpose(1, 2)
