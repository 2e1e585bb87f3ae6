"""Masked language modelling (O5) and next-sentence prediction (O6), as BERT is pre-trained (Devlin et al., 2019).

Some tokens are hidden, and their probability given all others is maximised; nothing is computed for the rest. With
pairs of sentences the model also tells whether the second really followed the first.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from regard.data import IGNORE, Batch, Batcher
from regard.data.batch import pad
from regard.data.corruption import Masking
from regard.data.parsed import Parsed, write_parsed
from regard.data.rows import between, laid_out, room
from regard.data.sources import HEADS, Source
from regard.data.store import Store, write_documents, write_pairs
from regard.data.texts import Example, TextPairs, Texts
from regard.errors import UserError, share
from regard.objectives.likelihood import Loss, chosen_loss, evenly
from regard.systems import System
from regard.text import Tokenizer
from regard.text.tokenizer import MASK, SPECIALS


@dataclass(frozen=True, kw_only=True)
class Masked:
    """Guess hidden tokens. `share` of them are chosen anew in every epoch, of whole words when `whole_words`.

    With `trees` sentences are read word by word, each with its dependency tree, which positions "syntax" look at.
    """

    label: ClassVar[str] = ""
    continues: ClassVar[bool] = False
    head: ClassVar[str] = "own"
    symbols: ClassVar[tuple[str, ...]] = (MASK,)
    share: float = 0.15
    whole_words: bool = False
    trees: bool = False

    def __post_init__(self) -> None:
        share("objective", self, "share")
        if not self.share:
            raise UserError("objective.share = 0.0 hides nothing: there is nothing to learn")

    @property
    def columns(self) -> tuple[str, ...]:
        return ("words", HEADS) if self.trees else ("text",)

    def misfit(self, model: System) -> str:
        fits = not model.writes_text and model.answers == "words"
        return "" if fits else "sees what came before alone and objective '{}' asks for a look at both sides"

    def labels(self, source: Source) -> tuple[str, ...]:
        return ()

    def write(self, source: Source, tokenizer: Tokenizer, folder: Path, *, labels, context: int, too_long: str):
        if not self.trees:
            return write_documents(source, tokenizer, folder)
        return write_parsed(source, tokenizer, folder, columns=self.columns, context=context, too_long=too_long)

    def batches(self, stores: list[Store], tokenizer: Tokenizer, model: System, **budget: int) -> Batcher:
        if self.trees:
            return Parsed(stores, self.maker(tokenizer), **budget)
        return Texts(stores[0], self.maker(tokenizer), room=model.context - 2, **budget)

    def masking(self, tokenizer: Tokenizer) -> Masking:
        special = {tokenizer.symbol(name) for name in (*SPECIALS, *self.symbols)}
        others = np.array([token for token in range(len(tokenizer)) if token not in special])
        leads = tokenizer.leads if self.whole_words else None
        return Masking(tokenizer.symbol(MASK), others, self.share, leads)

    def maker(self, tokenizer: Tokenizer) -> Callable[[list[Example], list[np.random.Generator]], Batch]:
        """Texts to a batch in which some of their tokens are hidden."""
        masking, parted = self.masking(tokenizer), tokenizer.habits.parted

        def make(texts: list[Example], chances: list[np.random.Generator]) -> Batch:
            rows = [hidden(text[:2], masking, chance) for text, chance in zip(texts, chances, strict=True)]
            tokens, place = laid_out([shown for shown, _ in rows], tokenizer)
            targets = pad([between(wanted, IGNORE, IGNORE, parted) for _, wanted in rows], IGNORE)
            pairs = len(texts[0]) > 1
            label = torch.from_numpy(np.concatenate([text[2] for text in texts])).long() if pairs else None
            count = int((targets != IGNORE).sum())
            return Batch(tokens, targets, count, place, label=label, whole=True, few=True)

        return make

    def __call__(self, model: System, batch: Batch) -> Loss:
        return evenly(model, batch, self.loss)

    def loss(self, model: System, batch: Batch) -> Loss:
        assert batch.at is not None
        return chosen_loss(model, model.embed(batch.tokens, batch.at), batch)


@dataclass(frozen=True, kw_only=True)
class MaskedPairs(Masked):
    """Guess hidden tokens of two sentences and, where `random` of the second ones are not the real ones, which.

    With `random` 0 all pairs are real, and nothing is asked about them. Each row's answer weighs as much as its hidden
    tokens together.
    """

    columns: ClassVar[tuple[str, ...]] = ("first", "second")  # type: ignore[misc]
    random: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.trees:
            raise UserError("objective.trees is for single sentences: objective.kind = 'masked'")
        share("objective", self, "random")

    @property
    def head(self) -> str:  # type: ignore[override]
        return "next" if self.random else "own"

    def misfit(self, model: System) -> str:
        segments = getattr(getattr(model, "settings", None), "segments", 2)
        told = "" if segments > 1 else f"has system.segments = {segments} and objective '{{}}' asks which of two it is"
        return super().misfit(model) or told

    def write(self, source, tokenizer, folder, *, labels, context, too_long):
        symbols = room(2, tokenizer.habits.parted)
        half = (context - symbols) // 2 + 1  # one symbol is its own
        about = {"columns": self.columns, "context": half, "too_long": too_long}
        stores, counts = write_pairs(source, tokenizer, folder, **about)
        counts.most, counts.targets = half, False
        counts.tokens = sum(len(store.flat) for store in stores) + symbols * counts.kept
        return stores, counts

    def batches(self, stores, tokenizer, model, **budget):
        symbols = room(2, tokenizer.habits.parted)
        return TextPairs(stores, self.maker(tokenizer), random=self.random, symbols=symbols, **budget)

    def loss(self, model, batch):
        vectors = model.embed(batch.tokens, batch.at)
        loss = chosen_loss(model, vectors, batch)
        if not self.random:
            return loss
        nats = cross_entropy(model.head.follows(vectors, batch.at).float(), batch.label, reduction="none")
        term = (nats * (batch.targets != IGNORE).sum(1)).sum()
        return Loss(loss.total + term, loss.each, loss.count, {"next": term.detach()})


def hidden(texts: Example, masking: Masking, chance: np.random.Generator) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The texts of one row with some of their tokens hidden, and what these were."""
    cuts = np.cumsum([len(text) for text in texts])[:-1]
    shown, targets = masking(np.concatenate(texts), chance)
    return np.split(shown, cuts), np.split(targets, cuts)
