"""Nothing to minimise (O10): a model whose vectors are used as they are, or under the head of another task."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NoReturn

from regard.data import Batch, Batcher
from regard.data.sources import Source
from regard.data.store import Store
from regard.errors import UserError
from regard.objectives.likelihood import Loss
from regard.systems import System
from regard.text import Tokenizer


def untrained() -> NoReturn:
    raise UserError(
        "objective 'vectors' trains nothing: its run is there to be used, or to be started from, "
        "with --from and another objective"
    )


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """A vector for each token. Where `pooled`, the model also has the layer that makes one vector of a whole text."""

    columns: ClassVar[tuple[str, ...]] = ("text",)
    label: ClassVar[str] = ""
    continues: ClassVar[bool] = False
    symbols: ClassVar[tuple[str, ...]] = ()
    pooled: bool = False

    @property
    def head(self) -> str:
        return "pooled" if self.pooled else "vectors"

    def misfit(self, model: System) -> str:
        untrained()

    def labels(self, source: Source) -> tuple[str, ...]:
        untrained()

    def write(self, source: Source, tokenizer: Tokenizer, folder: Path, *, labels, context: int, too_long: str):
        untrained()

    def batches(self, stores: list[Store], tokenizer: Tokenizer, model: System, **budget: int) -> Batcher:
        untrained()

    def __call__(self, model: System, batch: Batch) -> Loss:
        untrained()
