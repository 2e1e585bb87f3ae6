"""Google's neural translator (S6; Wu et al., 2016, section 3): deep LSTMs that learn because layers add to layers.

- Encoder (3.2): the first layer reads both ways, the others forwards.
- Residuals (3.1): x^i = LSTM^i(x^{i-1}) + x^{i-1} from the third layer on, in encoder and decoder (figure 1).
- Attention (equation 4): the query is the previous output of the decoder's bottom layer, and what is found enters all
  its layers. So only the bottom layer waits for the words before; the layers above it run over the whole text at once.

Kept simpler than the paper: each direction of the first layer has half of the width, each decoder layer starts from the
last state of the encoder layer beside it (the paper does not say), and a linear layer stands between the top and the
words, since these are tied. Left out: the reward (section 5), which is no matter of the model, and quantised inference
(section 6).
"""

from dataclasses import dataclass

import torch
from torch import nn

from regard.blocks.attentive import Attentive
from regard.blocks.memory import Memory
from regard.blocks.recurrent import Bidirectional, RecurrentLayer, state_of
from regard.place import Place
from regard.systems.recurrent import Recurrence, RecurrentSystem, large

RESIDUAL_FROM = 3  # the first layer, counted from 1, that adds its input to its output


@dataclass(frozen=True, kw_only=True)
class Gnmt(Recurrence):
    """`depth` layers in the encoder and as many in the decoder; from the third on each adds to what it was given."""

    depth: int = 4
    score: str = "additive"

    def build(self, vocabulary: int) -> "ResidualRnn":
        return ResidualRnn(self, vocabulary)


class ResidualRnn(RecurrentSystem):
    reads_source = True

    def __init__(self, settings: Gnmt, vocabulary: int):
        super().__init__(settings, vocabulary)
        width, cell, upper = settings.width, settings.cell, range(settings.depth - 1)
        self.source = settings.embedding(vocabulary)
        self.both_ways = Bidirectional(cell, width, width)
        self.encoder = nn.ModuleList([RecurrentLayer(cell, width, width) for _ in upper])
        self.bottom = Attentive(settings.one_layer(2 * width), score=settings.score, enter=nn.Identity())
        self.decoder = nn.ModuleList([RecurrentLayer(cell, 2 * width, width) for _ in upper])
        self.mix = large(nn.Linear(width, width))

    def encode(self, source, present=None):
        at = Place.line(source, present)
        x, first = self.both_ways(self.drop(self.source(source, at)), present)
        x, state = self._climb(self.encoder, x, first, None, present)
        return Memory(self.drop(x), at, state=state)

    def carry(self, tokens, at, state, memory, cache):
        parts = self.bottom.layers.parts
        words = self.drop(self.embedding(tokens, at))
        entered, x, first = self.bottom(words, state_of(state, 0, parts), memory, at, cache)
        found = entered[..., -self.width :]
        x, state = self._climb(self.decoder, x, first, state[:, parts:], at.present, beside=found)
        return self.drop(self.mix(x)), state

    def _climb(self, layers, x, first, state, present, beside=None):
        """The layers above the first, each reading the one below and what stands `beside` it; all states together."""
        states = [first]
        for i, layer in enumerate(layers):
            below = self.drop(x)
            if beside is not None:
                below = torch.cat((below, beside), dim=-1)
            y, last = layer(below, state_of(state, i, layer.parts), present)
            x = x + y if i + 2 >= RESIDUAL_FROM else y
            states.append(last)
        return x, torch.cat(states, dim=1)
