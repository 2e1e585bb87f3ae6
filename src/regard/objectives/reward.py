"""Expected reward (GNMT + RL; Wu et al., 2016, section 5, eq. 7-9): likely translations shall be good ones.

For each source the model draws translations of its own, and each is scored by GLEU against the reference. What is
minimised is O_mixed = alpha * O_ML + O_RL, where O_RL is minus the expected score. Its gradient is estimated from the
samples: -(r - mean r) * grad log p(sample), with the mean over the samples of the same source.

A mean of all samples holds the sample itself and so makes the estimate smaller by (samples - 1) / samples; dividing by
samples - 1 in place of samples makes it right again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch

from regard.data import IGNORE, Batch
from regard.data.batch import pad
from regard.decode import Hypothesis
from regard.decode.generate import opened
from regard.decode.sample import Chance
from regard.decode.sampler import Sampler
from regard.decode.settings import Decode
from regard.errors import UserError
from regard.objectives.gleu import gleu
from regard.objectives.likelihood import Loss, Translation, token_nats
from regard.shapes import Float, Int, Tensor
from regard.systems import System


@dataclass(frozen=True, kw_only=True)
class Reward(Translation):
    """Score `samples` translations of each source, and stay near the references with the weight `likelihood`.

    A sample is drawn without dropout at this `temperature` (at 1 from the model as it is) and ends after at most
    `longest` times as many tokens as its reference has, end symbols counted. Its probability, through which the
    gradient goes, is computed with dropout like everything else in training. `smoothing` acts on the references alone.
    While evaluating nothing is drawn: the loss is that of "translation".
    """

    continues: ClassVar[bool] = True
    likelihood: float = 0.017
    samples: int = 5
    temperature: float = 1.0
    longest: float = 1.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples < 2:
            raise UserError(f"objective.samples = {self.samples}; a sample is held against others: give 2 or more")
        for name in ("temperature", "longest"):
            if not 0 < getattr(self, name) < torch.inf:
                raise UserError(f"objective.{name} = {getattr(self, name)}; it must be more than 0")
        if not 0 <= self.likelihood < torch.inf:
            raise UserError(f"objective.likelihood = {self.likelihood}; it must be 0 or more")

    def loss(self, model: System, batch: Batch) -> Loss:
        """`nats` is the likelihood of the references, `parts` the mean reward, times the targets as all sums are."""
        loss = super().loss(model, batch)
        if not (model.training and torch.is_grad_enabled()):
            return loss
        drawn, rewards = self.draw(model, batch)
        better = rewards - rewards.mean(1, keepdim=True)
        expected = -(better.flatten() * log_likelihoods(model, drawn, batch)).sum() / (self.samples - 1)
        reward = rewards.mean(1) @ (batch.targets != IGNORE).sum(1).to(rewards)
        return replace(loss, total=self.likelihood * loss.total + expected, parts={**loss.parts, "reward": reward})

    @torch.compiler.disable
    def draw(self, model: System, batch: Batch) -> tuple[Batch, Float[Tensor, "b n"]]:
        """Samples for each row, those of a row side by side, and the score of each."""
        references = [row[:length] for row, length in zip(batch.targets.tolist(), batch.lengths, strict=True)]
        start, end = int(batch.tokens[0, 0]), references[0][-1]
        with as_used(model):
            found = self._sample(model, batch, start, end, [max(1, int(self.longest * len(r))) for r in references])
        rewards = [gleu(h.tokens, references[i // self.samples][:-1]) for i, h in enumerate(found)]
        targets = [[*h.tokens, end] if h.ended == "end" else h.tokens for h in found]
        tokens = filled([[start, *row[:-1]] for row in targets], end)
        drawn = Batch(tokens, filled(targets, IGNORE), sum(map(len, targets))).to(model.device)
        return drawn, torch.tensor(rewards, device=model.device).unflatten(0, (-1, self.samples))

    def _sample(self, model: System, batch: Batch, start: int, end: int, most: list[int]) -> list[Hypothesis]:
        """As many hypotheses for each row of at most so many tokens."""
        assert batch.source is not None
        sources: list[list[int]] = batch.source.tolist()
        if batch.source_present is not None:
            lengths = batch.source_present.sum(1).tolist()
            sources = [row[:length] for row, length in zip(sources, lengths, strict=True)]
        settings = Decode(max_tokens=max(most), temperature=self.temperature)
        numbers = list(range(len(sources) * self.samples))

        def full(number: int, tokens: list[int]) -> bool:
            return len(tokens) >= most[number // self.samples]

        # Seeds of torch's own generator, whose state a checkpoint holds: a resumed training draws what it would have.
        chance = Chance(dict(enumerate(torch.randint(2**62, (len(numbers),)).tolist())))
        with opened(model, [[start] for _ in sources], sources, settings) as (session, room):
            session.select(copies(len(sources), self.samples))
            found = Sampler(session, settings, ends={end}, numbers=numbers, chance=chance, stops=full).run(room)
        return [hypothesis for (hypothesis,) in found]


def log_likelihoods(model: System, drawn: Batch, batch: Batch) -> Float[Tensor, "n"]:
    """log p of each sample given its source, in one pass; the source is read once for all samples of it."""
    assert batch.source is not None
    memory = model.encode(batch.source, batch.source_present)
    rows = torch.tensor(copies(len(batch), len(drawn) // len(batch)), device=model.device)
    at = drawn.places() if model.whole_batches else None
    vectors = model.hidden(drawn.tokens, memory.reorder(rows), at=at)
    return -token_nats(model, vectors, drawn.targets)[1].sum(1)


def copies(rows: int, count: int) -> list[int]:
    """0 0 0 1 1 1 ...: each row so many times."""
    return [row for row in range(rows) for _ in range(count)]


def filled(rows: list[list[int]], filler: int) -> Int[Tensor, "b t"]:
    return pad([np.asarray(row, np.int64) for row in rows], filler)


@contextmanager
def as_used(model: System) -> Iterator[None]:
    """The model as it is used after training: no dropout, no gradient.

    Weights that are cast here must not be kept for the pass that follows: they would have no gradient there.
    """
    kind, training = model.device.type, model.training
    casts = torch.autocast(
        kind, torch.get_autocast_dtype(kind), enabled=torch.is_autocast_enabled(kind), cache_enabled=False
    )
    model.eval()
    try:
        with torch.no_grad(), casts:
            yield
    finally:
        model.train(training)
