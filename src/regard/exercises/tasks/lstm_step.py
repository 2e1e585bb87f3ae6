"""One token through an LSTM (S2)."""

from collections.abc import Callable

import torch
from torch import Tensor

from regard.blocks.recurrent import CELLS
from regard.exercises.exercise import Dice, Exercise, Function, Law, Slip

State = tuple[Tensor, Tensor]


def lstm_step(x: Tensor, hidden: Tensor, cell: Tensor, into: Tensor, again: Tensor, bias: Tensor) -> State:
    """An LSTM reads one token: its gates choose what is kept, what is added and what is shown.

    x [b i] is the token's vector, hidden and cell [b w] the state so far. into [4w i], again [4w w] and bias [4w] hold
    four layers one above the other, in the order input gate, forget gate, candidate, output gate; each is its rows of
    into times x, plus its rows of again times hidden, plus bias. Gates go through a sigmoid, the candidate through
    tanh. The new cell is forget * cell + input * candidate, the new hidden vector output * tanh(new cell). Return
    both: hidden, cell.
    """
    raise NotImplementedError


def solution(x: Tensor, hidden: Tensor, cell: Tensor, into: Tensor, again: Tensor, bias: Tensor) -> State:
    return CELLS["lstm"].one(x, (hidden, cell), into, again, bias, torch.zeros_like(bias))


def stepping(change: Callable[[list[Tensor], Tensor], State]) -> Function:
    """A step that goes on from the four layers in its own way."""

    def wrong(x: Tensor, hidden: Tensor, cell: Tensor, into: Tensor, again: Tensor, bias: Tensor) -> State:
        return change(list((x @ into.T + hidden @ again.T + bias).chunk(4, dim=-1)), cell)

    return wrong


def in_order(*order: int) -> Function:
    """The four layers taken for others."""

    def change(layers: list[Tensor], cell: Tensor) -> State:
        into, forget, candidate, output = (layers[i] for i in order)
        return shown(into.sigmoid() * candidate.tanh() + forget.sigmoid() * cell, output)

    return stepping(change)


def shown(cell: Tensor, output: Tensor) -> State:
    return output.sigmoid() * cell.tanh(), cell


def no_squashing(layers: list[Tensor], cell: Tensor) -> State:
    after = layers[1].sigmoid() * cell + layers[0].sigmoid() * layers[2].tanh()
    return layers[3].sigmoid() * after, after


def old_cell(layers: list[Tensor], cell: Tensor) -> State:
    after = layers[1].sigmoid() * cell + layers[0].sigmoid() * layers[2].tanh()
    return layers[3].sigmoid() * cell.tanh(), after


def all_sigmoid(layers: list[Tensor], cell: Tensor) -> State:
    return shown(layers[1].sigmoid() * cell + layers[0].sigmoid() * layers[2].sigmoid(), layers[3])


def coupled(layers: list[Tensor], cell: Tensor) -> State:
    keep = layers[1].sigmoid()
    return shown(keep * cell + (1 - keep) * layers[2].tanh(), layers[3])


def cut_along_texts(x: Tensor, hidden: Tensor, cell: Tensor, into: Tensor, again: Tensor, bias: Tensor) -> State:
    one, two, three, four = (x @ into.T + hidden @ again.T + bias).chunk(4, 0)
    return shown(one.sigmoid() * three.tanh() + two.sigmoid() * cell, four)


def case(dice: Dice, b: int, i: int, w: int) -> tuple[Tensor, ...]:
    return tuple(dice.normal(*shape) for shape in ((b, i), (b, w), (b, w), (4 * w, i), (4 * w, w), (4 * w,)))


def keeps(function: Function, dice: Dice) -> bool:
    """With the forget gate open and the input gate shut the cell stays as it is."""
    x, hidden, cell, into, again, _ = case(dice, 3, 5, 7)
    bias = torch.tensor([-90.0, 90.0, 0.0, 0.0]).repeat_interleave(7)
    return torch.allclose(function(x, hidden, cell, into, again, bias)[1], cell, atol=1e-5)


exercise = Exercise(
    number=13,
    level="hard",
    lectures=("S2",),
    blank=lstm_step,
    solution=solution,
    gives=("hidden", "cell"),
    without=("LSTMCell", "LSTM", "lstm_cell", "lstm"),
    imports="import math\n\nimport torch\nfrom torch import Tensor\n\nState = tuple[Tensor, Tensor]",
    cases=lambda dice: [case(dice, 1, 2, 1), case(dice, 3, 5, 7), case(dice, 2, 11, 3)],
    slips=(
        Slip(
            "input and forget exchanged",
            "the first rows are the input gate's, the second the forget gate's",
            in_order(1, 0, 2, 3),
        ),
        Slip(
            "candidate and output exchanged",
            "the order is input, forget, candidate, output: the candidate's rows are the third quarter",
            in_order(0, 1, 3, 2),
        ),
        Slip(
            "no tanh on the cell",
            "what is shown is output * tanh(cell): the tanh of the new cell is missing",
            stepping(no_squashing),
        ),
        Slip("old cell shown", "the new cell is shown, not the one that was given", stepping(old_cell)),
        Slip(
            "candidate through a sigmoid", "the candidate goes through tanh: it may be negative", stepping(all_sigmoid)
        ),
        Slip("one gate for two", "input gate and forget gate are two: input is not 1 - forget", stepping(coupled)),
        Slip(
            "no bias",
            "add the bias to the four layers",
            lambda x, hidden, cell, into, again, bias: solution(x, hidden, cell, into, again, 0 * bias),
        ),
        Slip(
            "layers not turned",
            "the rows of `into` and `again` are the layers: x @ into.T + hidden @ again.T",
            lambda x, hidden, cell, into, again, bias: x @ into + hidden @ again + bias,
            (
                lambda x, hidden, cell, into, again, bias: x @ into.T + hidden @ again + bias,
                lambda x, hidden, cell, into, again, bias: into @ x + again @ hidden + bias,
                lambda x, hidden, cell, into, again, bias: into @ x.T + again @ hidden.T + bias,
            ),
        ),
        Slip(
            "cut along the texts",
            "the four layers stand side by side in the last axis, chunk(4, dim=-1); the first axis is that of texts",
            cut_along_texts,
            (lambda x, hidden, cell, into, again, bias: (x @ into.T + hidden @ again.T + bias).chunk(4, 0)[1],),
        ),
        Slip("cell before hidden", "return hidden first, then cell", lambda *given: solution(*given)[::-1]),
    ),
    laws=(
        Law("with the forget gate open and the input gate shut the cell stays as it is", keeps),
        Law(
            "hidden lies between -1 and 1",
            lambda function, dice: bool((function(*(3 * each for each in case(dice, 3, 5, 7)))[0].abs() <= 1).all()),
        ),
    ),
)
