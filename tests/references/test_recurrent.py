"""Recurrent layers equal torch's, and recurrent translators equal slow loops written from their papers' equations."""

import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.blocks.recurrent import CELLS, Bidirectional, Recurrent, RecurrentLayer
from regard.systems import SYSTEMS, System
from regard.tap import record
from tests.references.copy import exact, lively
from tests.references.slow_recurrence import State, beside, found, gates, step, through

LENGTHS = [11, 7, 5]
PRESENT = torch.arange(11) < torch.tensor(LENGTHS)[:, None]
every_cell = pytest.mark.parametrize("cell", CELLS)
padded_or_not = pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])


def vectors(length: int, width: int) -> Tensor:
    return torch.randn(3, length, width, dtype=torch.float64, requires_grad=True)


def put(mine: RecurrentLayer, theirs: nn.RNNBase, suffix: str) -> list[tuple[Tensor, Tensor]]:
    """Copy one layer out of torch's stack; the pairs of parameters."""
    pairs = []
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        a, b = getattr(mine.fused, f"{name}_l0"), getattr(theirs, f"{name}_{suffix}")
        with torch.no_grad():
            a.copy_(b)
        pairs.append((a, b))
    return pairs


def run(theirs: nn.RNNBase, x: Tensor, first=None, *, padded: bool) -> tuple[Tensor, Tensor]:
    """torch's output and its last states as `[b n w]`, hidden vector and cell of each layer in turn."""
    if padded:
        packed, last = theirs(pack_padded_sequence(x, torch.tensor(LENGTHS), True), first)
        y, _ = pad_packed_sequence(packed, batch_first=True)
    else:
        y, last = theirs(x, first)
    parts = torch.stack(last if isinstance(last, tuple) else (last,), dim=1)
    return y, parts.flatten(0, 1).transpose(0, 1)


def compare(mine: tuple[Tensor, ...], theirs: tuple[Tensor, ...], pairs: list[tuple[Tensor, Tensor]]) -> None:
    """Values, and gradients of one random sum of them with respect to pairs of tensors (mine, theirs)."""
    for a, b in zip(mine, theirs, strict=True):
        exact(a, b)
    directions = [torch.randn_like(a) for a in mine]
    sums = [sum((x * d).sum() for x, d in zip(side, directions, strict=True)) for side in (mine, theirs)]
    ours = torch.autograd.grad(sums[0], [a for a, _ in pairs], retain_graph=True)
    for a, b in zip(ours, torch.autograd.grad(sums[1], [b for _, b in pairs]), strict=True):
        exact(a, b)


@every_cell
@padded_or_not
@pytest.mark.parametrize("plain", [False, True], ids=["kernel", "formula"])
def test_a_stack_of_layers_equals_torch(cell: str, padded: bool, plain: bool) -> None:
    theirs = lively(CELLS[cell].fused(7, 13, num_layers=3, batch_first=True))
    mine = Recurrent(cell, 7, 13, 3, dropout=nn.Identity).double()
    for layer in mine.layers:
        layer.plain = plain
    pairs = [pair for i, layer in enumerate(mine.layers) for pair in put(layer, theirs, f"l{i}")]
    x, state = vectors(11, 7), vectors(3 * mine.parts, 13)
    first = tuple(part.contiguous() for part in state.transpose(0, 1).unflatten(0, (3, -1)).unbind(1))
    expected = run(theirs, x, first if cell == "lstm" else first[0], padded=padded)
    got = mine(x, state, PRESENT if padded else None)
    compare(got, expected, [(x, x), (state, state), *pairs])


@every_cell
@padded_or_not
@pytest.mark.parametrize("plain", [False, True], ids=["kernel", "formula"])
def test_both_ways_equals_torch(cell: str, padded: bool, plain: bool) -> None:
    theirs = lively(CELLS[cell].fused(7, 13, bidirectional=True, batch_first=True))
    mine = Bidirectional(cell, 7, 26).double()
    mine.onward.plain = mine.backward.plain = plain
    pairs = put(mine.onward, theirs, "l0") + put(mine.backward, theirs, "l0_reverse")
    x = vectors(11, 7)
    y, last = run(theirs, x, padded=padded)
    ahead, back = last.chunk(2, dim=1)
    got = mine(x, PRESENT if padded else None)
    compare(got, (y, torch.cat((ahead, back), dim=-1)), [(x, x), *pairs])


@every_cell
@pytest.mark.parametrize("backward", [False, True], ids=["onward", "backward"])
def test_a_layer_equals_its_equations(cell: str, backward: bool) -> None:
    layer = lively(RecurrentLayer(cell, 7, 13, backward=backward))
    x = vectors(11, 7)
    got, last = layer(x, None, PRESENT)
    for row, length in enumerate(LENGTHS):
        outputs, state = through(layer, list(x[row, :length]))
        exact(got[row, :length], torch.stack(outputs))
        exact(last[row], torch.stack(state))


@every_cell
def test_one_token_at_a_time_equals_the_kernel_for_all(cell: str) -> None:
    """In value and in gradient: these are two ways through torch."""
    layer = lively(RecurrentLayer(cell, 7, 13))
    x, first = vectors(11, 7), vectors(layer.parts, 13)
    state, outputs = first, []
    for token in x.split(1, dim=1):
        y, state = layer(token, state, None)
        outputs.append(y)
    pairs = [(p, p) for p in (x, first, *layer.parameters())]
    compare((torch.cat(outputs, dim=1), state), layer(x, first, None), pairs)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize("backward", [False, True], ids=["onward", "backward"])
def test_the_gates_that_are_shown_are_those_that_act(cell: str, backward: bool) -> None:
    """What was read, the state before and the gates shown give the next hidden vector."""
    layer = lively(RecurrentLayer(cell, 7, 13, backward=backward))
    x, first = vectors(11, 7), vectors(layer.parts, 13)
    with record(layer, "*") as seen:
        y, _ = layer(x, first, PRESENT)
    exact(seen["states"], y)
    for row, length in enumerate(LENGTHS):
        state = list(first[row])
        for t in reversed(range(length)) if backward else range(length):
            opened, sums = seen["gates"][row, t], gates(layer, x[row, t], state[0])
            new = sums[2]
            if cell == "gru":
                reset, update = opened
                hidden = (1 - update) * torch.tanh(new[0] + reset * new[1]) + update * state[0]
            else:
                enter, forget, out = opened
                hidden = out * torch.tanh(forget * state[1] + enter * torch.tanh(new[0] + new[1]))
            state = step(layer, x[row, t], state)
            exact(hidden, y[row, t])


# Translators


def built(kind: str, **settings) -> System:
    torch.manual_seed(5)
    small = {"width": 14, "depth": 3, "dropout": 0.0}
    return lively(SYSTEMS[kind](**{**small, **settings}).build(31)).eval()


def words(embedding, tokens: Tensor) -> list[Tensor]:
    return [embedding.rows.weight[token] * math.sqrt(14) for token in tokens]


def equal(model: System, slow) -> None:
    """`slow(model, source, target)` gives the vector that each next word is read from, for one row without padding."""
    source, tokens = torch.randint(4, 31, (3, 11)), torch.randint(4, 31, (3, 13))
    with torch.no_grad():
        got = model.decode(tokens, model.encode(source, PRESENT))
        for row, length in enumerate(LENGTHS):
            written = slow(model, words(model.source, source[row, :length]), words(model.embedding, tokens[row]))
            exact(got[row], torch.stack(written) @ model.output.rows.weight.T)


def climbed(layers, xs: list[Tensor], states: list[State | None]) -> tuple[list[Tensor], list[State]]:
    """Plain layers one on the other."""
    last = []
    for layer, first in zip(layers, states, strict=True):
        xs, state = through(layer, xs, first)
        last.append(state)
    return xs, last


def slow_seq2seq(model, source: list[Tensor], target: list[Tensor]) -> list[Tensor]:
    """Sutskever: h_0 of the decoder is the encoder's end. Cho: c also enters each step and each choice of a word."""
    assert all(layer.backward == model.settings.reversed for layer in model.encoder.layers)
    _, states = climbed(model.encoder.layers, source, [None] * 3)
    if not model.every:
        return climbed(model.decoder.layers, target, states)[0]
    c = states[-1][0]
    tops, _ = climbed(model.decoder.layers, [beside(y, c) for y in target], states)
    return [model.mix(beside(h, c, y)) for h, y in zip(tops, target, strict=True)]


@every_cell
@pytest.mark.parametrize("enters", ["start", "every"])
@pytest.mark.parametrize("reverse", [False, True], ids=["onward", "reversed"])
def test_seq2seq_equals_its_equations(cell: str, enters: str, reverse: bool) -> None:
    equal(built("seq2seq", cell=cell, enters=enters, reversed=reverse), slow_seq2seq)


def both_ways(layer: Bidirectional, xs: list[Tensor]) -> tuple[list[Tensor], State]:
    (ahead, one), (back, other) = through(layer.onward, xs), through(layer.backward, xs)
    side_by_side = [beside(a, b) for a, b in zip(ahead, back, strict=True)]
    return side_by_side, [beside(a, b) for a, b in zip(one, other, strict=True)]


def encoded(model, source: list[Tensor]) -> tuple[list[Tensor], list[State]]:
    memory, states = source, []
    for layer in model.encoder:
        memory, state = both_ways(layer, memory)
        states.append(state)
    return memory, states


def slow_before(model, source: list[Tensor], target: list[Tensor]) -> list[Tensor]:
    """Bahdanau: c_i from s_{i-1}, s_i from y_i and c_i; a word from tanh(W [s_i, c_i])."""
    (memory, states), written = encoded(model, source), []
    for y in target:
        c = found(model.decoder.alignment, states[-1][0], memory)
        (top,), states = climbed(model.decoder.layers.layers, [beside(y, c)], states)
        written.append(torch.tanh(model.mix(beside(top, c))))
    return written


def slow_after(model, source: list[Tensor], target: list[Tensor]) -> list[Tensor]:
    """Luong: s_i first, c_i from it, o_i = tanh(W [s_i, c_i]); where it is fed, o_i is read beside the next word."""
    (memory, states), chosen, written = encoded(model, source), torch.zeros(14, dtype=torch.float64), []
    for y in target:
        inputs = beside(y, chosen) if model.feeding else y
        (top,), states = climbed(model.decoder.layers, [inputs], states)
        chosen = torch.tanh(model.mix(beside(top, found(model.alignment, top, memory))))
        written.append(chosen)
    return written


every_score = pytest.mark.parametrize("score", ["dot", "scaled-dot", "bilinear", "additive"])


@every_score
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_attention_that_looks_before_equals_its_equations(score: str, cell: str) -> None:
    equal(built("seq2seq-attention", score=score, query="previous", cell=cell), slow_before)


@every_score
@pytest.mark.parametrize("feeding", [False, True], ids=["unfed", "fed"])
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_attention_that_looks_after_equals_its_equations(score: str, feeding: bool, cell: str) -> None:
    equal(built("seq2seq-attention", score=score, query="current", feeding=feeding, cell=cell), slow_after)


def slow_gnmt(model, source: list[Tensor], target: list[Tensor]) -> list[Tensor]:
    """Wu et al.: the bottom layer's last output looks, all layers are given what it found, the third adds."""
    xs, first = both_ways(model.both_ways, source)
    states = [first]
    for number, layer in enumerate(model.encoder, 2):
        ys, last = through(layer, xs)
        xs = [x + y for x, y in zip(xs, ys, strict=True)] if number >= 3 else ys
        states.append(last)
    memory, written = xs, []
    for y in target:
        c = found(model.bottom.alignment, states[0][0], memory)
        states[0] = step(model.bottom.layers.layers[0], beside(y, c), states[0])
        x = states[0][0]
        for number, layer in enumerate(model.decoder, 2):
            states[number - 1] = step(layer, beside(x, c), states[number - 1])
            x = states[number - 1][0] + x if number >= 3 else states[number - 1][0]
        written.append(model.mix(x))
    return written


@every_cell
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_gnmt_equals_its_equations(cell: str, depth: int) -> None:
    equal(built("gnmt", cell=cell, depth=depth), slow_gnmt)


def slow_deep_att(model, source: list[Tensor], target: list[Tensor]) -> list[Tensor]:
    """Zhou et al.: f^k = W [f^{k-1}, h^{k-1}], h^k = LSTM(f^k); every second encoder layer reads backwards."""
    tops, ends = [], []
    for column, backward in ((model.onward, False), (model.backward, True)):
        xs, states = source, []
        for layer in column.layers:
            assert layer.layer.backward == backward
            fs = [layer.onward.weight @ x for x in xs]
            hs, last = through(layer.layer, fs)
            xs = [beside(f, h) for f, h in zip(fs, hs, strict=True)]
            states.append(last)
            backward = not backward
        tops.append(hs)
        ends.append(states)
    memory = [beside(a, b) for a, b in zip(*tops, strict=True)]
    states = [[beside(a, b) for a, b in zip(*pair, strict=True)] for pair in zip(*ends, strict=True)]
    written = []
    for y in target:
        c = found(model.bottom.alignment, states[0][0], memory)
        f = model.bottom.enter.weight @ beside(y, c)
        states[0] = step(model.bottom.layers.layers[0], f, states[0])
        h = states[0][0]
        for k, layer in enumerate(model.decoder, 1):
            f = layer.onward.weight @ beside(f, h)
            states[k] = step(layer.layer, f, states[k])
            h = states[k][0]
        written.append(model.mix(beside(f, h)))
    return written


@every_cell
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_deep_att_equals_its_equations(cell: str, depth: int) -> None:
    equal(built("deep-att", cell=cell, depth=depth), slow_deep_att)
