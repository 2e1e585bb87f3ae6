"""What is exported: modules whose inputs and outputs are tensors alone, around the modules of a system.

A decoder is given the keys and values of all tokens before, and gives back those of all tokens up to now. The first
call has none before. Where a token stands follows from which tokens are present: padding is not counted, so rows of
different lengths may be padded on either side.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from regard.attention.cache import KeyValues, Layer
from regard.attention.kernels import formula
from regard.attention.look import Look
from regard.blocks.memory import Memory
from regard.place import Place
from regard.shapes import Bool, Int, Tensor

Pairs = list[tuple[Tensor, Tensor]]  # keys and values, for each layer
Written = tuple[Tensor, Tensor, Pairs]


class Given(Layer):
    """One layer of a cache that is handed in and out; `across` is what it looks at of a source."""

    def __init__(self, pair: tuple[Tensor, Tensor], at: Place, across: tuple[Tensor, Tensor] | None):
        self.pair, self.at, self.across = pair, at, across

    def extend(self, key: Tensor, value: Tensor, at: Place) -> tuple[Tensor, Tensor, Place]:
        before_key, before_value = self.pair
        self.pair = torch.cat((before_key, key), 2), torch.cat((before_value, value), 2)
        return *self.pair, self.at

    def once(self, make: Callable[[], tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
        assert self.across is not None
        return self.across


class Handed(KeyValues):
    """A cache of such layers."""

    def __init__(self, layers: list[Given]):
        self.given = self.layers = layers  # type: ignore[assignment]


class Graph(nn.Module):
    """A system whose attention is the formula, which every runtime knows."""

    def __init__(self, model: Any):
        super().__init__()
        self.model = model
        for part in model.modules():
            if isinstance(part, Look):
                part.kernel = formula
        self.eval()


class Encodes(Graph):
    """A source as the keys and values that each layer of the decoder will look at."""

    def forward(self, tokens: Int[Tensor, "b s"], present: Bool[Tensor, "b s"]) -> Pairs:
        vectors = self.model.encode(tokens, present).vectors
        return [block.cross.key_value(vectors) for block in self.model.decoder.blocks]


class Decodes(Graph):
    """The scores of what follows each of the new tokens; then of all tokens up to them which are present, and their
    keys and values."""

    def forward(
        self, tokens: Int[Tensor, "b t"], present: Bool[Tensor, "b t"], past_present: Bool[Tensor, "b p"], past: Pairs
    ) -> Written:
        return self.step(tokens, present, past_present, list(zip(past, [None] * len(past), strict=True)), None)

    def step(self, tokens: Tensor, present: Tensor, past_present: Tensor, layers: Any, memory: Any) -> Written:
        now = torch.cat((past_present, present), 1)
        at = Place((past_present.sum(1, keepdim=True) + present.cumsum(1) - 1).clamp(min=0))
        k = Place((now.cumsum(1) - 1).clamp(min=0), present=now)
        cache = Handed([Given(pair, k, across) for pair, across in layers])
        vectors = self.model.decoder(tokens, at, memory=memory, cache=cache)
        return self.model.logits(vectors), now, [layer.pair for layer in cache.given]


class Translates(Decodes):
    """The same beside a source, of which it is given what `Encodes` made."""

    def forward(self, tokens, present, past_present, past, source_present, source):  # type: ignore[override]
        index = torch.arange(source_present.shape[1], device=tokens.device).expand(source_present.shape)
        memory = Memory(source[0][0], Place(index, present=source_present))  # its vectors are looked at no more
        return self.step(tokens, present, past_present, list(zip(past, source, strict=True)), memory)


class Answers(Graph):
    """The vector of each token of a text, and what the head makes of them where it makes something."""

    def forward(
        self, tokens: Int[Tensor, "b t"], present: Bool[Tensor, "b t"], segments: Int[Tensor, "b t"] | None = None
    ) -> tuple[Tensor, ...]:
        index = torch.arange(tokens.shape[1], device=tokens.device).expand(tokens.shape)
        at = Place(index, present=present, segment=segments)
        vectors = self.model.embed(tokens, at)
        return (vectors,) if self.model.answers == "vectors" else (vectors, self.model.head(vectors, at))
