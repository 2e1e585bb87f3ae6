"""Compressions against loops over tokens; what they do with padding, with the future, and before the first step."""

from dataclasses import replace

import pytest
import torch

from regard.attention.compress import Compression, Projected, Strided
from regard.attention.heads import MultiHead
from regard.attention.look import Look
from regard.attention.patterns import causal
from tests.helpers import line, same


def compressed(compress: Compression) -> MultiHead:
    torch.manual_seed(2)
    return MultiHead(22, 2, Look("decoder", pattern=causal, compress=compress))


def test_a_stride_mixes_its_keys_and_stands_at_the_last_of_them() -> None:
    key, value = torch.randn(2, 3, 13, 5), torch.randn(2, 3, 13, 5)
    at = replace(line(2, 13), present=torch.arange(13) < torch.tensor([[13], [9]]))
    strided = Strided(3, 5, stride=4)
    short_key, short_value, where = strided(key, value, at)
    for got, given, weight in ((short_key, key, strided.keys), (short_value, value, strided.values)):
        assert got.shape == (2, 3, 4, 5)
        same(got[:, :, 0], given[:, :, 0])
        for step in range(3):
            for head in range(3):
                each = [given[:, head, 4 * step + i] @ weight[head, 5 * i : 5 * i + 5] for i in range(4)]
                same(got[:, head, 1 + step], sum(each))
    assert where.index.tolist() == [[0, 3, 7, 11]] * 2
    assert where.present.tolist() == [[True] * 4, [True, True, True, False]], "a mix with padding in it is not there"


@pytest.mark.parametrize("stride", [1, 2, 3, 5])
def test_a_stride_never_leaks_the_future(stride: int) -> None:
    attention, at = compressed(Strided(2, 11, stride)), line(1, 13)
    x = torch.randn(1, 13, 22)
    for place in range(13):
        changed = x.clone()
        changed[:, place:] += torch.randn(1, 13 - place, 22)
        same(attention(changed, at)[:, :place], attention(x, at)[:, :place])


@pytest.mark.parametrize("length", [3, 13])
def test_before_the_first_step_is_complete_the_first_token_is_all_there_is_to_see(length: int) -> None:
    attention, x = compressed(Strided(2, 11, stride=5)), torch.randn(1, length, 22)
    first = attention.output(attention.to_value(x[:, :1]))
    got = attention(x, line(1, length))
    same(got[:, :4], first.expand(1, min(4, length), 22))
    assert not torch.isclose(got[:, 4:], first).all(-1).any(), "from then on there is more"


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("length", [1, 5, 11])
def test_a_projection_is_a_weighted_sum_over_the_places_that_are_there(shared: bool, length: int) -> None:
    projected = Projected(11, 3, shared=shared)
    key, value = torch.randn(2, 2, length, 7), torch.randn(2, 2, length, 7)
    present = torch.arange(length) < torch.tensor([[length], [max(1, length - 2)]])
    got = projected(key, value, replace(line(2, length), present=present))
    for short, given, weight in ((got[0], key, projected.keys), (got[1], value, projected.values)):
        for row in range(2):
            for slot in range(3):
                terms = [weight[slot, t] * given[row, :, t] for t in range(length) if present[row, t]]
                same(short[row, :, slot], sum(terms))
    assert got[2].present is None, "a mix is always there"
    assert (projected.keys is projected.values) == shared


def test_no_compression_changes_nothing() -> None:
    key, value, at = torch.randn(1, 2, 5, 3), torch.randn(1, 2, 5, 3), line(1, 5)
    assert Compression()(key, value, at) == (key, value, at)
