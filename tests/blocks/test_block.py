"""A block is its sublayers in order, and a stack is blocks in order (B10)."""

import pytest
import torch

from regard.attention.heads import MultiHead
from regard.attention.look import Look
from regard.attention.patterns import causal
from regard.attention.positions import Position
from regard.blocks.block import Block, Stack
from regard.blocks.embedding import Embedding
from regard.blocks.feedforward import FEEDFORWARDS
from regard.blocks.memory import Memory
from regard.blocks.residual import PostNorm, PreNorm
from tests.helpers import line, place, same


def made(residual: type, *, cross: bool) -> Block:
    return Block(
        MultiHead(22, 2, Look("decoder", pattern=causal)),
        FEEDFORWARDS["relu"](22, 37),
        lambda: residual(torch.nn.LayerNorm(22)),
        cross=MultiHead(22, 2, Look("cross")) if cross else None,
    ).eval()


def test_a_decoder_block_looks_at_itself_then_at_the_memory_then_thinks() -> None:
    block, x, at = made(PostNorm, cross=True), torch.randn(3, 5, 22), line(3, 5)
    memory = Memory(torch.randn(3, 7, 22), line(3, 7))
    y = block.around_attention.norm(x + block.attention(x, at))
    looked = block.cross.across(y, at, *block.cross.key_value(memory.vectors), memory.at)
    y = block.around_cross.norm(y + looked)
    y = block.around_feedforward.norm(y + block.feedforward(y))
    same(block(x, at, memory=memory), y)


def test_an_encoder_block_has_no_cross_attention() -> None:
    block, x, at = made(PreNorm, cross=False), torch.randn(3, 5, 22), line(3, 5)
    y = x + block.attention(block.around_attention.norm(x), at)
    y = y + block.feedforward(block.around_feedforward.norm(y))
    same(block(x, at), y)


def test_a_decoder_block_without_a_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="no memory to look at"):
        made(PostNorm, cross=True)(torch.randn(3, 5, 22), line(3, 5))


def test_a_stack_is_its_blocks_in_order() -> None:
    blocks = [made(PreNorm, cross=False) for _ in range(3)]
    stack = Stack(Embedding(11, 22, Position(), std=1.0), blocks, torch.nn.LayerNorm(22)).eval()
    tokens, at = torch.randint(0, 11, (3, 5)), line(3, 5)
    x = stack.embedding(tokens, at)
    for block in blocks:
        x = block(x, at)
    same(stack(tokens, at), stack.norm(x))


def test_a_memory_follows_the_order_of_its_rows() -> None:
    vectors = torch.randn(3, 7, 22)
    memory = Memory(vectors, place([[0, 1]] * 3, present=[[True, True], [True, False], [False, False]]))
    moved = memory.reorder(torch.tensor([2, 0]))
    assert torch.equal(moved.vectors, vectors[[2, 0]])
    assert moved.at.present.tolist() == [[False, False], [True, True]]


def test_a_block_without_a_feed_forward_layer_is_its_attention() -> None:
    block, x, at = made(PreNorm, cross=False), torch.randn(3, 5, 22), line(3, 5)
    bare = Block(block.attention, None, lambda: block.around_attention).eval()
    same(bare(x, at), x + block.attention(block.around_attention.norm(x), at))
