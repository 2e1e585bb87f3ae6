"""Equality with slow loops written from the papers' equations: one place and one tap of a window at a time."""

import math
from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn

from regard.blocks.convolution import Causal, Centred, Convolution, Tails
from regard.blocks.memory import Memory
from regard.place import Place
from regard.systems.bytenet import ByteNet, ByteNetBlock
from regard.systems.convs2s import ConvS2S, LookingLayer
from regard.systems.window_lm import WindowLm
from tests.references.copy import exact, lively

Row = list[Tensor]  # the vectors of one text
WIDTH, VOCABULARY = 14, 31


def slow_convolution(layer: Convolution, row: Row) -> Row:
    """y_t = b + sum over the window of W_j x_{t + o_j}, where outside the text x = 0."""
    taps = layer.mix.weight.split(len(row[0]), dim=1)
    first = 1 - layer.kernel if isinstance(layer, Causal) else -(layer.kernel // 2)
    found = []
    for t in range(len(row)):
        y = layer.mix.bias
        for j, tap in enumerate(taps):
            if 0 <= (place := t + (first + j) * layer.dilation) < len(row):
                y = y + tap @ row[place]
        found.append(y)
    return found


def slow_norm(norm: nn.LayerNorm, x: Tensor) -> Tensor:
    return (x - x.mean()) / ((x - x.mean()).square().mean() + 1e-5).sqrt() * norm.weight + norm.bias


def slow_linear(layer: nn.Linear, x: Tensor) -> Tensor:
    return layer.weight @ x + layer.bias


def slow_block(block: ByteNetBlock, row: Row) -> Row:
    """Kalchbrenner et al., figure 3: norm, ReLU, 1x1 to half, norm, ReLU, 1xk, norm, ReLU, 1x1 back."""
    half = [slow_linear(block.down, slow_norm(block.before, x).clamp(min=0)) for x in row]
    seen = slow_convolution(block.convolution, [slow_norm(block.within, x).clamp(min=0) for x in half])
    return [x + slow_linear(block.up, slow_norm(block.after, y).clamp(min=0)) for x, y in zip(row, seen, strict=True)]


def slow_gated(layer: nn.Module, row: Row) -> Row:
    """Gehring et al., section 3.2: (A sigmoid(B) + x) sqrt(1/2)."""
    wide = slow_convolution(layer.convolution, row)
    halves = [(y[: len(x)], y[len(x) :]) for x, y in zip(row, wide, strict=True)]
    return [(a / (1 + (-b).exp()) + x) * math.sqrt(0.5) for x, (a, b) in zip(row, halves, strict=True)]


def slow_looking(layer: LookingLayer, row: Row, read: Row, top: Row, words: Row) -> Row:
    """Section 3.3, equations 1 and 2: d = W h + b + g; a = softmax(d . z); c = sum of a (z + e)."""
    found = []
    for h, g in zip(slow_gated(layer.layer, row), read, strict=True):
        d = (slow_linear(layer.to_query, h) + g) * math.sqrt(0.5)
        shares = [(d @ z).exp() for z in top]
        c = sum(share / sum(shares) * (z + e) * math.sqrt(0.5) for share, z, e in zip(shares, top, words, strict=True))
        found.append((h + c * len(top) * math.sqrt(1 / len(top))) * math.sqrt(0.5))
    return found


def vectors(length: int, width: int = WIDTH) -> Tensor:
    return torch.randn(1, length, width, dtype=torch.float64, requires_grad=True)


def at(length: int) -> Place:
    return Place(torch.arange(length)[None])


def rows(x: Tensor) -> Row:
    return list(x[0])


def compare(mine: Tensor, theirs: Tensor, inputs: list[Tensor]) -> None:
    exact(mine, theirs)
    direction = torch.randn_like(mine)
    both = [torch.autograd.grad(value, inputs, direction, retain_graph=True) for value in (mine, theirs)]
    for a, b in zip(*both, strict=True):
        exact(a, b)


@pytest.mark.parametrize("kind", [Causal, Centred])
@pytest.mark.parametrize(("kernel", "dilation"), [(3, 1), (5, 2), (3, 7)])
def test_a_convolution_equals_the_loop(kind: type[Causal] | type[Centred], kernel: int, dilation: int) -> None:
    layer, x = lively(kind(WIDTH, 5, kernel, dilation=dilation)), vectors(11)
    expected = torch.stack(slow_convolution(layer, rows(x)))[None]
    compare(layer(x, at(11)), expected, [x, *layer.parameters()])


@pytest.mark.parametrize("cuts", [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], [0, 2, 7, 8, 11]])
def test_a_convolution_with_a_cache_equals_the_loop(cuts: list[int]) -> None:
    layer, x, cache = lively(Causal(WIDTH, 5, 3, dilation=2)), vectors(11), Tails(1, 1, 11)
    parts = []
    for begin, end in pairwise(cuts):
        tokens = torch.zeros(1, end - begin, dtype=torch.long)
        where = cache.places(tokens)
        parts.append(layer(x[:, begin:end], where, cache=cache.layers[0]))
        cache.note(tokens, where)
    compare(torch.cat(parts, dim=1), torch.stack(slow_convolution(layer, rows(x)))[None], [x, *layer.parameters()])


@pytest.mark.parametrize("kind", [Causal, Centred])
def test_a_block_of_bytenet_equals_the_loop(kind: type[Causal] | type[Centred]) -> None:
    block, x = lively(ByteNetBlock(WIDTH, kind(WIDTH // 2, WIDTH // 2, 3, dilation=4))), vectors(11)
    compare(block(x, at(11)), torch.stack(slow_block(block, rows(x)))[None], [x, *block.parameters()])


@pytest.mark.parametrize(("source", "target"), [(7, 5), (5, 11)])
def test_bytenet_equals_the_loop_where_the_target_is_shorter_and_longer(source: int, target: int) -> None:
    """The encoder writes ceil(1.2 s) vectors, reading zeros beyond its s tokens; beyond those the decoder has zeros."""
    model = lively(ByteNet(width=WIDTH, depth=3, widest=2, stretch=1.2, dropout=0.0).build(VOCABULARY))
    words, tokens = torch.randint(VOCABULARY, (source,)), torch.randint(VOCABULARY, (target,))
    scale, zeros = math.sqrt(WIDTH), torch.zeros(WIDTH, dtype=torch.float64)
    assert model.settings.dilations == [1, 2, 1]
    row = [model.source.rows.weight[word] * scale for word in words]
    row += [zeros] * (math.ceil(1.2 * source) - source)
    for block in model.encoder.layers:
        row = slow_block(block, row)
    beneath = row + [zeros] * target
    read = [model.embedding.rows.weight[token] * scale for token in tokens]
    row = [slow_linear(model.foot, torch.cat((g, z))) for g, z in zip(read, beneath, strict=False)]
    for block in model.decoder.layers:
        row = slow_block(block, row)
    norm, _, last = model.top
    expected = [model.output.rows.weight @ slow_linear(last, slow_norm(norm, x).clamp(min=0)) for x in row]
    got = model.decode(tokens[None], model.encode(words[None]))
    compare(got, torch.stack(expected)[None], list(model.parameters()))


def test_a_layer_of_convs2s_that_looks_equals_the_loop() -> None:
    layer = lively(ConvS2S(width=WIDTH, dropout=0.0).build(VOCABULARY)).decoder.layers[0]
    x, read, top, words = vectors(5), vectors(5), vectors(7), vectors(7)
    memory = Memory(top, at(7), values=(top + words) * math.sqrt(7 * 0.5))
    expected = torch.stack(slow_looking(layer, rows(x), rows(read), rows(top), rows(words)))[None]
    compare(layer(x, at(5), read, memory), expected, [x, read, top, words, *layer.parameters()])


def test_convs2s_equals_the_loop() -> None:
    model = lively(ConvS2S(width=WIDTH, depth=2, context=13, dropout=0.0).build(VOCABULARY))
    words, tokens = torch.randint(VOCABULARY, (7,)), torch.randint(VOCABULARY, (5,))

    def embedded(table: nn.Module, ids: Tensor) -> Row:
        return [table.rows.weight[word] + table.position.table.rows.weight[i] for i, word in enumerate(ids)]

    read, source = embedded(model.embedding, tokens), embedded(model.source, words)
    top = source
    for layer in model.encoder.layers:
        top = slow_gated(layer, top)
    row = read
    for layer in model.decoder.layers:
        row = slow_looking(layer, row, read, top, source)
    expected = [model.output.rows.weight @ slow_linear(model.to_output, x) for x in row]
    got = model.decode(tokens[None], model.encode(words[None]))
    compare(got, torch.stack(expected)[None], list(model.parameters()))


def test_the_window_language_model_equals_the_loop() -> None:
    model = lively(WindowLm(width=WIDTH, depth=3, window=4, dropout=0.0).build(VOCABULARY))
    tokens = torch.randint(VOCABULARY, (13,))
    row = [model.embedding.rows.weight[token] * math.sqrt(WIDTH) for token in tokens]
    for layer in model.layers.layers:
        row = slow_gated(layer, row)
    expected = torch.stack([model.output.rows.weight @ x for x in row])[None]
    compare(model.decode(tokens[None]), expected, list(model.parameters()))
