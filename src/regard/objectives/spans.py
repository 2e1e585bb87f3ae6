"""Span corruption (O7; Raffel et al., 2020): write what was cut out of a text, given the rest.

source   Thank you <extra_id_0> me to your party <extra_id_1> week
target   <extra_id_0> for inviting <extra_id_1> last
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from regard.data import Batch
from regard.data.corruption import Spans
from regard.data.rows import paired
from regard.data.store import write_documents
from regard.data.texts import Example, Texts
from regard.errors import UserError, at_least, share
from regard.objectives.likelihood import Translation
from regard.text import Tokenizer
from regard.text.gaps import SENTINEL


@dataclass(frozen=True, kw_only=True)
class SpanCorruption(Translation):
    """`share` of the tokens are cut out in runs of `mean` on average, others in every epoch; `sentinels` is how many
    symbols there are to stand for them, and so the most runs in a text."""

    columns: ClassVar[tuple[str, ...]] = ("text",)
    smoothing: float = 0.0
    share: float = 0.15
    mean: float = 3.0
    sentinels: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        share("objective", self, "share")
        at_least(1, "objective", self, "mean", "sentinels")
        if not self.share:
            raise UserError("objective.share = 0.0 cuts nothing out: there is nothing to learn")

    @property
    def symbols(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(map(SENTINEL.format, range(self.sentinels)))

    def write(self, source, tokenizer, folder, *, labels, context, too_long):
        return write_documents(source, tokenizer, folder)

    def batches(self, stores, tokenizer, model, **budget):
        room = model.context - 2  # of n tokens at most n + 1 are written, sentinels counted, after a start
        return Texts(stores[0], self.maker(tokenizer), room=room, **budget)

    def spans(self, tokenizer: Tokenizer) -> Spans:
        return Spans(tuple(map(tokenizer.symbol, self.symbols)), self.share, self.mean)

    def maker(self, tokenizer: Tokenizer) -> Callable[[list[Example], list[np.random.Generator]], Batch]:
        """Texts to pairs of what is left of them and what was cut out."""
        spans = self.spans(tokenizer)

        def make(texts: list[Example], chances: list[np.random.Generator]) -> Batch:
            cut = [spans(text, chance) for (text,), chance in zip(texts, chances, strict=True)]
            return paired([source for source, _ in cut], [target for _, target in cut], tokenizer)

        return make
