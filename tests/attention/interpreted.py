"""Our own programs for BigBird against the formula, on the CPU: run with TRITON_INTERPRET=1 in a process of its own.

The variable must be set while the programs are made and while they run, and other tests must not see it.
"""

from dataclasses import replace

import torch

from regard.attention.blocks import BigBird
from regard.attention.kernels import attended
from regard.attention.patterns import Sight, bigbird
from regard.attention.scores import ScaledDot
from regard.attention.sparse import sparse
from tests.helpers import line, same

TEXTS = [(16 * 8, 0), (16 * 5, 0), (16 * 4 + 5, 0), (16 * 5 - 3, 20), (9, 4)]  # whole parts, whole blocks, not whole
HEADS, BITS = 2, 2**32 - 1


def mixed_up(x: torch.Tensor) -> torch.Tensor:
    """The programs' source of chance, in whole numbers of 64 bits."""
    x = (x ^ (x >> 16)) * 0x7FEB352D & BITS
    x = (x ^ (x >> 15)) * 0x846CA68B & BITS
    return x ^ (x >> 16)


def kept(seeds: list[int], dropout: float, length: int) -> torch.Tensor:
    """What each weight of two texts is multiplied with, `[b h q k]`."""
    row = mixed_up(torch.arange(2 * HEADS * length) + seeds[0] & BITS)
    row = mixed_up(row ^ seeds[1])
    chance = mixed_up(row[:, None] ^ (torch.arange(length) * 0x9E3779B9 & BITS))
    return ((chance >> 8) * 2**-24 >= dropout).view(2, HEADS, length, length) / (1 - dropout)


def compare(length: int, padding: int, ahead: bool, dropout: float, first: int = 2) -> None:
    rule = BigBird(16, first=first, near=1, random=1, seed=3, ahead=ahead)
    torch.manual_seed(length)
    at, inputs = line(2, length), [torch.randn(2, HEADS, length, 32) for _ in range(3)]
    if padding:
        at = replace(at, present=torch.arange(length) < torch.tensor([[length], [length - padding]]))
    there = at.present[:, None, :, None] if at.present is not None else 1.0
    results = []
    for own in (True, False):
        tensors = [x.clone().requires_grad_() for x in inputs]
        torch.manual_seed(7)
        if own:
            context = sparse(*tensors, blocks=rule, scale=32**-0.5, present=at.present, dropout=dropout)
        else:
            seeds = torch.randint(2**31 - 1, (2,), dtype=torch.int32).tolist()
            found = attended(*tensors, sight=Sight(bigbird(rule), at, at), score=ScaledDot())
            context = found.weights * kept(seeds, dropout, length) @ tensors[2]
        context = context * there
        results.append([context, *torch.autograd.grad((context.square() + context).sum(), tensors)])
    for mine, expected in zip(*results, strict=True):
        same(mine, expected)
    print(f"{length} tokens, {padding} of padding, {first} first, ahead {ahead}, dropout {dropout}: equal")


def chance_is_fair() -> None:
    """As many are dropped as asked for, in each row and column, and no two rows, heads or texts drop alike."""
    length = 256
    dropped = kept([123_456, 98_765_432], 0.1, length) == 0
    assert abs(dropped.float().mean() - 0.1) < 0.002
    for axis in (-1, -2):
        shares = dropped.float().mean(axis)
        assert abs(shares.std() - (0.1 * 0.9 / length) ** 0.5) < 0.002, "rows and columns differ as by chance"
    rows = torch.cat([dropped.flatten(0, 2), (kept([98_765, 1_234_567], 0.1, length) == 0).flatten(0, 2)]).float()[::5]
    alike = torch.corrcoef(rows).fill_diagonal_(0.0)
    assert alike.abs().max() < 0.4, "a row of 256 reaches 0.4 by chance once in 10^10 times"
    print("dropped by chance")


for ahead in (True, False):
    for length, padding in TEXTS:
        compare(length, padding, ahead, dropout=0.3 if ahead == (padding > 0) else 0.0)
    compare(*TEXTS[3], ahead, dropout=0.0, first=0)
chance_is_fair()
