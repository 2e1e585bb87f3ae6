"""Windows over a text: what they see, what they do not, and how they go on from a cache."""

from functools import partial
from itertools import pairwise

import pytest
import torch
from torch import nn

from regard.blocks.convolution import UNITS, Causal, Centred, ConvolutionLayer, Convolutions, Tails
from regard.place import Place
from regard.tap import record
from tests.helpers import line, refused, same

WINDOWS = pytest.mark.parametrize(("kernel", "dilation"), [(2, 1), (3, 1), (3, 2), (5, 3)])


def stack(kind: type[Causal] | type[Centred], kernel: int = 3, depth: int = 2, unit: str = "glu") -> Convolutions:
    made = partial(kind, kernel=kernel, dilation=2)
    return Convolutions([ConvolutionLayer(7, made, unit) for _ in range(depth)])


def torchs(layer: Causal | Centred, x: torch.Tensor, before: int, after: int) -> torch.Tensor:
    """The same weights in torch's convolution, whose matrix has the window last."""
    weight = layer.mix.weight.unflatten(1, (layer.kernel, -1)).transpose(1, 2)
    padded = nn.functional.pad(x.transpose(1, 2), (before, after))
    return nn.functional.conv1d(padded, weight, layer.mix.bias, dilation=layer.dilation).transpose(1, 2)


@WINDOWS
def test_a_causal_convolution_equals_torchs_with_zeros_before(kernel: int, dilation: int) -> None:
    layer, x = Causal(7, 5, kernel, dilation=dilation), torch.randn(2, 13, 7)
    same(layer(x, line(2, 13)), torchs(layer, x, (kernel - 1) * dilation, 0))


@pytest.mark.parametrize(("kernel", "dilation"), [(3, 1), (3, 2), (5, 3)])
def test_a_centred_convolution_equals_torchs_with_zeros_around(kernel: int, dilation: int) -> None:
    layer, x = Centred(7, 5, kernel, dilation=dilation), torch.randn(2, 13, 7)
    side = kernel // 2 * dilation
    same(layer(x, line(2, 13)), torchs(layer, x, side, side))


def test_a_window_without_a_middle_is_refused_in_an_encoder() -> None:
    with refused("a window of 4 has no middle for an encoder; 3 and 5 have"):
        Centred(7, 5, 4)


@pytest.mark.parametrize("kind", [Causal, Centred])
@pytest.mark.parametrize("kernel", [3, 5])
def test_a_stack_sees_as_far_as_its_reach_says_and_no_farther(kind: type[Causal] | type[Centred], kernel: int) -> None:
    layers = stack(kind, kernel)
    x, middle = torch.randn(1, 41, 7, requires_grad=True), 20
    (gradient,) = torch.autograd.grad(layers(x, line(1, 41))[0, middle].sum(), x)
    seen = gradient[0].abs().sum(-1).nonzero()[:, 0].tolist()
    assert min(seen) == middle - layers.reach
    assert max(seen) == (middle if kind is Causal else middle + layers.reach)


def test_in_an_encoder_padding_is_inert_at_every_length() -> None:
    layers, lengths = stack(Centred, depth=3), list(range(1, 14))
    x = torch.randn(13, 13, 7)
    present = torch.arange(13) < torch.tensor(lengths)[:, None]
    filled = x.masked_fill(~present[..., None], 1e6)
    together = layers(filled, Place(line(13, 13).index, present=present))
    for row, length in enumerate(lengths):
        same(together[row, :length], layers(x[row : row + 1, :length], line(1, length))[0])


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("cuts", [[0, *range(1, 14)], [0, 5, 6, 11, 13]])
def test_with_a_cache_a_stack_goes_on_where_it_was(unit: str, cuts: list[int]) -> None:
    layers, x, cache = stack(Causal, unit=unit), torch.randn(3, 13, 7), Tails(2, 3, 17)
    parts = []
    for begin, end in pairwise(cuts):
        tokens = torch.zeros(3, end - begin, dtype=torch.long)
        at = cache.places(tokens)
        parts.append(layers(x[:, begin:end], at, cache=cache))
        cache.note(tokens, at)
    same(torch.cat(parts, dim=1), layers(x, line(3, 13)))


def test_rows_of_different_lengths_keep_their_own_tails_and_change_places() -> None:
    """Three of the inputs are fewer than a layer looks back at: zeros stand before them."""
    layer, x, lengths = Causal(7, 5, 3, dilation=2), torch.randn(3, 11, 7), [7, 3, 5]
    cache = Tails(1, 3, 17)
    tokens, present = torch.zeros(3, 7, dtype=torch.long), torch.arange(7) < torch.tensor(lengths)[:, None]
    at = cache.places(tokens, present)
    layer(x[:, :7], at, cache=cache.layers[0])
    cache.note(tokens, at)
    rows = torch.tensor([2, 0, 0])
    cache.reorder(rows)
    newest = torch.stack([x[row, lengths[row] : lengths[row] + 2] for row in rows])
    got = layer(newest, cache.places(tokens[:, :2]), cache=cache.layers[0])
    for mine, row in zip(got, rows.tolist(), strict=True):
        end = lengths[row] + 2
        same(mine, layer(x[row : row + 1, :end], line(1, end))[0, -2:])


def test_a_cache_does_not_grow_with_the_text() -> None:
    layer, cache = Causal(7, 5, 3, dilation=2), Tails(1, 2, 1000)
    for _ in range(5):
        layer(torch.randn(2, 11, 7), line(2, 11), cache=cache.layers[0])
    assert cache.layers[0].kept.shape == (2, layer.reach, 7)


def test_what_was_cut_is_made_anew_from_the_tokens() -> None:
    cache, tokens = Tails(1, 2, 17), torch.randint(1, 31, (2, 5))
    layer, present = Causal(7, 5, 3), torch.tensor([[True] * 5, [True] * 4 + [False]])
    at = cache.places(tokens, present)
    layer(torch.randn(2, 5, 7), at, cache=cache.layers[0])
    cache.note(tokens, at)
    cache.trim(5)
    assert cache.lost() is None, "nothing was cut"
    cache.trim(3)
    lost, where = cache.lost()
    assert torch.equal(lost, tokens[:, :3])
    assert where.all()
    assert cache.layers[0].kept is None


def test_a_gated_unit_shows_how_far_it_is_open() -> None:
    layers, x = stack(Causal, depth=1), torch.randn(2, 13, 7)
    with record(layers, "*") as seen:
        y = layers(x, line(2, 13))
    values = layers.layers[0].convolution(x, line(2, 13))[..., :7]
    gates = seen["layers.0.unit.gates"]
    assert gates.shape == (2, 13, 7)
    same(y, (x + values * gates) * 0.5**0.5)
    assert torch.equal(seen["layers.0.states"], y)


@pytest.mark.parametrize("unit", UNITS)
def test_a_deep_stack_begins_neither_deaf_nor_deafening(unit: str) -> None:
    made = partial(Causal, kernel=3)
    layers = Convolutions([ConvolutionLayer(97, made, unit) for _ in range(12)])
    size = layers(0.1 * torch.randn(3, 41, 97), line(3, 41)).std()
    assert 0.07 < size < 0.14
