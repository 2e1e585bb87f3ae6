"""Recurrent layers that look before they read (S4, S6): what of a decoder must go word by word.

At each word the previous output of the topmost layer is the query, and what it finds stands beside the word that is
read: c_t = look(h_{t-1}), h_t = cells(enter [x_t, c_t], h_{t-1}). Layers above them depend on them and not on each
other's past looks, so they run over the whole text at once.
"""

import torch
from torch import nn

from regard.attention.cache import Cache
from regard.blocks.alignment import Alignment
from regard.blocks.memory import Memory
from regard.blocks.recurrent import Recurrent
from regard.place import Place
from regard.shapes import Float, Tensor


class Attentive(nn.Module):
    """`enter` makes what the lowest layer reads of a word and what was found for it, side by side."""

    def __init__(self, layers: Recurrent, *, score: str, enter: nn.Module):
        super().__init__()
        self.alignment, self.enter, self.layers = Alignment(layers.width, score), enter, layers

    def forward(
        self, x: Float[Tensor, "b t w"], state: Float[Tensor, "b n w"], memory: Memory, at: Place, cache: Cache | None
    ) -> tuple[Float[Tensor, "b t i"], Float[Tensor, "b t w"], Float[Tensor, "b n w"]]:
        """What entered at each word, the topmost hidden vector after it, and the state after the last present word."""
        keys = self.alignment.keys(memory, cache)
        entered, hidden = [], []
        for word, here in zip(x.split(1, dim=1), at.each(), strict=True):
            found = self.alignment(state[:, -self.layers.parts, None], keys, memory, here)
            entered.append(self.enter(torch.cat((word, found), dim=-1)))
            y, after = self.layers(entered[-1], state, None)
            state = after if here.present is None else torch.where(here.present[..., None], after, state)
            hidden.append(y)
        return torch.cat(entered, dim=1), torch.cat(hidden, dim=1), state
