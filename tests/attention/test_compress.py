"""Compressions against loops over tokens; what they do with padding, with the future, and before the first step."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from regard.attention.cache import KeyValues
from regard.attention.compress import Compression, Projected, Strided
from regard.attention.heads import MultiHead
from regard.attention.look import Look
from regard.attention.patterns import causal
from tests.helpers import line, refused, same


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


def test_a_stride_of_one_that_changes_nothing_is_plain_attention() -> None:
    strided = Strided(2, 11, stride=1)
    with torch.no_grad():
        for weight in (strided.keys, strided.values):
            weight.copy_(torch.eye(11))
    x, at = torch.randn(2, 7, 22), line(2, 7)
    same(compressed(strided)(x, at), compressed(Compression())(x, at))
    assert strided.names(["a", "b"]) == ["a", "b"]


@pytest.mark.parametrize("stride", [1, 3, 4])
def test_through_a_cache_each_token_makes_one_mix_more(stride: int) -> None:
    """Rows of different lengths, exchanged and shortened on the way, equal to all tokens read at once."""
    attention, texts = compressed(strided := Strided(2, 11, stride)), torch.randn(3, 29, 22)
    cache, lengths = KeyValues(1, 3, 40), torch.tensor([11, 4, 7])
    expected = [attention(text[None], line(1, 29))[0] for text in texts]

    def read(tokens: torch.Tensor, present: torch.Tensor | None = None) -> torch.Tensor:
        at = cache.places(tokens[..., 0].long(), present)
        got = attention(tokens, at, cache=cache.layers[0])
        cache.advance(at)
        return got

    read(texts[:, :11], torch.arange(11) < lengths[:, None])
    made, steps = [], strided._steps
    strided._steps = lambda x, weight: made.append(x.shape[2] // stride) or steps(x, weight)
    for step in range(12):
        if step == 5:
            cache.reorder(torch.tensor([2, 0, 1]))
            texts, lengths, expected = texts[[2, 0, 1]], lengths[[2, 0, 1]], [expected[i] for i in (2, 0, 1)]
        if step == 8:
            cache.trim(9)
            lengths = lengths.clamp(max=9)
        got = read(torch.stack([text[n : n + 1] for text, n in zip(texts, lengths, strict=True)]))
        for row, n in enumerate(lengths):
            same(got[row, 0], expected[row][n])
        lengths = lengths + 1
    assert made == [1] * 24, "of keys and of values"


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
    with torch.no_grad():
        for weight in {projected.keys, projected.values}:
            weight.normal_()
    key, value = torch.randn(2, 2, length, 7), torch.randn(2, 2, length, 7)
    present = torch.arange(length) < torch.tensor([[length], [max(1, length - 2)]])
    got = projected(key, value, replace(line(2, length), present=present))
    for short, given, weight in ((got[0], key, projected.keys), (got[1], value, projected.values)):
        for row in range(2):
            for slot in range(3):
                terms = [weight[slot, t] * given[row, :, t] for t in range(length) if present[row, t]]
                same(short[row, :, slot], sum(terms))
    assert (projected.keys is projected.values) == shared


@pytest.mark.parametrize(("length", "mixes"), [(1, 1), (4, 1), (5, 2), (8, 2), (9, 3), (10, 3)])
def test_a_shorter_text_has_the_mixes_of_the_parts_that_it_reaches(length: int, mixes: int) -> None:
    """Alone as well as padded."""
    x, projected = torch.randn(2, 2, 11, 7), Projected(11, 3, shared=True)
    padded = projected(x, x, replace(line(2, 11), present=torch.arange(11)[None].expand(2, -1) < length))[2]
    alone = projected(x[:, :, :length], x[:, :, :length], line(2, length))[2]
    assert padded.present.tolist() == alone.present.tolist() == [[i < mixes for i in range(3)]] * 2


def test_of_texts_as_long_as_its_places_no_mix_is_hidden() -> None:
    x = torch.randn(2, 2, 11, 7)
    assert Projected(11, 3, shared=True)(x, x, line(2, 11))[2].present is None


@pytest.mark.parametrize("size", [1, 3, 5, 11])
def test_a_mix_begins_as_the_sum_of_its_part(size: int) -> None:
    x = torch.randn(1, 1, 11, 7)
    got = Projected(11, size, shared=False)(x, x, line(1, 11))[0]
    for mix, (begin, end) in enumerate(pairwise(-(-11 * n // size) for n in range(size + 1))):
        same(got[0, 0, mix], x[0, 0, begin:end].sum(0) / (end - begin) ** 0.5)


@pytest.mark.parametrize("length", [1, 5, 11])
def test_a_mix_for_each_place_begins_as_plain_attention(length: int) -> None:
    torch.manual_seed(2)
    attention, x = MultiHead(22, 2, Look("encoder")), torch.randn(2, length, 22)
    expected = attention(x, line(2, length))
    attention.look.compress = Projected(11, 11, shared=False)
    same(attention(x, line(2, length)), expected)


def test_more_mixes_than_places_are_refused() -> None:
    with refused("system.projected = 12 mixes of system.context = 11 tokens: take at most 11"):
        Projected(11, 12, shared=True)


def test_a_text_longer_than_the_places_of_a_projection_is_refused() -> None:
    x = torch.randn(1, 2, 12, 7)
    with refused("a text of 12 tokens; system.context = 11"):
        Projected(11, 3, shared=True)(x, x, line(1, 12))


def test_no_compression_changes_nothing() -> None:
    key, value, at = torch.randn(1, 2, 5, 3), torch.randn(1, 2, 5, 3), line(1, 5)
    assert Compression()(key, value, at) == (key, value, at)


def test_a_cache_that_was_emptied_begins_anew() -> None:
    attention, (old, new) = compressed(Strided(2, 11, 3)), torch.randn(2, 1, 5, 22)
    cache, expected = KeyValues(1, 1, 40), attention(new, line(1, 5))

    def read(token: torch.Tensor) -> torch.Tensor:
        at = cache.places(token[..., 0].long())
        got = attention(token, at, cache=cache.layers[0])
        cache.advance(at)
        return got

    read(old)
    cache.trim(0)
    for n in range(5):
        same(read(new[:, n : n + 1])[:, 0], expected[:, n])
