"""A decoder that looks at a memory through one head (S4, S5): no projections of its own, the memory as values."""

from torch import nn

from regard.attention.cache import Cache
from regard.attention.look import Look
from regard.attention.scores import SCORES
from regard.blocks.memory import Memory
from regard.errors import one_of
from regard.place import Place
from regard.shapes import Float, Tensor


class Alignment(nn.Module):
    """Which places of the memory a query fits, and the mix of them."""

    def __init__(self, width: int, score: str):
        super().__init__()
        one_of("system.score", score, SCORES)
        self.look = Look("cross", score=SCORES[score](1, width))
        self.to_key = nn.Linear(width, width, bias=False) if score == "additive" else nn.Identity()

    def keys(self, memory: Memory, cache: Cache | None = None) -> Float[Tensor, "b s w"]:
        """What queries are held against: made once for a memory, and kept by the cache where there is one."""
        if cache is None:
            return self.to_key(memory.vectors)
        return cache.once("keys", lambda: (self.to_key(memory.vectors),))[0]

    def forward(
        self, query: Float[Tensor, "b t w"], keys: Float[Tensor, "b s w"], memory: Memory, at: Place
    ) -> Float[Tensor, "b t w"]:
        values = memory.vectors if memory.values is None else memory.values
        return self.look(query[:, None], keys[:, None], values[:, None], at, memory.at)[:, 0]
