"""Token classification (O4): the probability of each word's tag, read off where the word begins."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from regard.data import Batch, Batcher
from regard.data.sources import Source
from regard.data.store import Store
from regard.data.tagged import Tagged, sentences, write_tagged
from regard.errors import UserError, share
from regard.objectives.likelihood import Loss, evenly, label_nats
from regard.systems import System
from regard.text import Tokenizer
from regard.text.words import given_words


@dataclass(frozen=True, kw_only=True)
class Tagging:
    """Name the tag of each word. With label smoothing, `smoothing` of the probability is asked for every tag alike.

    A tag that no training sentence has may stand in held-out data: it is never right, and not in the loss.
    """

    columns: ClassVar[tuple[str, str]] = ("words", "tags")
    label: ClassVar[str] = "tags"
    continues: ClassVar[bool] = False
    head: ClassVar[str] = "tags"
    symbols: ClassVar[tuple[str, ...]] = ()
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        share("objective", self, "smoothing")

    def misfit(self, model: System) -> str:
        return "" if model.answers == "tags" else "does not tag words and objective '{}' asks for it"

    def labels(self, source: Source) -> tuple[str, ...]:
        found = {tag for _, tags in sentences(source) for tag in tags}
        if len(found) < 2:
            what = f"every word has the tag '{found.pop()}'" if found else "no word has a tag"
            raise UserError(f"{source.name}: {what}; there is nothing to tell apart")
        return tuple(sorted(found))

    def named(self, cell: str) -> list[str]:
        return given_words(cell)

    def write(self, source: Source, tokenizer: Tokenizer, folder: Path, *, labels, context: int, too_long: str):
        about = {"columns": self.columns, "labels": labels, "context": context, "too_long": too_long}
        return write_tagged(source, tokenizer, folder, **about)

    def batches(self, stores: list[Store], tokenizer: Tokenizer, model: System, **budget: int) -> Batcher:
        return Tagged(stores, tokenizer, **budget)

    def __call__(self, model: System, batch: Batch) -> Loss:
        return evenly(model, batch, self.loss)

    def loss(self, model: System, batch: Batch) -> Loss:
        scores = model.answer(batch.tokens, batch.at)
        costs, nats = label_nats(scores.flatten(0, 1), batch.targets.flatten(), self.smoothing)
        return Loss(costs.sum(), nats.detach().view_as(batch.targets), batch.count)
