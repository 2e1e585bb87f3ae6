"""The training loop. It knows nothing about language: batches in, an objective to minimise, callables to watch it."""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import torch

from regard.data import Batch, Batcher
from regard.errors import Diverged, Interrupted, UserError
from regard.objectives import Loss
from regard.recipe import Train
from regard.systems import System, measuring
from regard.train.average import using
from regard.train.device import autocast
from regard.train.schedule import Schedule
from regard.train.state import State

Objective = Callable[[System, Batch], Loss]
Event = dict[str, Any]
OFTEN = 0.2  # seconds between two reports of how far a validation is


@dataclass
class Trainer:
    """One training. `save` keeps the state; each of `watch` is told what happens.

    `facts` is what the model's parts told of the last validation.
    """

    state: State
    objective: Objective
    batches: Batcher
    valid: Batcher | None
    settings: Train
    schedule: Schedule
    precision: torch.dtype
    save: Callable[[State], None]
    watch: list[Callable[[Event], None]]
    compiled: bool = False
    facts: dict[str, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.model, self.device = self.state.model, self.state.model.device
        self.loss = torch.compile(self._loss) if self.compiled else self._loss
        self._batch = lru_cache(maxsize=2)(self.batches.batch)
        self.since = Since()

    def fit(self) -> None:
        """Train to the end, or to Ctrl-C or SIGTERM, which leave a checkpoint."""
        settings, progress = self.settings, self.state.progress
        began, since = time.perf_counter() - progress.seconds, self.since
        since.restart()
        with interruptions() as interrupted:
            while (batch := self.upcoming()) is not None:
                nats, parts, norm, rate = self.update(batch)
                since.add(batch.count, loss=nats, **parts)
                progress.seconds = time.perf_counter() - began
                last = self.upcoming() is None
                due = last or progress.step % settings.save_every == 0
                if due or progress.step % settings.log_every == 0:
                    self._stop_if_lost(nats, norm, batch)
                if last or progress.step % settings.log_every == 0:
                    self._tell("step", rate=rate, norm=float(norm), **since.read())
                if due:
                    self.state.average.before_save(progress.step)
                if self.valid is not None and (last or progress.step % settings.evaluate_every == 0):
                    last = self._validate(self.valid) or last
                    progress.seconds = time.perf_counter() - began
                    last = last or self.upcoming() is None
                stops = interrupted.is_set()
                if due or last or stops:  # what an interruption saves is no checkpoint that an average counts
                    self._stop_if_lost(nats, norm, batch)
                    progress.finished = last
                    self.save(self.state)
                if stops and not last:
                    raise Interrupted(f"stopped at step {progress.step}; the checkpoint is written")
                if last:
                    break
        self._tell("end")

    def check(self) -> None:
        """Stop where not even one step would be taken."""
        if self.state.progress.step == 0 and self.upcoming() is None:
            most = self.settings.max_tokens
            raise UserError(f"train.max_tokens = {most} is less than one batch; lower train.batch_tokens")

    def evaluate(self, batches: Batcher, tell: Callable[[int], None] = lambda done: None) -> float:
        """Nats per token with the weights that would be used. Only sums are kept, never logits. `tell` hears how many
        batches are done."""
        self.model.eval()
        nats, count = torch.zeros((), device=self.device, dtype=torch.float64), 0
        with torch.no_grad(), using(self.model, self.state.average.weights()):
            for done, batch in enumerate(batches.in_order()):
                tell(done)
                with autocast(self.device, self.precision):
                    nats += self.objective(self.model, batch.to(self.device)).nats.double()
                count += batch.count
        self.model.train()
        return float(nats) / max(1, count)

    def done(self) -> float:
        """The finished part of the training, by whichever limit comes first."""
        settings, progress = self.settings, self.state.progress
        parts = [progress.step / settings.steps] if settings.steps else []
        parts += [progress.tokens / settings.max_tokens] if settings.max_tokens else []
        parts += [progress.seconds / settings.max_seconds] if settings.max_seconds else []
        return min(1.0, max(parts))  # time may run over in the middle of a step

    def _loss(self, batch: Batch) -> Loss:
        return self.objective(self.model, batch)

    def upcoming(self) -> Batch | None:
        """The batch at this place of the data, or None when training ends here: after `steps`, after `max_seconds`, or
        before `max_tokens` would be passed."""
        settings, progress = self.settings, self.state.progress
        if settings.steps and progress.step >= settings.steps:
            return None
        if settings.max_seconds and progress.seconds >= settings.max_seconds:
            return None
        if progress.batch >= self.batches.steps(progress.epoch):
            progress.epoch, progress.batch = progress.epoch + 1, 0
        batch = self._batch(progress.epoch, progress.batch)
        return None if settings.max_tokens and progress.tokens + batch.count > settings.max_tokens else batch

    def update(self, batch: Batch) -> tuple[torch.Tensor, dict[str, torch.Tensor], torch.Tensor, float]:
        """One update from the whole batch, computed in as many pieces as asked: nats, other parts, norm and rate."""
        progress, optimiser = self.state.progress, self.state.optimiser
        if not self.model.training:
            self.model.train()  # which asks every module
        rate = self.schedule(progress.step + 1, self.done())
        for group in optimiser.param_groups:
            group["lr"] = rate * group.get("part", 1.0)
        nats = torch.zeros((), device=self.device)
        parts: dict[str, torch.Tensor] = {}
        pieces = batch.split(self.settings.accumulate) if self.settings.accumulate > 1 else [batch]
        for piece in pieces:
            with autocast(self.device, self.precision):
                loss = self.loss(replace(piece, count=0).to(self.device))
            (loss.total / batch.count).backward()
            nats += loss.nats
            parts = {name: parts.get(name, 0.0) + part for name, part in loss.parts.items()}
        limit = self.settings.clip or math.inf
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), limit)
        progress.step, progress.batch, progress.tokens = (
            progress.step + 1,
            progress.batch + 1,
            progress.tokens + batch.count,
        )
        if self.device.type == "cpu":
            self._stop_if_lost(nats, norm, batch)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        self.state.average.after_step(progress.step)
        return nats, parts, norm, rate

    def _validate(self, valid: Batcher) -> bool:
        """Measure the validation loss, remember the best, and say whether patience has run out."""
        progress, patience = self.state.progress, self.settings.patience
        with measuring(self.model) as self.facts, self._apart():
            loss = self.evaluate(valid, self._how_far(valid.in_all()))
        progress.since_best += 1
        if loss < progress.best:
            progress.best, progress.best_step, progress.since_best = loss, progress.step, 0
            if patience:
                self.state.best = {name: t.detach().clone() for name, t in self.state.average.weights().items()}
        self._tell("valid", loss=loss, best=progress.best, best_step=progress.best_step, **self.facts)
        return bool(patience) and progress.since_best >= patience

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """What is done inside is no training: its time is counted by itself."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        began = time.perf_counter()
        yield
        seconds = time.perf_counter() - began
        self.state.progress.validating += seconds
        self.since.skip(seconds)

    def _how_far(self, batches: int) -> Callable[[int], None]:
        """Tells the watchers, now and then, which part of a validation is done."""
        last = -OFTEN

        def tell(done: int) -> None:
            nonlocal last
            if time.perf_counter() - last > OFTEN:
                last = time.perf_counter()
                self._tell("validating", part=done / batches)

        return tell

    def _stop_if_lost(self, nats: torch.Tensor, norm: torch.Tensor, batch: Batch) -> None:
        """A loss or gradient that is no number ends the run; the last good checkpoint stays as it is."""
        if bool(torch.isfinite(nats)) and bool(torch.isfinite(norm)):
            return
        what = "loss" if not bool(torch.isfinite(nats)) else "gradient"
        raise Diverged(
            f"the {what} is no longer a number at step {self.state.progress.step}; first in {self._first_lost(batch)}. "
            "The last good checkpoint is kept; try a lower train.rate, more train.warmup or train.precision=float32"
        )

    def _first_lost(self, batch: Batch) -> str:
        """The first part of the model whose output is no number on this batch."""
        found: list[str] = []

        def listen(name: str):
            def hook(module, inputs, output) -> None:
                if isinstance(output, torch.Tensor) and not found and not bool(torch.isfinite(output).all()):
                    found.append(name)

            return hook

        handles = [module.register_forward_hook(listen(name)) for name, module in self.model.named_modules() if name]
        with torch.no_grad():
            self.objective(self.model, batch.to(self.device))
        for handle in handles:
            handle.remove()
        return found[0] if found else "the gradients"

    def _tell(self, kind: str, **facts: Any) -> None:
        progress = self.state.progress
        event = {"event": kind, "step": progress.step, "epoch": progress.epoch, "tokens": progress.tokens}
        event |= {"seconds": round(progress.seconds, 3), "done": round(self.done(), 6), **facts}
        for watcher in self.watch:
            watcher(event)


class Since:
    """Loss and speed since the last look."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.sums: dict[str, Any] = {}
        self.count, self.began = 0, time.perf_counter()

    def skip(self, seconds: float) -> None:
        """That time was spent on something else."""
        self.began += seconds

    def add(self, count: int, **parts: torch.Tensor) -> None:
        """What so many tokens cost, part by part."""
        self.count += count
        for name, part in parts.items():
            self.sums[name] = self.sums.get(name, 0.0) + part

    def read(self) -> dict[str, float]:
        means = {name: float(part) / self.count for name, part in self.sums.items()}
        speed = self.count / (time.perf_counter() - self.began)
        self.restart()
        return {**means, "tokens_per_second": speed}


@contextmanager
def interruptions() -> Iterator[threading.Event]:
    """Ctrl-C and SIGTERM set a flag instead of breaking off in the middle of a step. A second Ctrl-C breaks off."""
    flag = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return

    def note(number, frame) -> None:
        if flag.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        flag.set()

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield flag
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
