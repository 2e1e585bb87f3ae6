"""Skip-gram with negative sampling (S14; Mikolov et al., 2013): tell a word's neighbours from noise.

For a centre c with the neighbours N(c), the words around it that are within its reach, what is minimised is

    L_c = sum over o in N(c) of [ -log s(u_o . v_c) - k E_n[log s(-u_n . v_c)] ],    s(x) = 1 / (1 + e^-x),

their equation 4, summed as in their equation 1 and divided by the number of centres. The expectation over the noise n,
words drawn in proportion to f(n)^0.75, is estimated from M draws that all centres of a row share:

    L_c ~ sum over o in N(c) of -log s(u_o . v_c)  -  |N(c)| k/M  sum over m = 1..M of log s(-u_m . v_c).

The paper draws k words for each pair. Both estimates have the same mean, and so have their gradients; this one makes
the scores of a row two products of matrices. What is subsampled and how far a centre reaches: `data/skip_grams.py`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch.nn.functional import softplus

from regard.data import Batch, Batcher
from regard.data.skip_grams import Drawing, SkipGrams
from regard.data.sources import Source
from regard.data.store import Store, write_documents
from regard.errors import UserError, at_least
from regard.objectives.likelihood import Loss
from regard.shapes import Bool, Tensor
from regard.systems import System
from regard.systems.word2vec import WordVectors
from regard.text import Tokenizer


@dataclass(frozen=True, kw_only=True)
class SkipGram:
    """Neighbours are at most `window` words away. `negatives` is k, `noise` is M; a `subsample` of 0 keeps every word.

    A token of the trainer is a centre, a word that subsampling leaves: `train.max_tokens` and the speed count those,
    `train.batch_tokens` the words of the text before it.
    """

    columns: ClassVar[tuple[str, ...]] = ("text",)
    label: ClassVar[str] = ""
    continues: ClassVar[bool] = False
    head: ClassVar[str] = "own"
    symbols: ClassVar[tuple[str, ...]] = ()
    window: int = 5
    negatives: int = 5
    noise: int = 64
    subsample: float = 1e-4

    def __post_init__(self) -> None:
        at_least(1, "objective", self, "window", "negatives", "noise")
        if not 0 <= self.subsample <= 1:
            raise UserError(f"objective.subsample = {self.subsample}; it must lie between 0 and 1")

    def misfit(self, model: System) -> str:
        if not isinstance(model, WordVectors):
            return "has no vectors of words as neighbours and objective '{}' asks for them"
        if self.window >= model.context:
            return f"reads {model.context} words in a row and objective '{{}}' looks {self.window} words to either side"
        return ""

    def labels(self, source: Source) -> tuple[str, ...]:
        return ()

    def write(self, source: Source, tokenizer: Tokenizer, folder: Path, *, labels, context: int, too_long: str):
        return write_documents(source, tokenizer, folder)

    def batches(self, stores: list[Store], tokenizer: Tokenizer, model: System, **budget: int) -> Batcher:
        drawing = Drawing(self.window, self.noise, self.subsample)
        return SkipGrams(stores, tokenizer, drawing, context=model.context, **budget)

    def __call__(self, model: System, batch: Batch) -> Loss:
        assert isinstance(model, WordVectors) and batch.source is not None
        around = neighbours(batch)
        scores = model.meet(batch.tokens, torch.cat((batch.tokens, batch.source), dim=1)).float()
        met, noise = scores.split((batch.tokens.shape[1], batch.source.shape[1]), dim=-1)
        weight = around.sum(-1) * (self.negatives / batch.source.shape[1])
        each = (softplus(-met) * around).sum(-1) + softplus(noise).sum(-1) * weight
        return Loss(each.sum(), each.detach(), batch.count)


def neighbours(batch: Batch) -> Bool[Tensor, "b c t"]:
    """Whether a word is a neighbour of a centre: within its reach, in its document, and not the centre itself."""
    assert batch.at is not None and batch.at.document is not None
    places, document = torch.arange(batch.tokens.shape[1], device=batch.tokens.device), batch.at.document
    away = (places[:, None] - places).abs()
    within = (away <= batch.targets[..., None]) & (away > 0)
    return within & (document[:, :, None] == document[:, None, :])
