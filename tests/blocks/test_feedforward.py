"""Feed-forward layers against their formulas, number by number (B8)."""

import math

import pytest
import torch

from regard.blocks.feedforward import FEEDFORWARDS
from regard.systems.gpt import Gpt
from tests.helpers import same

WIDTH, HIDDEN = 5, 7


def relu(x: float) -> float:
    return max(0.0, x)


def gelu(x: float) -> float:
    return x * 0.5 * (1 + math.erf(x / math.sqrt(2)))


def gelu_tanh(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x: float) -> float:
    return x / (1 + math.exp(-x))


def linear(layer: torch.nn.Linear, x: list[float]) -> list[float]:
    """x W + b, one output at a time."""
    bias = layer.bias.tolist() if layer.bias is not None else [0.0] * layer.out_features
    return [
        sum(w * v for w, v in zip(row, x, strict=True)) + b for row, b in zip(layer.weight.tolist(), bias, strict=True)
    ]


def slow(kind: str, layer: torch.nn.Module, x: list[float]) -> list[float]:
    if kind in (gates := {"swiglu": silu, "geglu": gelu_tanh}):
        opened = [gates[kind](gate) for gate in linear(layer.gate, x)]
        return linear(layer.output, [a * b for a, b in zip(opened, linear(layer.widen, x), strict=True)])
    bend = {"relu": relu, "gelu": gelu, "gelu-tanh": gelu_tanh, "silu": silu}[kind]
    return linear(layer.output, [bend(h) for h in linear(layer.widen, x)])


@pytest.mark.parametrize("kind", FEEDFORWARDS)
@pytest.mark.parametrize("bias", [True, False])
def test_it_equals_its_formula(kind: str, bias: bool) -> None:
    layer = FEEDFORWARDS[kind](WIDTH, HIDDEN, bias=bias)
    x = 2 * torch.randn(2, 3, WIDTH)
    expected = [[slow(kind, layer, vector.tolist()) for vector in row] for row in x]
    same(layer(x), torch.tensor(expected))


@pytest.mark.parametrize("kind", FEEDFORWARDS)
def test_each_place_is_computed_alone(kind: str) -> None:
    """C22: everything but attention stays within one token."""
    layer, x = FEEDFORWARDS[kind](WIDTH, HIDDEN), torch.randn(2, 11, WIDTH)
    changed = x.clone()
    changed[:, 4] += 1
    difference = (layer(changed) - layer(x)).abs().sum(-1)
    assert difference[:, 4].all()
    assert not difference[:, [t for t in range(11) if t != 4]].any()


def test_the_hidden_layer_is_four_times_as_wide_unless_told() -> None:
    sizes = {"width": 14, "heads": 2, "depth": 1}
    assert Gpt(**sizes).build(11).decoder.blocks[0].feedforward.widen.out_features == 56
    assert Gpt(**sizes, hidden=37).build(11).decoder.blocks[0].feedforward.widen.out_features == 37
