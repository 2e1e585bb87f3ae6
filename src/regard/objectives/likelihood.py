"""Maximum likelihood (O1, O2): the probability of what really follows, for a text alone or given a source."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import torch
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint

from regard.data import IGNORE, Batch, Batcher, Documents, Pairs, Pieces, Windows
from regard.data.sources import Source
from regard.data.store import Store, write_documents, write_pairs
from regard.errors import share
from regard.shapes import Float, Int, Tensor
from regard.systems import System
from regard.tap import Recording, collect
from regard.text import Tokenizer

PIECE = 8192  # tokens of a long text that are read together
AT_ONCE = {"cpu": 2**28, "cuda": 2**31}  # logits held together; more are made in pieces, and again for the gradient


@dataclass(frozen=True)
class Loss:
    """What is minimised, summed over the counted targets; the plain negative log-likelihood of each; and how many.

    `each` has the shape of the targets and is 0 where one is not counted. `parts` are what else is in the total, by
    name, to be shown.
    """

    total: Float[Tensor, ""]
    each: Float[Tensor, "..."]
    count: int
    parts: dict[str, Tensor] = field(default_factory=dict)

    @property
    def nats(self) -> Float[Tensor, ""]:
        """Of all targets together."""
        return self.each.sum()


@dataclass(frozen=True, kw_only=True)
class NextToken:
    """Predict each token of a text from those before it."""

    columns: ClassVar[tuple[str, ...]] = ("text",)
    label: ClassVar[str] = ""
    continues: ClassVar[bool] = False  # it makes sense for a trained model alone
    head: ClassVar[str] = "own"  # what must stand on the model
    gives_source: ClassVar[bool] = False
    symbols: ClassVar[tuple[str, ...]] = ()  # of the vocabulary, besides those of every text
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        share("objective", self, "smoothing")

    def misfit(self, model: System) -> str:
        """What stands against training the model for this, said of the model and of the objective; else nothing."""
        given = self.gives_source
        if model.reads_source == given:
            return "" if model.writes_text else "writes no text and objective '{}' asks for it"
        return f"reads {'no' if given else 'a'} source and objective '{{}}' gives {'one' if given else 'none'}"

    def labels(self, source: Source) -> tuple[str, ...]:
        return ()

    def write(self, source: Source, tokenizer: Tokenizer, folder: Path, *, labels, context: int, too_long: str):
        return write_documents(source, tokenizer, folder)

    def batches(self, stores: list[Store], tokenizer: Tokenizer, model: System, **budget: int) -> Batcher:
        """Packed windows where the system keeps documents apart, else one document a row, whole if it has no limit."""
        kind = Windows if model.packs else Documents if model.limit is None else Pieces
        return kind(stores, tokenizer, context=model.context, **budget)

    def __call__(self, model: System, batch: Batch) -> Loss:
        if batch.tokens.shape[1] > model.context and batch.source is None:
            return carried(model, batch, smoothing=self.smoothing)
        if model.whole_batches:
            batch = replace(batch, at=batch.places())
        return evenly(model, batch, self.loss)

    def loss(self, model: System, batch: Batch) -> Loss:
        """All that is minimised but what keeps experts evenly used."""
        memory = model.encode(batch.source, batch.source_present) if batch.source is not None else None
        vectors = model.hidden(batch.tokens, memory, at=batch.at)
        return vocabulary_loss(model, vectors, batch, smoothing=self.smoothing)


@dataclass(frozen=True, kw_only=True)
class Translation(NextToken):
    """Predict each token of a target from those before it and the source."""

    columns: ClassVar[tuple[str, ...]] = ("source", "target")
    gives_source: ClassVar[bool] = True
    smoothing: float = 0.1

    def write(self, source, tokenizer, folder, *, labels, context, too_long):
        return write_pairs(source, tokenizer, folder, columns=self.columns, context=context, too_long=too_long)

    def batches(self, stores, tokenizer, model, **budget):
        return Pairs(stores, tokenizer, **budget)


def carried(model: System, batch: Batch, *, smoothing: float) -> Loss:
    """Texts longer than the context, read piece by piece through a cache that carries on what was read before.

    A row that has ended is read no further: beside one long text the padding would be most of the work.
    """
    cache, totals, begin = model.start(*batch.tokens.shape), [], 0
    going, lengths, rows = batch, batch.lengths, torch.arange(len(batch), device=batch.tokens.device)
    each = torch.zeros(batch.targets.shape, device=batch.tokens.device)
    while begin < max(lengths):
        left = [i for i, length in enumerate(lengths) if length > begin]
        if len(left) < len(lengths):
            kept = torch.tensor(left, device=batch.tokens.device)
            going, lengths = Batch(going.tokens[kept], going.targets[kept], batch.count), [lengths[i] for i in left]
            rows = rows[kept]
            cache.reorder(kept)
        piece = going.columns(begin, begin + max(model.context, PIECE // len(left)))
        loss = vocabulary_loss(model, model.hidden(piece.tokens, None, cache), piece, smoothing=smoothing)
        end = begin + piece.tokens.shape[1]
        each[rows, begin:end] = loss.each
        totals.append(loss.total)
        begin = end
    return Loss(torch.stack(totals).sum(), each, batch.count)


def evenly(model: System, batch: Batch, read: Callable[[System, Batch], Loss]) -> Loss:
    """The loss of a batch, while training with the terms that keep experts evenly used where the model has any."""
    if not (model.whole_batches and model.training):
        return read(model, batch)
    with collect(model, "*.balance") as seen:
        loss = read(model, batch)
    return balanced(loss, seen, batch)


def balanced(loss: Loss, seen: Recording, batch: Batch) -> Loss:
    """With the terms that keep experts evenly used.

    They hold for the whole batch, so each target counts them once: their mean, where the batch was read several times.
    """
    terms = [torch.stack(seen.all(name)).mean() for name in seen]
    term = torch.stack(terms).sum() * (batch.targets != IGNORE).sum()
    return replace(loss, total=loss.total + term, parts={**loss.parts, "balance": term.detach()})


def vocabulary_loss(model: System, vectors: Float[Tensor, "b t w"], batch: Batch, *, smoothing: float) -> Loss:
    costs, nats = token_nats(model, vectors, batch.targets, smoothing)
    return Loss(costs.sum(), nats.detach(), batch.count)


def chosen_loss(model: System, vectors: Float[Tensor, "b t w"], batch: Batch, *, smoothing: float = 0.0) -> Loss:
    """Of the counted targets, where they are few: no scores are made for others."""
    chosen = batch.places_of_targets()
    wanted = batch.targets.flatten()[chosen]
    costs, nats = token_nats(model, vectors.flatten(0, 1)[chosen][None], wanted[None], smoothing)
    each = torch.zeros(batch.targets.shape, device=nats.device).flatten().index_copy(0, chosen, nats.detach()[0])
    return Loss(costs.sum(), each.view(batch.targets.shape), batch.count)


def token_nats(
    model: System, vectors: Float[Tensor, "b t w"], targets: Int[Tensor, "b t"], smoothing: float = 0.0
) -> tuple[Float[Tensor, "b t"], Float[Tensor, "b t"]]:
    """`label_nats` of each token, without ever holding more than `AT_ONCE` logits."""

    def piece(rows: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
        return label_nats(model.logits(rows), wanted, smoothing)

    rows, wanted = vectors.flatten(0, 1), targets.flatten()
    size = max(1, AT_ONCE.get(rows.device.type, 2**28) // model.vocabulary)
    if rows.shape[0] <= size:
        pieces = [piece(rows, wanted)]
    else:
        both = zip(rows.split(size), wanted.split(size), strict=True)
        pieces = [checkpoint(piece, *each, use_reentrant=False) for each in both]
    costs, nats = (torch.cat(each).view_as(targets) for each in zip(*pieces, strict=True))
    return costs, nats


def label_nats(
    logits: Float[Tensor, "n v"], targets: Int[Tensor, "n"], smoothing: float
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    """What is minimised for each target, and its nats; 0 where it is not counted.

    With label smoothing, `smoothing` of the probability is asked for every label alike (Szegedy et al., 2016).
    """
    logits = logits.float()
    nats = cross_entropy(logits, targets, ignore_index=IGNORE, reduction="none")
    if not smoothing:
        return nats, nats
    even = (logits.logsumexp(-1) - logits.mean(-1)).masked_fill(targets == IGNORE, 0.0)
    return (1 - smoothing) * nats + smoothing * even, nats
