"""Recurrence and attention one vector at a time, as the papers write them: slow, and nothing of the package's own."""

import math

import torch
from torch import Tensor

from regard.blocks.alignment import Alignment
from regard.blocks.recurrent import RecurrentLayer

State = list[Tensor]  # the hidden vector and, of an LSTM, the cell


def gates(layer: RecurrentLayer, x: Tensor, h: Tensor) -> list[tuple[Tensor, Tensor]]:
    """W x + b and U h + c of each gate, in the order in which torch keeps them."""
    into, again, b, c = layer.fused.all_weights[0]
    size = layer.fused.hidden_size
    return list(zip((into @ x + b).split(size), (again @ h + c).split(size), strict=True))


def step(layer: RecurrentLayer, x: Tensor, state: State) -> State:
    """The next state of one cell."""
    sums = gates(layer, x, state[0])
    if layer.cell.name == "rnn":  # h = tanh(W x + U h)
        return [torch.tanh(sums[0][0] + sums[0][1])]
    if layer.cell.name == "gru":  # n = tanh(W x + r (U h)), h = (1 - z) n + z h
        reset, update = ((one + other).sigmoid() for one, other in sums[:2])
        new = torch.tanh(sums[2][0] + reset * sums[2][1])
        return [(1 - update) * new + update * state[0]]
    enter, forget, new, out = (one + other for one, other in sums)  # c = f c + i g, h = o tanh c
    cell = forget.sigmoid() * state[1] + enter.sigmoid() * torch.tanh(new)
    return [out.sigmoid() * torch.tanh(cell), cell]


def nothing(layer: RecurrentLayer) -> State:
    return [layer.fused.weight_hh_l0.new_zeros(layer.fused.hidden_size) for _ in range(layer.parts)]


def through(layer: RecurrentLayer, words: list[Tensor], state: State | None = None) -> tuple[list[Tensor], State]:
    """The hidden vector at each word and the state at the end; a backward layer ends at the first word."""
    state = nothing(layer) if state is None else state
    outputs = []
    for x in reversed(words) if layer.backward else words:
        state = step(layer, x, state)
        outputs.append(state[0])
    return (outputs[::-1] if layer.backward else outputs), state


def beside(*parts: Tensor) -> Tensor:
    return torch.cat(parts)


def fit(alignment: Alignment, query: Tensor, vector: Tensor) -> Tensor:
    """How well a query fits one vector of the memory, by the name of the score."""
    score = alignment.look.score
    match type(score).__name__:
        case "Dot":
            return query @ vector
        case "ScaledDot":
            return query @ vector / math.sqrt(len(query))
        case "Bilinear":
            return query @ score.between[0] @ vector
        case "Additive":
            return score.judge[0] @ torch.tanh(query @ score.from_query[0] + alignment.to_key.weight @ vector)
    raise AssertionError(score)


def found(alignment: Alignment, query: Tensor, memory: list[Tensor]) -> Tensor:
    """The mix of the memory, each vector by its share of e^score."""
    shares = [math.e ** fit(alignment, query, vector) for vector in memory]
    return sum(share * vector for share, vector in zip(shares, memory, strict=True)) / sum(shares)
