"""accumulated = full batch: a batch computed in pieces gives the gradient of the whole, no mean of means."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import nn

from regard.attention import Look
from regard.blocks.dropout import Dropping
from regard.checkpoint import Run, weights
from regard.data import Batch
from regard.data.prepare import stores
from regard.objectives import Vectors
from regard.systems import System
from regard.train.average import Last
from regard.train.loop import Trainer
from regard.train.run import TOKENS
from regard.train.state import Progress, State
from regard.verify.check import DoesNotApply, Finding, Gradients
from regard.verify.inputs import Inputs

FEW = 1024  # tokens of a batch


def check(run: Run, inputs: Inputs) -> Finding:
    if isinstance(run.recipe.objective, Vectors):
        raise DoesNotApply("it was made to be used, not trained: there is no loss")
    if run.model.whole_batches:
        raise DoesNotApply("experts are balanced over the whole batch: this system is not trained in pieces")
    found, batch = Finding(inputs.lengths), trained_on(run) if inputs.asks_nothing(run) else inputs.batch(run.tokenizer)
    model = undropped(run)
    whole = gradient(run, model, batch, pieces=1)
    for pieces in (2, len(batch)):
        found.compare_gradients(gradient(run, model, batch, pieces=pieces), whole, f"in {pieces} pieces")
    return found


def trained_on(run: Run) -> Batch:
    """A batch of the run's own training, of a task whose batches are like no text."""
    if not (run.path / TOKENS / "train").is_dir():
        raise DoesNotApply(f"the run has no {TOKENS}/ to make a batch from")
    task = run.recipe.objective
    found = stores(run.path / TOKENS / "train", task.columns)
    return task.batches(found, run.tokenizer, run.model, batch_tokens=FEW, seed=run.recipe.seed).batch(0, 0)


def undropped(run: Run) -> System:
    """A copy without dropout, which would drop other units from each piece."""
    model = copy.deepcopy(run.model)
    for part in model.modules():
        if isinstance(part, nn.Dropout | Dropping):
            part.p = 0.0
        elif isinstance(part, Look):
            part.dropout = 0.0
    return model


@torch.enable_grad()
def gradient(run: Run, model: System, batch: Batch, *, pieces: int) -> Gradients:
    """What one update of the trainer hands to its optimiser."""
    optimiser = Catch(model.parameters())
    settings = replace(run.recipe.train, accumulate=pieces, clip=0.0)
    trainer = Trainer(
        state=State(model, optimiser, Last(model, settings), Progress(), {}),
        objective=run.recipe.objective,
        batches=Single(batch),
        valid=None,
        settings=settings,
        schedule=lambda step, done: 0.0,
        precision=torch.float32,
        save=lambda state: None,
        watch=[],
    )
    with torch.random.fork_rng(devices=[]):  # an objective that draws, draws the same however it is cut
        torch.manual_seed(0)
        trainer.update(batch)
    return dict(zip(weights(model), optimiser.caught, strict=True))


class Catch(torch.optim.SGD):
    """An optimiser that keeps the gradient and moves nothing."""

    def step(self, closure=None):
        self.caught = [parameter.grad.clone() for parameter in self.param_groups[0]["params"]]


@dataclass(frozen=True)
class Single:
    """One batch as training data."""

    only: Batch

    def steps(self, epoch: int) -> int:
        return 1

    def batch(self, epoch: int, step: int) -> Batch:
        return self.only

    def in_order(self) -> Iterator[Batch]:
        yield self.only

    def in_all(self) -> int:
        return 1
