"""Our own programs for BigBird against the formula, on the CPU: run with TRITON_INTERPRET=1 in a process of its own.

The variable must be set while the programs are made and while they run, and other tests must not see it.
"""

from dataclasses import replace

import torch

from regard.attention.blocks import BigBird
from regard.attention.kernels import formula
from regard.attention.patterns import Sight, bigbird
from regard.attention.scores import ScaledDot
from regard.attention.sparse import sparse
from tests.helpers import line, same

TEXTS = [(16 * 8, 0), (16 * 9 + 5, 0), (16 * 6 - 3, 20), (9, 4)]  # whole blocks, an unfinished one, padding, no block


def compare(length: int, padding: int, ahead: bool) -> None:
    torch.manual_seed(length)
    rule = BigBird(16, first=2, near=1, random=1, seed=3, ahead=ahead)
    at, inputs = line(2, length), [torch.randn(2, 1, length, 16) for _ in range(3)]
    if padding:
        at = replace(at, present=torch.arange(length) < torch.tensor([[length], [length - padding]]))
    there = at.present[:, None, :, None] if at.present is not None else 1.0
    results = []
    for own in (True, False):
        tensors = [x.clone().requires_grad_() for x in inputs]
        if own:
            context = sparse(*tensors, blocks=rule, scale=0.25, present=at.present)
        else:
            context = formula(*tensors, sight=Sight(bigbird(rule), at, at), score=ScaledDot())
        context = context * there
        results.append([context, *torch.autograd.grad((context.square() + context).sum(), tensors)])
    for mine, expected in zip(*results, strict=True):
        same(mine, expected)
    print(f"{length} tokens, {padding} of padding, ahead {ahead}: equal")


for ahead in (True, False):
    for length, padding in TEXTS:
        compare(length, padding, ahead)
