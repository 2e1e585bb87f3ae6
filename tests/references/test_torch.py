"""Equality with torch's own attention and Transformer layers, pre- and post-norm, padded and causal, with gradients."""

import pytest
import torch
from torch import nn

from regard.attention.heads import MultiHead
from regard.attention.look import Look
from regard.attention.patterns import Pattern, causal, everyone
from regard.blocks.block import Block
from regard.blocks.feedforward import FEEDFORWARDS
from regard.blocks.memory import Memory
from regard.blocks.residual import RESIDUALS
from regard.place import Place
from tests.references.copy import exact, lively, put_attention, put_like

WIDTH, HEADS, HIDDEN = 22, 2, 37
PRESENT = torch.arange(11) < torch.tensor([[11], [7], [5]])


def vectors(length: int) -> torch.Tensor:
    return torch.randn(3, length, WIDTH, dtype=torch.float64, requires_grad=True)


def at(length: int, present: torch.Tensor | None = None) -> Place:
    return Place(torch.arange(length).expand(3, length), present=present)


def triangle(length: int) -> torch.Tensor:
    """torch's word is the other way round: True hides."""
    return torch.ones(length, length, dtype=torch.bool).triu(1)


def block(pattern: Pattern, norm: str, feedforward: str = "relu", *, cross: bool) -> Block:
    return Block(
        MultiHead(WIDTH, HEADS, Look("decoder", pattern=pattern)),
        FEEDFORWARDS[feedforward](WIDTH, HIDDEN),
        lambda: RESIDUALS[norm](nn.LayerNorm(WIDTH)),
        cross=MultiHead(WIDTH, HEADS, Look("cross")) if cross else None,
    ).double()


def put_block(mine: Block, theirs: nn.Module) -> None:
    put_attention(mine.attention, theirs.self_attn)
    put_like(mine.feedforward.widen, theirs.linear1)
    put_like(mine.feedforward.output, theirs.linear2)
    norms = [mine.around_attention, mine.around_feedforward]
    if mine.cross is not None:
        put_attention(mine.cross, theirs.multihead_attn)
        norms.insert(1, mine.around_cross)
    for i, around in enumerate(norms, 1):
        put_like(around.norm, getattr(theirs, f"norm{i}"))


def compare(mine: torch.Tensor, theirs: torch.Tensor, inputs: list[torch.Tensor], pairs: list) -> None:
    """The values, and the gradients of inputs and of pairs of parameters (mine, theirs)."""
    exact(mine, theirs)
    direction = torch.randn_like(mine)
    a = torch.autograd.grad(mine, [*inputs, *(p for p, _ in pairs)], direction)
    b = torch.autograd.grad(theirs, [*inputs, *(p for _, p in pairs)], direction)
    for x, y in zip(a, b, strict=True):
        exact(x, y)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("pattern", [everyone, causal], ids=["everyone", "causal"])
def test_self_attention_equals_torch(padded: bool, pattern: Pattern) -> None:
    theirs = lively(nn.MultiheadAttention(WIDTH, HEADS, batch_first=True))
    mine = MultiHead(WIDTH, HEADS, Look("decoder", pattern=pattern)).double()
    put_attention(mine, theirs)
    x = vectors(11)
    expected, _ = theirs(
        x,
        x,
        x,
        key_padding_mask=~PRESENT if padded else None,
        attn_mask=triangle(11) if pattern is causal else None,
        need_weights=False,
    )
    got = mine(x, at(11, PRESENT if padded else None))
    if padded:  # what a padded query sees is nobody's business
        got, expected = got[PRESENT], expected[PRESENT]
    compare(got, expected, [x], [(mine.output.weight, theirs.out_proj.weight)])


def test_cross_attention_and_its_weights_equal_torch() -> None:
    theirs = lively(nn.MultiheadAttention(WIDTH, HEADS, batch_first=True))
    mine = MultiHead(WIDTH, HEADS, Look("encoder")).double()
    put_attention(mine, theirs)
    x, memory = vectors(5), vectors(11)
    expected, weights = theirs(x, memory, memory, key_padding_mask=~PRESENT, average_attn_weights=False)
    seen = []
    mine.look.weights.listener = seen.append
    got = mine.across(x, at(5), *mine.key_value(memory), at(11, PRESENT))
    compare(got, expected, [x, memory], [(mine.output.weight, theirs.out_proj.weight)])
    exact(seen[0], weights)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("padded", [False, True])
def test_an_encoder_layer_equals_torch(norm: str, activation: str, padded: bool) -> None:
    theirs = lively(
        nn.TransformerEncoderLayer(
            WIDTH, HEADS, HIDDEN, dropout=0.0, activation=activation, norm_first=norm == "pre", batch_first=True
        )
    )
    mine = block(everyone, norm, activation, cross=False)
    put_block(mine, theirs)
    x = vectors(11)
    expected = theirs(x, src_key_padding_mask=~PRESENT if padded else None)
    pairs = [
        (mine.feedforward.widen.weight, theirs.linear1.weight),
        (mine.around_attention.norm.weight, theirs.norm1.weight),
    ]
    compare(mine(x, at(11, PRESENT if padded else None)), expected, [x], pairs)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("padded", [False, True])
def test_a_decoder_layer_equals_torch(norm: str, padded: bool) -> None:
    theirs = lively(
        nn.TransformerDecoderLayer(WIDTH, HEADS, HIDDEN, dropout=0.0, norm_first=norm == "pre", batch_first=True)
    )
    mine = block(causal, norm, cross=True)
    put_block(mine, theirs)
    x, memory = vectors(5), vectors(11)
    expected = theirs(
        x, memory, tgt_mask=triangle(5), memory_key_padding_mask=~PRESENT if padded else None, tgt_is_causal=True
    )
    got = mine(x, at(5), memory=Memory(memory, at(11, PRESENT if padded else None)))
    pairs = [
        (mine.cross.output.weight, theirs.multihead_attn.out_proj.weight),
        (mine.around_cross.norm.bias, theirs.norm2.bias),
    ]
    compare(got, expected, [x, memory], pairs)
