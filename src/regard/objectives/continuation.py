"""Long-document generation (O9; Liu et al., 2018): a target that goes on from its source, one text for the model.

<s> source </s> target </s>
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from regard.attention.look import parted
from regard.data import IGNORE, Batch
from regard.data.continued import Continued, write_continued
from regard.errors import UserError
from regard.objectives.likelihood import Loss, NextToken, chosen_loss, token_nats
from regard.shapes import Int, Tensor
from regard.systems import System


@dataclass(frozen=True, kw_only=True)
class Continuation(NextToken):
    """Predict each token of a target from those before it, the first of which are its source.

    With a `source_weight` the source is learnt too, each token of it with so much of the weight of one of the target:
    1 is how the paper trains. Losses that are told are of the target alone.
    """

    columns: ClassVar[tuple[str, ...]] = ("source", "target")
    source_weight: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.source_weight >= 0:
            raise UserError(f"objective.source_weight = {self.source_weight}; it must be 0 or more")

    def misfit(self, model: System) -> str:
        if model.reads_source:
            return "reads a source by itself and objective '{}' writes it before the target"
        if parted(model):
            return "shows each token its own block alone, and objective '{}' asks for a target that knows its source"
        return super().misfit(model)

    def write(self, source, tokenizer, folder, *, labels, context, too_long):
        return write_continued(source, tokenizer, folder, columns=self.columns, context=context, too_long=too_long)

    def batches(self, stores, tokenizer, model, **budget):
        return Continued(stores, tokenizer, **budget)

    def loss(self, model: System, batch: Batch) -> Loss:
        vectors = model.hidden(batch.tokens, None, at=batch.at)
        loss = chosen_loss(model, vectors, batch, smoothing=self.smoothing)
        if not (self.source_weight and model.training):
            return loss
        costs, _ = token_nats(model, vectors, sources(batch), self.smoothing)
        term = self.source_weight * costs.sum()
        return replace(loss, total=loss.total + term, parts={**loss.parts, "source": term.detach()})


def sources(batch: Batch) -> Int[Tensor, "b t"]:
    """What follows each token of a source, up to its end; nothing else is counted."""
    present = batch.places().present
    assert present is not None
    follows = batch.tokens.roll(-1, dims=1)  # the last token of a row is none of its source
    return follows.masked_fill((batch.targets != IGNORE) | ~present, IGNORE)
