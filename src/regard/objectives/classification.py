"""Classification (O3): the probability of the label of a text, or of two."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from regard.data import Batch, Batcher, Labelled
from regard.data.sources import Source
from regard.data.store import Store, write_labelled
from regard.errors import UserError, share
from regard.objectives.likelihood import Loss, evenly, label_nats
from regard.systems import System
from regard.text import Tokenizer


@dataclass(frozen=True, kw_only=True)
class Classification:
    """Name the label of a text or, with `pairs`, of two texts that are read together.

    With label smoothing, `smoothing` of the probability is asked for every label alike.
    """

    label: ClassVar[str] = "label"
    continues: ClassVar[bool] = False
    head: ClassVar[str] = "labels"
    symbols: ClassVar[tuple[str, ...]] = ()
    pairs: bool = False
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        share("objective", self, "smoothing")

    @property
    def columns(self) -> tuple[str, ...]:
        return ("first", "second", "label") if self.pairs else ("text", "label")

    def misfit(self, model: System) -> str:
        return "" if model.answers == "labels" else "does not classify and objective '{}' asks for it"

    def labels(self, source: Source) -> tuple[str, ...]:
        found: set[str] = set()
        for number, (name,) in enumerate(source.column(len(self.columns) - 1), 1):
            if not name:
                raise UserError(f"{source.name}: record {number} has no label")
            found.add(name)
        if len(found) < 2:
            raise UserError(f"{source.name}: every text has the label '{found.pop()}'; there is nothing to tell apart")
        return tuple(sorted(found))

    def named(self, cell: str) -> tuple[str]:
        return (cell,)

    def write(self, source: Source, tokenizer: Tokenizer, folder: Path, *, labels, context: int, too_long: str):
        about = {"columns": self.columns, "labels": labels, "context": context, "too_long": too_long}
        return write_labelled(source, tokenizer, folder, **about)

    def batches(self, stores: list[Store], tokenizer: Tokenizer, model: System, **budget: int) -> Batcher:
        return Labelled(stores, tokenizer, **budget)

    def __call__(self, model: System, batch: Batch) -> Loss:
        return evenly(model, batch, self.loss)

    def loss(self, model: System, batch: Batch) -> Loss:
        scores = model.answer(batch.tokens, batch.at)
        costs, nats = label_nats(scores, batch.targets, self.smoothing)
        return Loss(costs.sum(), nats.detach(), batch.count)
