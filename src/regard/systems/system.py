"""What every system offers, so that one trainer, one beam search and one explainer serve them all."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from regard.attention.cache import Cache
from regard.blocks.memory import Memory
from regard.errors import UserError
from regard.place import Place
from regard.shapes import Bool, Float, Int, Tensor
from regard.tap import record


class System(nn.Module):
    """The protocol.

    `decode` gives the same logits whether a text is fed at once or token by token with a cache. A system that reads a
    source first has `reads_source` and offers `encode`. It is trained on windows of `context` tokens; `limit` is the
    most that a text may have. A system that `packs` takes several documents in a row and keeps them apart; any other is
    given one document a row. `compiles` says whether compiling it pays. A system that needs `whole_batches` is trained
    on what the tokens of a batch have in common: such a batch is not computed in pieces, and its padding is told.

    A system that does not write text (`writes_text` is False) reads one between its start and end symbols: it offers
    `embed`, a vector for each token that heads may stand on, and `answer`, what its head makes of them. `answers` says
    what that is: "words", "tags" or "vectors", one for each token, or "labels", one for the text; `labels` is how many
    labels or tags it tells apart. One that reads `trees` must be told of each token where it stands in its sentence's.
    """

    context: int
    width: int
    vocabulary: int
    labels = 0
    trees = False
    writes_text = True
    reads_source = False
    packs = True
    compiles = True
    whole_batches = False

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
        raise UserError(f"{type(self).__name__} writes no text")

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
        raise UserError(f"{type(self).__name__} writes no text")

    def embed(self, tokens: Int[Tensor, "b t"], at: Place) -> Float[Tensor, "b t w"]:
        """The vector of each token among all others of its text."""
        raise UserError(f"{type(self).__name__} writes text: its vectors are `hidden`")

    def answer(self, tokens: Int[Tensor, "b t"], at: Place | None = None) -> Float[Tensor, "b ..."]:
        """One score per label for each text, or one per tag or word for each of its tokens."""
        raise UserError(f"{type(self).__name__} does not answer")

    @property
    def answers(self) -> str:
        return "words"

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
            raise UserError(
                f"{what} has {count} tokens and the context holds {self.limit}: "
                "shorten it, or train with a larger system.context"
            )


@contextmanager
def measuring(model: System) -> Iterator[dict[str, dict[str, Any]]]:
    """What the parts of a model tell of all that it reads inside: fact -> part -> value, filled in at the end.

    A part names in `measured` the taps whose showings are added up, and what is told of each sum.
    """
    parts = [(name, getattr(part, "measured", {})) for name, part in model.named_modules()]
    told = {f"{name}.{tap}": (name, tell) for name, measured in parts for tap, tell in measured.items()}
    facts: dict[str, dict[str, Any]] = {}
    if not told:
        yield facts
        return
    with record(model, *told) as seen:
        yield facts
    for tap, (name, tell) in told.items():
        if tap in seen:
            for fact, value in tell(torch.stack(seen.all(tap)).sum(0)).items():
                facts.setdefault(fact, {})[name] = value


def parameters(model: nn.Module) -> int:
    """How many numbers are trained; what is tied counts once."""
    return sum(p.numel() for p in model.parameters())
