"""Classic mistakes, each switched on alone: a setting, or one function of the library replaced by a wrong one.

A mistake is made while a model is trained, used and checked. `caught` of the zoo is therefore what `regard verify`
says of a library in which the mistake really is.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from regard.attention import Look
from regard.attention.cache import Cache, KeyValues
from regard.attention.patterns import Pattern, causal
from regard.data import IGNORE, Batch
from regard.objectives.likelihood import Loss, NextToken
from regard.place import Place
from regard.shapes import Int, Tensor
from regard.systems import System, built
from regard.train.loop import Trainer

OTHER, PADDED, STALE = "another tokenizer", "padding in the mean", "stale cache"
AHEAD = "past ignores future"
BUILT = ("regard.train.run.built", "regard.checkpoint.built")  # where models are made
Wrongs = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Mistake:
    """`settings` are those of a training; `wrongs` functions by their full names, and what is put in their place.

    It makes things unequal that a `line` of the certificate says are equal; without one it is a model of its own, and
    only its symptom can tell.
    """

    about: str
    settings: tuple[str, ...] = ()
    wrongs: Wrongs = ()
    line: str = ""

    @contextmanager
    def made(self) -> Iterator[None]:
        """While this is open."""
        with ExitStack() as stack:
            for name, wrong in self.wrongs:
                stack.enter_context(patch(name, wrong))
            yield


def masked_by(rule: Callable[[Place, Place], Tensor]) -> Wrongs:
    """Every model that is made has another rule where the future should be hidden."""

    def wrong(*args: Any, **kwargs: Any) -> System:
        model = built(*args, **kwargs)
        for part in model.modules():
            if isinstance(part, Look) and part.pattern is causal:
                part.pattern = Pattern(rule)
        return model

    return tuple((name, wrong) for name in BUILT)


def unshifted(self: NextToken, model: System, batch: Batch) -> Loss:
    """Each token is asked for where it is given."""
    targets = batch.tokens.masked_fill(batch.targets == IGNORE, IGNORE)
    return right_loss(self, model, replace(batch, targets=targets))


def noted(self: Trainer, batch: Batch) -> tuple[Tensor, dict[str, Tensor], Tensor, float]:
    """The update as it is; `of_means` must know how many targets there are in all."""
    vars(self)["whole"] = batch.count
    return right_update(self, batch)


def of_means(self: Trainer, batch: Batch) -> Loss:
    """Each piece has the same weight, whatever it counts."""
    loss, counted = self.objective(self.model, batch), (batch.targets != IGNORE).sum()
    return replace(loss, total=loss.total / counted * vars(self)["whole"] / self.settings.accumulate)


def over_all(vectors: Tensor, present: Tensor | None) -> Tensor:
    """The mean of a text's vectors and of what it is padded with."""
    return vectors.mean(1)


def unmoved(self: KeyValues, rows: Int[Tensor, "b"]) -> None:
    """Rows change places, and what was remembered for them does not; where their number changes, it must."""
    if len(rows) == len(self.length):
        Cache.reorder(self, rows)
    else:
        right_reorder(self, rows)


right_loss, right_update, right_reorder = NextToken.loss, Trainer.update, KeyValues.reorder
MISTAKES = {
    "no mask": Mistake("tokens see all that follows", wrongs=masked_by(lambda q, k: k.index == k.index), line=AHEAD),
    "inverted mask": Mistake(
        "tokens see what follows and not what came before",
        wrongs=masked_by(lambda q, k: k.index >= q.index),
        line=AHEAD,
    ),
    "mask off by one": Mistake(
        "tokens see the one that follows", wrongs=masked_by(lambda q, k: k.index <= q.index + 1), line=AHEAD
    ),
    "missing shift": Mistake(
        "each token is asked for where it is given", wrongs=(("regard.objectives.NextToken.loss", unshifted),)
    ),
    "no scaling": Mistake("scores are not divided by the root of the head's width", ("system.score='dot'",)),
    "no warm-up": Mistake("the rate is highest at once, with norms after the sublayers", ("train.warmup=0",)),
    "no positions": Mistake("words are a set", ("system.position='none'",)),
    "mean of means": Mistake(
        "pieces of a batch count alike, however many words they have",
        ("train.accumulate=4",),
        (("regard.train.loop.Trainer.update", noted), ("regard.train.loop.Trainer._loss", of_means)),
        line="accumulated = full batch",
    ),
    STALE: Mistake(
        "hypotheses of a beam change places, and what was remembered for them does not",
        wrongs=(("regard.attention.cache.KeyValues.reorder", unmoved),),
        line="cached = full",
    ),
    PADDED: Mistake(
        "a text's mean vector has its padding in it",
        wrongs=(("regard.systems.bert.mean", over_all),),
        line="padding inert",
    ),
    OTHER: Mistake("the numbers of words are those of another run"),
}
