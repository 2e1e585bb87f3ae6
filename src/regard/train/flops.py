"""Counting FLOPs: the multiplications and additions of matrix products, as torch counts them and where it does not.

torch's counter knows no fused recurrent kernel and no attention kernel of the CPU, and would count both as nothing.
A recurrent layer multiplies each token by gates * width * (inputs + width) weights, 2 FLOPs for each, and twice as much
backward. Attention is counted like torch's kernels for CUDA: over all pairs of tokens, whatever a mask hides, and
backward with the scores computed again. What is done number by number (activations, norms, softmax) is not counted.
"""

from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count

aten = torch.ops.aten
Shape = tuple[int, ...]


def recurrent(tokens: int, matrices: list[Shape]) -> int:
    """Each token by each weight matrix, once."""
    return 2 * tokens * sum(rows * columns for rows, columns in matrices)


def tokens_of(inputs: Shape) -> int:
    """All but the last axis counts tokens, be they packed or rows of one length."""
    count = 1
    for size in inputs[:-1]:
        count *= size
    return count


def on_cpu(inputs: Shape, into: Shape, again: Shape, *rest: Any, **more: Any) -> int:
    """One layer in one direction."""
    return recurrent(tokens_of(inputs), [into, again])


def on_cpu_backward(*args: Any, **more: Any) -> int:
    return 2 * on_cpu(*args)


def on_cuda(inputs: Shape, weights: list[Shape], *rest: Any, **more: Any) -> int:
    """All layers and directions; what is no matrix in the list is a bias."""
    return recurrent(tokens_of(inputs), [shape for shape in weights if len(shape) == 2])


def on_cuda_backward(*args: Any, **more: Any) -> int:
    return 2 * on_cuda(*args)


def attention(query: Shape, key: Shape, value: Shape, *rest: Any, **more: Any) -> int:
    return sdpa_flop_count(query, key, value)


def attention_backward(gradient: Shape, query: Shape, key: Shape, value: Shape, *rest: Any, **more: Any) -> int:
    return sdpa_backward_flop_count(gradient, query, key, value)


FORMULAS = {
    aten.mkldnn_rnn_layer: on_cpu,
    aten.mkldnn_rnn_layer_backward: on_cpu_backward,
    aten._cudnn_rnn: on_cuda,
    aten._cudnn_rnn_backward: on_cuda_backward,
    aten._scaled_dot_product_flash_attention_for_cpu: attention,
    aten._scaled_dot_product_flash_attention_for_cpu_backward: attention_backward,
}


def flop_counter() -> FlopCounterMode:
    """`with flop_counter() as counter: ...`, then `counter.get_total_flops()`."""
    return FlopCounterMode(display=False, custom_mapping=FORMULAS)
