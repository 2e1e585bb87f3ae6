"""What every system offers, so that one trainer, one beam search and one explainer serve them all."""

from torch import nn

from regard.attention.cache import Cache
from regard.blocks.memory import Memory
from regard.errors import UserError
from regard.place import Place
from regard.shapes import Bool, Float, Int, Tensor


class System(nn.Module):
    """The protocol.

    `decode` gives the same logits whether a text is fed at once or token by token with a cache. A system that reads a
    source first has `reads_source` and offers `encode`. It is trained on windows of `context` tokens; `limit` is the
    most that a text may have. A system that `packs` takes several documents in a row and keeps them apart; any other is
    given one document a row. `compiles` says whether compiling it pays.
    """

    context: int
    width: int
    vocabulary: int
    reads_source = False
    packs = True
    compiles = True

    @property
    def limit(self) -> int | None:
        """None when a text may have any length."""
        return self.context

    def encode(self, source: Int[Tensor, "b s"], present: Bool[Tensor, "b s"] | None = None) -> Memory:
        """The source as vectors to look at; `present` is True where there is no padding."""
        raise UserError(f"{type(self).__name__} reads no source text")

    def hidden(
        self,
        tokens: Int[Tensor, "b t"],
        memory: Memory | None = None,
        cache: Cache | None = None,
        at: Place | None = None,
    ) -> Float[Tensor, "b t w"]:
        """The vector at each token from which the next one is predicted. Without `at`, tokens follow the cache's."""
        raise NotImplementedError

    def logits(self, vectors: Float[Tensor, "... w"]) -> Float[Tensor, "... v"]:
        """One score per token of the vocabulary."""
        raise NotImplementedError

    def decode(
        self,
        tokens: Int[Tensor, "b t"],
        memory: Memory | None = None,
        cache: Cache | None = None,
        at: Place | None = None,
    ) -> Float[Tensor, "b t v"]:
        return self.logits(self.hidden(tokens, memory, cache, at))

    def start(self, rows: int, capacity: int) -> Cache:
        """An empty cache for `rows` texts of at most `capacity` tokens."""
        raise NotImplementedError

    @property
    def reach(self) -> int:
        """The largest window, block, stride or clip distance inside: checks run on inputs longer than it."""
        return max((getattr(part, "reach", 0) for part in self.modules() if part is not self), default=0)

    @property
    def device(self):
        return next(self.parameters()).device

    def fits(self, count: int, what: str) -> None:
        """Stop where a text is longer than the limit."""
        if self.limit is not None and count > self.limit:
            raise UserError(f"{what} has {count} tokens and the context holds {self.limit}")


def parameters(model: nn.Module) -> int:
    """How many numbers are trained; what is tied counts once."""
    return sum(p.numel() for p in model.parameters())
