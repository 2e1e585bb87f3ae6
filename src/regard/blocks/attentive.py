"""A recurrent layer that looks before it reads (S6): the one part of a deep decoder that must go word by word.

At each word the layer's previous output is the query, and what it finds stands beside the word that is read:
c_t = look(h_{t-1}), h_t = cell(enter [x_t, c_t], h_{t-1}). Layers above depend on it and not on each other's past
looks, so they run over the whole text at once.
"""

import torch
from torch import nn

from regard.attention.cache import Cache
from regard.blocks.alignment import Alignment
from regard.blocks.memory import Memory
from regard.blocks.recurrent import RecurrentLayer
from regard.place import Place
from regard.shapes import Float, Tensor


class AttentiveLayer(nn.Module):
    """`enter` makes the cell's input, `inputs` wide, of a word and what was found for it, side by side."""

    def __init__(self, cell: str, inputs: int, width: int, *, score: str, enter: nn.Module):
        super().__init__()
        self.alignment = Alignment(width, score)
        self.enter = enter
        self.layer = RecurrentLayer(cell, inputs, width)

    def forward(
        self, x: Float[Tensor, "b t w"], state: Float[Tensor, "b p w"], memory: Memory, at: Place, cache: Cache | None
    ) -> tuple[Float[Tensor, "b t i"], Float[Tensor, "b t w"], Float[Tensor, "b p w"]]:
        """What entered the cell at each word, the hidden vector after it, and the state after the last present word."""
        keys = self.alignment.keys(memory, cache)
        entered, hidden = [], []
        for word, here in zip(x.split(1, dim=1), at.each(), strict=True):
            found = self.alignment(state[:, :1], keys, memory, here)
            entered.append(self.enter(torch.cat((word, found), dim=-1)))
            y, after = self.layer(entered[-1], state, None)
            state = after if here.present is None else torch.where(here.present[..., None], after, state)
            hidden.append(y)
        return torch.cat(entered, dim=1), torch.cat(hidden, dim=1), state
