"""Deep-Att (S6; Zhou et al., 2016): deep LSTMs with fast-forward connections, a way up without recurrence.

Layer k, at each word t, where [,] puts side by side:

    f_t^k = W^k [f_t^{k-1}, h_t^{k-1}]      a linear way from layer to layer; f_t^1 = W^1 x_t
    h_t^k = LSTM^k(f_t^k, h_{t-1}^k)        in an encoder h_{t+1}^k in every second layer: directions interleave

- The encoder has two columns of such layers over the same words, one beginning forwards, one backwards. What is looked
  at is the top h of both, side by side.
- The decoder looks once for each word: the query is the previous output of its first layer, and what is found enters
  that layer, f_t^1 = W^1 [y_t, c_t]. Only this layer goes word by word.
- Dropout acts on h and never on f.

Other than in the paper: f is as wide as h, not as wide as all gates, and the cell's own input matrix spreads it over
them; a column has half of the width, so that both together need no projection; each decoder layer starts from the last
states of the two encoder layers beside it; the next word is read from a linear mix of the top f and h. Left out:
peepholes, and the handling of unknown words (PosUnk).
"""

from dataclasses import dataclass

import torch
from torch import nn

from regard.blocks.attentive import Attentive
from regard.blocks.memory import Memory
from regard.blocks.recurrent import RecurrentLayer, state_of
from regard.errors import UserError
from regard.place import Place
from regard.shapes import Bool, Float, Tensor
from regard.systems.recurrent import Recurrence, RecurrentSystem, large


@dataclass(frozen=True, kw_only=True)
class DeepAtt(Recurrence):
    """`depth` layers in each of the encoder's two columns and as many in the decoder."""

    depth: int = 3
    score: str = "additive"

    def build(self, vocabulary: int) -> "FastForwardRnn":
        if self.width % 2:
            near = f"{self.width - 1} and {self.width + 1}"
            raise UserError(f"width {self.width} has no half for each column of the encoder; {near} have")
        return FastForwardRnn(self, vocabulary)


class FastForward(nn.Module):
    """One layer: what is below goes straight on as f, and through the cell as h."""

    def __init__(self, cell: str, inputs: int, width: int, *, drop: nn.Module, backward: bool = False):
        super().__init__()
        self.onward = nn.Linear(inputs, width, bias=False)
        self.layer = RecurrentLayer(cell, width, width, backward=backward)
        self.drop = drop

    def forward(
        self, below: Float[Tensor, "b t i"], state: Float[Tensor, "b p w"] | None, present: Bool[Tensor, "b t"] | None
    ) -> tuple[Float[Tensor, "b t f"], Float[Tensor, "b p w"]]:
        """f and h side by side, and the state that h ends in."""
        f = self.onward(below)
        h, last = self.layer(f, state, present)
        return torch.cat((f, self.drop(h)), dim=-1), last


class Column(nn.Module):
    """Layers one on the other that read forwards and backwards in turn; the first reads backwards where asked."""

    def __init__(self, cell: str, inputs: int, width: int, depth: int, *, drop: nn.Module, backward: bool):
        super().__init__()
        ways = [backward ^ (k % 2 == 1) for k in range(depth)]
        widths = [inputs] + [2 * width] * (depth - 1)
        self.layers = nn.ModuleList(
            [FastForward(cell, each, width, drop=drop, backward=way) for each, way in zip(widths, ways, strict=True)]
        )

    def forward(
        self, x: Float[Tensor, "b t i"], present: Bool[Tensor, "b t"] | None
    ) -> tuple[Float[Tensor, "b t w"], Float[Tensor, "b n w"]]:
        """The top h, and the state that each layer ends in."""
        states = []
        for layer in self.layers:
            x, last = layer(x, None, present)
            states.append(last)
        return x.chunk(2, dim=-1)[1], torch.cat(states, dim=1)


class FastForwardRnn(RecurrentSystem):
    reads_source = True

    def __init__(self, settings: DeepAtt, vocabulary: int):
        super().__init__(settings, vocabulary)
        width, cell, drop, depth = settings.width, settings.cell, settings.drop(), settings.depth
        self.source = settings.embedding(vocabulary)
        half = width // 2
        self.onward = Column(cell, width, half, depth, drop=drop, backward=False)
        self.backward = Column(cell, width, half, depth, drop=drop, backward=True)
        enter = nn.Linear(2 * width, width, bias=False)
        self.bottom = Attentive(settings.one_layer(width), score=settings.score, enter=enter)
        self.decoder = nn.ModuleList([FastForward(cell, 2 * width, width, drop=drop) for _ in range(depth - 1)])
        self.mix = large(nn.Linear(2 * width, width))

    def encode(self, source, present=None):
        at = Place.line(source, present)
        words = self.drop(self.source(source, at))
        columns = self.onward(words, present), self.backward(words, present)
        top, state = (torch.cat(both, dim=-1) for both in zip(*columns, strict=True))
        return Memory(top, at, state=state)

    def carry(self, tokens, at, state, memory, cache):
        parts = self.bottom.layers.parts
        words = self.drop(self.embedding(tokens, at))
        f, h, last = self.bottom(words, state_of(state, 0, parts), memory, at, cache)
        x, states = torch.cat((f, self.drop(h)), dim=-1), [last]
        for i, layer in enumerate(self.decoder, 1):
            x, last = layer(x, state_of(state, i, parts), at.present)
            states.append(last)
        return self.drop(self.mix(x)), torch.cat(states, dim=1)
