"""Recurrent layers (S1, S2): a state that is carried along the text, one token at a time.

Each layer is torch's own fused kernel over the whole sequence; where attention feeds back into every step, the same
layers are called with one token at a time and take torch's single cell. What both compute stands in `cells.py`, to be
read. A state is `[b n w]`: for each layer the hidden vector and, of an LSTM, the cell beside it, so that whoever keeps,
reorders or hands over a state need not know which cell it is.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.attention.cache import Rereading
from regard.blocks import cells
from regard.blocks.dropout import WeightDropout
from regard.errors import UserError
from regard.shapes import Bool, Float, Int, Tensor
from regard.tap import Tap


@dataclass(frozen=True)
class Cell:
    """What is done at each token. `fused` reads a whole sequence, `bare` too, with weights that it is given, and `one`
    a single token.

    A state has `parts` vectors. Torch keeps the weights of all gates one above the other; `gates` says where each is.
    """

    name: str
    fused: Callable[..., nn.RNNBase]
    bare: Callable[..., Any]
    one: Callable[..., Any]
    parts: int
    gates: dict[str, int]


CELLS = {
    cell.name: cell
    for cell in (
        Cell("rnn", nn.RNN, torch.rnn_tanh, torch.rnn_tanh_cell, 1, {}),
        Cell("gru", nn.GRU, torch.gru, torch.gru_cell, 1, {"reset": 0, "update": 1}),
        Cell("lstm", nn.LSTM, torch.lstm, torch.lstm_cell, 2, {"input": 0, "forget": 1, "output": 3}),
    )
}


class RecurrentLayer(nn.Module):
    """One layer in one direction. `backward` reads from the last present token to the first.

    `plain` takes the formulas in place of the kernels: slow, and the same.

    Taps: `states` the hidden vectors `[b t w]`, `gates` how far each gate is open, `[b t gates w]`, in the order of
    the cell's, computed beside the kernel from what it read and what it gave.
    """

    def __init__(self, cell: str, inputs: int, width: int, *, backward: bool = False, weight_dropout: float = 0.0):
        super().__init__()
        self.cell, self.backward, self.weight_dropout = CELLS[cell], backward, WeightDropout(weight_dropout)
        self.parts, self.plain = self.cell.parts, False
        self.fused = self.cell.fused(inputs, width, batch_first=True)
        self.states, self.gates = Tap(), Tap()
        self._initialise()

    def forward(
        self, x: Float[Tensor, "b t i"], state: Float[Tensor, "b p w"] | None, present: Bool[Tensor, "b t"] | None
    ) -> tuple[Float[Tensor, "b t w"], Float[Tensor, "b p w"]]:
        """The hidden vector after each token and the state after the last present one."""
        if self.backward:
            x = turned(x, present)
        y, last = self._run(x, state, present)
        self.gates(lambda: self._back(self._open(x, y, state), present))
        y = self._back(y, present)
        self.states(lambda: y)
        return y, last

    def _back(self, y: Tensor, present: Tensor | None) -> Tensor:
        return turned(y, present) if self.backward else y

    def _run(self, x: Tensor, state: Tensor | None, present: Tensor | None) -> tuple[Tensor, Tensor]:
        if self.plain:
            return self._by_formula(x, state, present)
        if x.shape[1] == 1 and state is not None and present is None:
            return self._step(x[:, 0], state.to(x.dtype))
        first = None if state is None else tuple(part[None].contiguous() for part in state.to(x.dtype).unbind(1))
        given = first if self.cell.parts == 2 or first is None else first[0]
        if present is None and self.weight_dropout.acts:
            y, last = self._with_dropped_weights(x, given)
        elif present is None:
            y, last = self.fused(x, given)
        else:
            lengths = present.sum(1).cpu()
            packed, last = self.fused(pack_padded_sequence(x, lengths, True, enforce_sorted=False), given)
            y, _ = pad_packed_sequence(packed, batch_first=True, total_length=x.shape[1])
        return y, torch.stack([part[0] for part in (last if self.cell.parts == 2 else (last,))], dim=1)

    def _by_formula(self, x: Tensor, state: Tensor | None, present: Tensor | None) -> tuple[Tensor, Tensor]:
        if state is None:
            state = x.new_zeros(len(x), self.parts, self.fused.hidden_size)
        into, again, *biases = self.fused.all_weights[0]
        weights = [into, self.weight_dropout(again), *biases]
        return cells.read(self.cell.name, weights, x, state.to(x.dtype), present)

    def _with_dropped_weights(self, x: Tensor, given: Any) -> tuple[Tensor, Any]:
        """A whole sequence with some weights from state to state left out."""
        into, again, *biases = self.fused.all_weights[0]
        if given is None:
            zeros = x.new_zeros(1, len(x), self.fused.hidden_size)
            given = (zeros, zeros) if self.parts == 2 else zeros
        with warnings.catch_warnings():  # the weights cannot lie in one piece, which costs a copy
            warnings.filterwarnings("ignore", message="RNN module weights are not part of single contiguous chunk")
            weights = [into, self.weight_dropout(again), *biases]
            y, *last = self.cell.bare(x, given, weights, True, 1, 0.0, True, False, True)
        return y, tuple(last) if self.parts == 2 else last[0]

    def _step(self, x: Float[Tensor, "b i"], state: Float[Tensor, "b p w"]) -> tuple[Tensor, Tensor]:
        """One token by the cell alone: the kernel for whole sequences takes twice as long over one (LSTM, training)."""
        before = state.unbind(1)
        after = self.cell.one(x, before if self.cell.parts == 2 else before[0], *self.fused.all_weights[0])
        last = torch.stack(after if self.cell.parts == 2 else (after,), dim=1)
        return last[:, :1], last

    def _open(self, x: Tensor, y: Tensor, state: Tensor | None) -> Float[Tensor, "b t g w"]:
        """The gates from their equations."""
        first = y.new_zeros(y[:, :1].shape) if state is None else state[:, :1].to(y.dtype)
        before = torch.cat((first, y[:, :-1]), dim=1)
        into, again, one, other = self.fused.all_weights[0]
        sums = nn.functional.linear(x, into, one) + nn.functional.linear(before, again, other)
        width = self.fused.hidden_size
        return sums.unflatten(-1, (-1, width))[:, :, list(self.cell.gates.values())].sigmoid()

    def _initialise(self) -> None:
        """Orthogonal recurrence, Glorot's uniform input, forget gates that start open."""
        for name, parameter in self.fused.named_parameters():
            if "weight_hh" in name:
                for square in parameter.data.split(self.fused.hidden_size):
                    nn.init.orthogonal_(square)
            elif "weight_ih" in name:
                for block in parameter.data.split(self.fused.hidden_size):
                    nn.init.xavier_uniform_(block)
            else:
                nn.init.zeros_(parameter)
        if (forget := self.cell.gates.get("forget")) is not None:
            self.fused.all_weights[0][2].data.split(self.fused.hidden_size)[forget].fill_(1.0)


class Recurrent(nn.Module):
    """Layers one on the other, with dropout between them; `each` says how every one reads."""

    def __init__(
        self,
        cell: str,
        inputs: int,
        width: int,
        depth: int,
        *,
        dropout: Callable[[], nn.Module],
        **each: Any,
    ):
        super().__init__()
        widths = [inputs] + [width] * (depth - 1)
        self.layers = nn.ModuleList([RecurrentLayer(cell, below, width, **each) for below in widths])
        self.between = nn.ModuleList([dropout() for _ in widths[1:]])
        self.width, self.parts = width, CELLS[cell].parts

    def forward(
        self, x: Float[Tensor, "b t i"], state: Float[Tensor, "b n w"] | None, present: Bool[Tensor, "b t"] | None
    ) -> tuple[Float[Tensor, "b t w"], Float[Tensor, "b n w"]]:
        last = []
        for i, layer in enumerate(self.layers):
            x, after = layer(x, state_of(state, i, self.parts), present)
            last.append(after)
            if i < len(self.between):
                x = self.between[i](x)
        return x, torch.cat(last, dim=1)


class Bidirectional(nn.Module):
    """A layer that reads both ways: half of the width forwards, half backwards."""

    def __init__(self, cell: str, inputs: int, width: int):
        super().__init__()
        if width % 2:
            raise UserError(f"width {width} has no half for each direction; {width - 1} and {width + 1} have")
        self.onward = RecurrentLayer(cell, inputs, width // 2)
        self.backward = RecurrentLayer(cell, inputs, width // 2, backward=True)

    def forward(
        self, x: Float[Tensor, "b t i"], present: Bool[Tensor, "b t"] | None
    ) -> tuple[Float[Tensor, "b t w"], Float[Tensor, "b p w"]]:
        """Both readings side by side: the vectors, and the states that either way ends in."""
        ahead, back = self.onward(x, None, present), self.backward(x, None, present)
        return torch.cat((ahead[0], back[0]), dim=-1), torch.cat((ahead[1], back[1]), dim=-1)


def state_of(state: Float[Tensor, "b n w"] | None, layer: int, parts: int) -> Float[Tensor, "b p w"] | None:
    """One layer's part of a state."""
    return None if state is None else state[:, layer * parts : (layer + 1) * parts]


def turned(x: Float[Tensor, "b t ..."], present: Bool[Tensor, "b t"] | None) -> Float[Tensor, "b t ..."]:
    """Each row from its last present token to its first; the padding stays where it is."""
    if present is None:
        return x.flip(1)
    steps = torch.arange(x.shape[1], device=x.device)
    length = present.sum(1, keepdim=True)
    index = torch.where(steps < length, length - 1 - steps, steps)
    return x[torch.arange(len(x), device=x.device)[:, None], index]


class States(Rereading):
    """The cache of a recurrent decoder: its state after the last token, and the tokens themselves."""

    def __init__(self, rows: int, capacity: int, device: torch.device | str = "cpu"):
        super().__init__(rows, capacity, device)
        self.state: Tensor | None = None

    @property
    def blank(self) -> bool:
        return self.state is None

    def forget(self) -> None:
        self.state = None

    def reorder(self, rows: Int[Tensor, "b"]) -> None:
        super().reorder(rows)
        self.state = self.state[rows] if self.state is not None else None
