"""One block of a Transformer, and stacks of them (B10)."""

from collections.abc import Callable

from torch import nn

from regard.attention.cache import KeyValues, Layer
from regard.attention.heads import MultiHead
from regard.blocks.embedding import Embedding
from regard.blocks.experts import Experts
from regard.blocks.feedforward import FeedForward, Gated
from regard.blocks.memory import Memory
from regard.place import Place
from regard.shapes import Float, Int, Tensor
from regard.tap import Tap


class Block(nn.Module):
    """Attention within the text, attention to a memory where `cross` is given, then a feed-forward layer or experts.

    Without a feed-forward layer a block only mixes what it is given (C6).
    """

    def __init__(
        self,
        attention: MultiHead,
        feedforward: FeedForward | Gated | Experts | None,
        residual: Callable[[], nn.Module],
        *,
        cross: MultiHead | None = None,
    ):
        super().__init__()
        self.attention, self.cross, self.feedforward = attention, cross, feedforward
        self.around_attention = residual()
        self.around_feedforward = residual() if feedforward is not None else nn.Identity()
        self.around_cross = residual() if cross is not None else nn.Identity()
        self.stream = Tap()

    def forward(
        self,
        x: Float[Tensor, "b t w"],
        at: Place,
        *,
        memory: Memory | None = None,
        cache: Layer | None = None,
    ) -> Float[Tensor, "b t w"]:
        x = self.around_attention(x, lambda y: self.attention(y, at, cache=cache))
        if (cross := self.cross) is not None:
            if memory is None:
                raise ValueError("a block with cross-attention was given no memory to look at")
            x = self.around_cross(x, lambda y: look_across(cross, y, at, memory, cache))
        if (feedforward := self.feedforward) is not None:
            x = self.around_feedforward(x, lambda y: feedforward(y, at.present))
        self.stream(lambda: x)
        return x


def look_across(cross: MultiHead, x: Tensor, at: Place, memory: Memory, cache: Layer | None) -> Tensor:
    if cache is None:
        return cross.across(x, at, *cross.key_value(memory.vectors), memory.at)
    key, value = cache.once(lambda: cross.key_value(memory.vectors))
    return cross.across(x, at, key, value, memory.at)


class Stack(nn.Module):
    """An embedding and blocks, one on the other; a last norm where the blocks leave their stream unnormalised."""

    def __init__(self, embedding: Embedding, blocks: list[Block], norm: nn.Module | None):
        super().__init__()
        self.embedding, self.blocks = embedding, nn.ModuleList(blocks)
        self.norm = norm if norm is not None else nn.Identity()

    @property
    def limit(self) -> int | None:
        """The longest text whose places the position scheme can number."""
        return self.embedding.position.limit

    def forward(
        self,
        tokens: Int[Tensor, "b t"],
        at: Place,
        *,
        memory: Memory | None = None,
        cache: KeyValues | None = None,
    ) -> Float[Tensor, "b t w"]:
        x = self.embedding(tokens, at)
        for i, block in enumerate(self.blocks):
            x = block(x, at, memory=memory, cache=cache.layers[i] if cache is not None else None)
        return self.norm(x)
