"""What a recurrent cell does at one token, in equations (S1, S2), and a text read with it, token by token.

W x + b and U h + c are computed for all gates at once; torch keeps them one above the other. This is what the fused
kernels of `recurrent.py` must equal, and `regard verify` holds them against it.
"""

from collections.abc import Sequence

import torch
from torch.nn.functional import linear

from regard.shapes import Bool, Float, Tensor

Sums = Sequence[Float[Tensor, "b w"]]  # of each gate


def elman(wx: Sums, uh: Sums, state: Float[Tensor, "b 1 w"]) -> Float[Tensor, "b 1 w"]:
    """h = tanh(W x + U h) (Elman, 1990)."""
    return torch.tanh(wx[0] + uh[0])[:, None]


def gru(wx: Sums, uh: Sums, state: Float[Tensor, "b 1 w"]) -> Float[Tensor, "b 1 w"]:
    """n = tanh(W x + r (U h)), h = (1 - z) n + z h (Cho et al., 2014, as first written; printed it has U (r h))."""
    reset, update = torch.sigmoid(wx[0] + uh[0]), torch.sigmoid(wx[1] + uh[1])
    new = torch.tanh(wx[2] + reset * uh[2])
    return ((1 - update) * new + update * state[:, 0])[:, None]


def lstm(wx: Sums, uh: Sums, state: Float[Tensor, "b 2 w"]) -> Float[Tensor, "b 2 w"]:
    """c = f c + i g, h = o tanh c (Hochreiter and Schmidhuber, 1997, with a forget gate)."""
    enter, forget, new, out = (one + other for one, other in zip(wx, uh, strict=True))
    cell = torch.sigmoid(forget) * state[:, 1] + torch.sigmoid(enter) * torch.tanh(new)
    return torch.stack((torch.sigmoid(out) * torch.tanh(cell), cell), dim=1)


FORMULAS = {"rnn": elman, "gru": gru, "lstm": lstm}


def read(
    cell: str,
    weights: Sequence[Tensor],
    x: Float[Tensor, "b t i"],
    state: Float[Tensor, "b p w"],
    present: Bool[Tensor, "b t"] | None,
) -> tuple[Float[Tensor, "b t w"], Float[Tensor, "b p w"]]:
    """The hidden vector after each token, 0 at padding, and the state after the last present one."""
    into, again, b, c = weights
    hidden = []
    for i, token in enumerate(x.unbind(1)):
        wx, uh = linear(token, into, b), linear(state[:, 0], again, c)
        width = state.shape[-1]
        after = FORMULAS[cell](wx.split(width, -1), uh.split(width, -1), state)
        here = None if present is None else present[:, i, None]
        state = after if here is None else torch.where(here[..., None], after, state)
        hidden.append(after[:, 0] if here is None else after[:, 0] * here)
    return torch.stack(hidden, dim=1), state
