"""Compression collapses to plain attention at stride 1 and never shows a query its own future."""

from dataclasses import replace

import pytest
import torch

from regard.attention.compress import Compression, Pool
from regard.attention.heads import MultiHead
from regard.attention.look import Look
from regard.attention.patterns import causal
from tests.helpers import line, same


def pooled(compress: Compression | None) -> MultiHead:
    torch.manual_seed(2)
    return MultiHead(22, 2, Look("decoder", pattern=causal, compress=compress))


def test_pooling_one_by_one_is_plain_attention() -> None:
    x, at = torch.randn(3, 13, 22), line(3, 13)
    assert torch.equal(pooled(Pool(1))(x, at), pooled(None)(x, at))


def test_pooling_takes_the_mean_of_each_complete_block() -> None:
    key, value = torch.randn(2, 3, 13, 5), torch.randn(2, 3, 13, 7)
    at = replace(line(2, 13), present=torch.arange(13) < torch.tensor([[13], [9]]))
    short_key, short_value, where = Pool(5)(key, value, at)
    assert short_key.shape == (2, 3, 2, 5) and short_value.shape == (2, 3, 2, 7)
    for block in range(2):
        same(short_key[:, :, block], sum(key[:, :, 5 * block + i] for i in range(5)) / 5)
        same(short_value[:, :, block], sum(value[:, :, 5 * block + i] for i in range(5)) / 5)
    assert where.index.tolist() == [[4, 9], [4, 9]]
    assert where.present.tolist() == [[True, True], [True, False]], "a block with padding in it is not there"


@pytest.mark.parametrize("stride", [1, 2, 3, 5])
def test_pooling_never_leaks_the_future(stride: int) -> None:
    attention, at = pooled(Pool(stride)), line(1, 13)
    x = torch.randn(1, 13, 22)
    for place in range(13):
        changed = x.clone()
        changed[:, place:] += torch.randn(1, 13 - place, 22)
        same(attention(changed, at)[:, :place], attention(x, at)[:, :place])


def test_before_the_first_block_is_complete_there_is_nothing_to_see() -> None:
    attention, at = pooled(Pool(5)), line(1, 13)
    context = attention(torch.randn(1, 13, 22), at) - attention.output.bias
    assert not context[:, :4].any()
    assert context[:, 4:].any(-1).all()


def test_a_text_shorter_than_a_block_sees_nothing() -> None:
    attention = pooled(Pool(5))
    got = attention(torch.randn(1, 3, 22), line(1, 3))
    same(got, attention.output.bias.expand(1, 3, 22))
