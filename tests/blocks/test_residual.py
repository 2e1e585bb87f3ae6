"""Add & Norm after, or norm before (B9)."""

import pytest
import torch

from regard.blocks.residual import RESIDUALS, PostNorm, PreNorm
from regard.systems.transformer import Transformer
from tests.helpers import same


def double(x: torch.Tensor) -> torch.Tensor:
    return 2 * x + 1


def normed(x: torch.Tensor) -> torch.Tensor:
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()


def test_before_and_after_equal_their_formulas() -> None:
    x = 3 + 2 * torch.randn(2, 5, 7)
    same(PreNorm(torch.nn.LayerNorm(7))(x, double), x + double(normed(x)))
    same(PostNorm(torch.nn.LayerNorm(7))(x, double), normed(x + double(x)))


@pytest.mark.parametrize("kind", RESIDUALS)
def test_dropout_falls_on_the_sublayer_and_never_on_the_stream(kind: str) -> None:
    around, x = RESIDUALS[kind](torch.nn.Identity(), dropout=0.5), torch.randn(2, 5, 7)
    added = around(x, lambda y: torch.ones_like(y)) - x
    assert set(added.round().unique().tolist()) == {0.0, 2.0}


@pytest.mark.parametrize(("norm", "closes"), [("pre", True), ("post", False)])
def test_only_an_unnormalised_stream_is_closed_by_a_norm(norm: str, closes: bool) -> None:
    model = Transformer(width=14, heads=2, norm=norm, normalizer="layer").build(11)
    for stack in (model.encoder, model.decoder):
        assert isinstance(stack.norm, torch.nn.LayerNorm) == closes


def test_a_sublayer_that_adds_nothing_leaves_a_prenorm_stream_alone() -> None:
    x = torch.randn(2, 5, 7)
    assert torch.equal(PreNorm(torch.nn.LayerNorm(7))(x, torch.zeros_like), x)


@pytest.mark.parametrize("kind", RESIDUALS)
def test_what_does_not_add_keeps_nothing_of_what_it_was_given(kind):
    x = torch.randn(2, 5, 7)
    around = RESIDUALS[kind](torch.nn.Identity(), adds=False)
    same(around(x, lambda y: 3 * y), 3 * x)
    assert torch.equal(around(x, torch.zeros_like), torch.zeros_like(x))
