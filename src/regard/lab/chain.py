"""How many matrix products must wait for one another before a result is there (C1, C2, C13, C25).

Read off the graph that torch keeps of a computation to derive it: products that need nothing of each other stand side
by side in it, those of which one needs the other in a row. The longest row is what no machine can shorten, however
many things it does at a time. Recurrent layers are computed step by step for this, as fused kernels show no graph.

What a computation puts into one tensor counts as one thing: torch's recurrent layers hand on all their states in one,
so that the layer above waits for the last of them, and so many layers take so many times the steps of one. They need
not: where each is given a token as soon as the one below has read it, as in C1, every further layer adds one step.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from regard.explain.influence import derivable
from regard.shapes import Tensor

PRODUCTS = ("Mm", "Addmm", "Bmm", "Baddbmm", "Linear", "ScaledDotProduct")  # fused attention counts as one


@contextmanager
def step_by_step() -> Iterator[None]:
    """While this is open a computation on the CPU can be derived and shows each of its steps."""
    with derivable(), torch.backends.mkldnn.flags(enabled=False, allow_tf32=None, fp32_precision=None):
        yield


def longest_chain(result: Tensor) -> int:
    """The most matrix products that stand in a row before this result."""
    if result.grad_fn is None:
        raise ValueError("a result that was computed without its graph has no chain: compute it in `step_by_step`")
    found: dict[object, int] = {}
    waiting = [(result.grad_fn, False)]
    while waiting:
        node, seen = waiting.pop()
        before = [each for each, _ in node.next_functions if each is not None]
        if seen:
            found[node] = max((found[each] for each in before), default=0) + node.name().startswith(PRODUCTS)
        elif node not in found:
            waiting.append((node, True))
            waiting += [(each, False) for each in before if each not in found]
    return found[result.grad_fn]
