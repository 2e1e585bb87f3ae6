"""Norms against their formulas (B9). The lectures' slips: "unit mean" is zero mean, and the mean has its 1/d."""

import math

import pytest
import torch

from regard.blocks.norms import normalizer
from tests.helpers import refused, same


def test_layer_norm_gives_zero_mean_and_unit_variance() -> None:
    x = 3 + 5 * torch.randn(2, 5, 101)
    y = normalizer("layer", 101)(x)
    same(y.mean(-1), torch.zeros(2, 5))
    same(y.var(-1, unbiased=False), torch.ones(2, 5))


def test_layer_norm_equals_its_formula() -> None:
    norm = normalizer("layer", 7).requires_grad_(False)
    norm.weight.normal_()
    norm.bias.normal_()
    x = torch.randn(7)
    mean = sum(x.tolist()) / 7
    variance = sum((v - mean) ** 2 for v in x.tolist()) / 7
    expected = [(v - mean) / math.sqrt(variance + 1e-5) for v in x.tolist()]
    same(norm(x), torch.tensor(expected) * norm.weight + norm.bias)


def test_rms_norm_equals_its_formula() -> None:
    norm = normalizer("rms", 7).requires_grad_(False)
    norm.weight.normal_()
    x = torch.randn(7)
    root = math.sqrt(sum(v * v for v in x.tolist()) / 7 + 1e-5)
    same(norm(x), x / root * norm.weight)
    assert [name for name, _ in norm.named_parameters()] == ["weight"]


@pytest.mark.parametrize("kind", ["layer", "rms"])
def test_what_is_added_to_the_variance_can_be_chosen(kind: str) -> None:
    """It tells where the variance is as small: 0.01 here, in a vector without a mean."""
    x = 0.1 * torch.tensor([1.0, -1.0, 1.0, -1.0])
    same(normalizer(kind, 4, 0.03)(x), x / math.sqrt(0.01 + 0.03))
    same(normalizer(kind, 4, 1e-12)(x), 10 * x)


@pytest.mark.parametrize("kind", ["layer", "rms"])
def test_a_vector_of_zeros_stays_finite(kind: str) -> None:
    assert not normalizer(kind, 7)(torch.zeros(7)).any()


def test_an_unknown_norm_is_suggested() -> None:
    with refused("no normalizer 'layers'; did you mean 'layer'?"):
        normalizer("layers", 7)


def test_no_norm_leaves_vectors_as_they_are() -> None:
    x = torch.randn(2, 5, 7)
    assert torch.equal(normalizer("none", 7)(x), x)
