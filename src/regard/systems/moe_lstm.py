"""A translator of LSTMs with a sparsely gated mixture of experts (S6; Shazeer et al., 2017, section 5.3, appendix E).

GNMT with fewer layers and far more parameters: between the layers stand experts, of which each word uses a few.

- Encoder: a layer that reads both ways, one that reads forwards, experts, and the other layers.
- Decoder: a layer that receives what attention finds and asks for the next look, experts, and the other layers.
- What the experts give passes a sigmoid; every layer is added, after dropout, to what it was given.

Kept simpler than the paper: an LSTM is as wide as its output (the paper projects 2048 to 512), the decoder begins with
the encoder's last states, all of the gate is one level, and the gate is that of section 2.1 with its two losses, where
the paper's translators took the batchwise one of appendix F.
"""

from dataclasses import dataclass, replace

import torch
from torch import nn

from regard.blocks.attentive import Attentive
from regard.blocks.experts import Experts, Gating
from regard.blocks.memory import Memory
from regard.blocks.recurrent import Bidirectional, RecurrentLayer, state_of
from regard.errors import at_least
from regard.place import Place
from regard.systems.recurrent import Recurrence, RecurrentSystem


@dataclass(frozen=True, kw_only=True)
class MoeLstm(Recurrence, Gating):
    """`depth` layers forwards in encoder and decoder, and experts above the first of them, with `hidden` units each."""

    depth: int = 2
    score: str = "additive"
    hidden: int = 256

    def __post_init__(self) -> None:
        super().__post_init__()
        Gating.__post_init__(self)
        at_least(1, "system", self, "hidden")

    def build(self, vocabulary: int) -> "ExpertRnn":
        return ExpertRnn(self, vocabulary)


class ExpertRnn(RecurrentSystem):
    reads_source = True
    whole_batches = True

    def __init__(self, settings: MoeLstm, vocabulary: int):
        super().__init__(settings, vocabulary)
        width, cell, depth = settings.width, settings.cell, settings.depth
        self.source = settings.embedding(vocabulary)
        self.both_ways = Bidirectional(cell, width, width)
        self.encoder = nn.ModuleList([RecurrentLayer(cell, width, width) for _ in range(depth)])
        self.encoder_experts = Experts(width, settings.hidden, settings)
        self.bottom = Attentive(settings.one_layer(width), score=settings.score, enter=nn.Linear(2 * width, width))
        self.decoder_experts = Experts(width, settings.hidden, settings)
        self.decoder = nn.ModuleList([RecurrentLayer(cell, width, width) for _ in range(depth - 1)])

    def encode(self, source, present=None):
        at = Place.line(source, present)
        x = self.drop(self.source(source, at))
        x = x + self.drop(self.both_ways(x, present)[0])
        y, first = self.encoder[0](x, None, present)
        x = self._mixed(self.encoder_experts, x + self.drop(y), present)
        x, state = self._climb(self.encoder[1:], x, first, None, present)
        return Memory(x, at, state=state)

    def carry(self, tokens, at, state, memory, cache):
        parts = self.bottom.layers.parts
        words = self.drop(self.embedding(tokens, at))
        ends = at if cache is not None else replace(at, present=None)  # what reads on must know where a row ended
        x, y, first = self.bottom(words, state_of(state, 0, parts), memory, ends, cache)
        x = self._mixed(self.decoder_experts, x + self.drop(y), at.present)
        return self._climb(self.decoder, x, first, state[:, parts:], ends.present)

    def _mixed(self, mixture: Experts, x, present):
        return x + self.drop(mixture(x, present).sigmoid())

    def _climb(self, layers, x, first, state, present):
        """The layers above the experts, each added to what it reads; their states after that of the one below."""
        states = [first]
        for i, layer in enumerate(layers):
            y, last = layer(x, state_of(state, i, layer.parts), present)
            x = x + self.drop(y)
            states.append(last)
        return x, torch.cat(states, dim=1)
