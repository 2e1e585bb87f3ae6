"""Weights of other people's layers put into ours, and a model large enough in its weights that a mistake shows."""

import torch
from torch import Tensor, nn

from regard.attention.heads import MultiHead


def lively(module: nn.Module) -> nn.Module:
    """In double precision and away from the ones and zeros that norms and biases begin with."""
    module.double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += 0.2 * torch.randn_like(parameter)
    return module


def put(layer: nn.Module, weight: Tensor, bias: Tensor | None = None) -> None:
    """One linear layer, norm or table."""
    with torch.no_grad():
        layer.weight.copy_(weight)
        if bias is not None:
            layer.bias.copy_(bias)


def put_like(layer: nn.Module, theirs: nn.Module) -> None:
    put(layer, theirs.weight, getattr(theirs, "bias", None))


def put_attention(mine: MultiHead, theirs: nn.MultiheadAttention) -> None:
    """torch keeps the three projections in one matrix, one above the other."""
    weights, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
    for layer, weight, bias in zip((mine.to_query, mine.to_key, mine.to_value), weights, biases, strict=True):
        put(layer, weight, bias)
    put_like(mine.output, theirs.out_proj)


def exact(a: Tensor, b: Tensor) -> None:
    """Equal up to the rounding of double precision."""
    torch.testing.assert_close(a, b, rtol=1e-7, atol=1e-9)
