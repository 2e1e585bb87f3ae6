"""Pieces of work that may fail or be interrupted without losing the others.

What a unit finds is kept in a file of its own. One whose file is there is not done again; one that failed is, by the
next hands that take it up. By default they are done one after another in this process; with several jobs side by side
in processes of their own.
"""

import multiprocessing
import os
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint import read_json, write_json
from regard.errors import Interrupted, UserError, WorldError
from regard.train.forecast import duration

Say = Callable[[str], None]
INTERRUPTED = 130  # exit code


@dataclass(frozen=True)
class Unit:
    """`work(*args, quiet=...)` gives what is written to `file`; it must be a function of a module.

    `figure` names the number among it that is worth saying at once.
    """

    what: str
    work: Callable[..., dict[str, Any]]
    args: tuple[Any, ...]
    file: Path
    seconds: float  # about
    figure: str = ""

    @property
    def done(self) -> bool:
        return self.file.exists() and not self.error

    @property
    def error(self) -> str:
        """Why it failed; a file that is damaged is as good as none."""
        try:
            return read_json(self.file).get("error", "")
        except UserError as error:
            return str(error)


@dataclass(frozen=True)
class Hands:
    """Those who do the work: how many side by side, whom they tell, and what failed in them, which they leave.

    `ended` is told of each unit that is over.
    """

    jobs: int = 1
    quiet: bool = True
    say: Say = lambda line: None
    ended: Callable[[Unit], None] = lambda unit: None
    failed: set[Path] = field(default_factory=set)

    def carry_out(self, units: list[Unit]) -> None:
        """Do what is not done yet. Failures are written and said; an interruption ends it all, resumably."""
        waiting = [unit for unit in units if not unit.done and unit.file not in self.failed]
        clock = Clock(waiting, self.jobs, self.say, self.ended)
        if self.jobs > 1:
            side_by_side(waiting, self.jobs, clock)
        else:
            for unit in waiting:
                clock.begins(unit)
                perform(unit, quiet=self.quiet)
                clock.ends(unit)
        self.failed.update(unit.file for unit in waiting if unit.error)


def perform(unit: Unit, *, quiet: bool = True, beside: int = 0) -> None:
    """Do one unit and write what it found, or in one line why it failed."""
    try:
        found = unit.work(*unit.args, quiet=quiet) | {"jobs_beside": beside}
    except Interrupted:
        raise
    except Exception as error:
        kind = "" if isinstance(error, UserError | WorldError) else f"{type(error).__name__}: "
        line = " ".join(f"{kind}{error}".split())
        found = {"error": line or type(error).__name__, "traceback": traceback.format_exc()}
    write_json(unit.file, found)


class Worker:
    """A process that does one unit after another, so that torch is loaded once."""

    def __init__(self, context: Any, beside: int):
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, beside, torch.get_num_threads()))
        self.process.start()
        theirs.close()  # what is closed on both sides tells that the process is gone
        self.unit: Unit | None = None

    def give(self, unit: Unit) -> bool:
        """Whether there was somebody to take it."""
        unit.file.unlink(missing_ok=True)
        try:
            self.pipe.send(unit)
        except OSError:
            return False
        self.unit = unit
        return True

    def take(self) -> Unit:
        """The unit that is done. A process that died without a word is a failure of its unit alone."""
        unit, self.unit = self.unit, None
        assert unit is not None
        try:
            self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            if self.process.exitcode == INTERRUPTED:
                raise KeyboardInterrupt from None
            write_json(unit.file, {"error": f"its process {ending(self.process.exitcode)}"})
        return unit

    @property
    def alive(self) -> bool:
        return self.process.exitcode is None

    def dismiss(self) -> None:
        """Told to stop, a training writes its checkpoint first."""
        self.process.terminate()


def ending(code: int | None) -> str:
    """How a process ended, by the code it left."""
    if code is not None and code < 0:
        return f"was killed by signal {-code} ({signal.strsignal(-code)})"
    return f"ended with code {code}"


def serve(pipe: Any, beside: int, threads: int) -> None:
    """Do what comes through the pipe, with so many threads unless a unit asks for others; leave when told to stop."""
    torch.set_num_threads(threads)
    try:
        while True:
            perform(pipe.recv(), beside=beside)
            pipe.send(None)
    except (Interrupted, KeyboardInterrupt):
        os._exit(INTERRUPTED)
    except EOFError:
        return


def side_by_side(waiting: list[Unit], jobs: int, clock: "Clock") -> None:
    """Several units at a time."""
    context, waiting = multiprocessing.get_context("spawn"), list(waiting)
    crew: list[Worker] = []
    jobs = min(jobs, len(waiting))
    try:
        while waiting or any(worker.unit for worker in crew):
            crew = [worker for worker in crew if worker.alive]
            crew += [Worker(context, jobs - 1) for _ in range(min(jobs - len(crew), len(waiting)))]
            for worker in crew:
                if waiting and worker.unit is None and worker.give(waiting[0]):
                    clock.begins(waiting.pop(0))
            for pipe in wait([worker.pipe for worker in crew if worker.unit]):
                clock.ends(next(worker for worker in crew if worker.pipe is pipe).take())
    finally:
        for worker in crew:
            worker.dismiss()
        for worker in crew:
            worker.process.join()


class Clock:
    """Says what begins, what comes next and about how long it all still takes."""

    def __init__(self, units: list[Unit], jobs: int, say: Say, ended: Callable[[Unit], None]):
        self.left, self.total, self.jobs, self.say = list(units), len(units), jobs, say
        self.ended = ended
        self.began: dict[str, float] = {}
        self.expected = self.taken = 0.0

    def begins(self, unit: Unit) -> None:
        self.began[unit.what] = time.monotonic()
        number = len(self.began)
        later = [each for each in self.left if each.what not in self.began]
        ahead = f"; next {later[0].what}" if later else ""
        slower = self.taken / self.expected if self.expected else 1.0
        seconds = sum(each.seconds for each in self.left) * slower / min(self.jobs, len(self.left))
        self.say(f"[{number} of {self.total}] {unit.what}{ahead}; about {duration(seconds)} left")

    def ends(self, unit: Unit) -> None:
        seconds = time.monotonic() - self.began[unit.what]
        self.left.remove(unit)
        self.taken, self.expected = self.taken + seconds, self.expected + unit.seconds
        found = read_json(unit.file)
        if error := found.get("error"):
            self.say(f"{unit.what} FAILED: {error}")
        elif self.jobs > 1:
            figure = found.get(unit.figure)
            told = f": {unit.figure.replace('_', ' ')} {figure:.4f}" if figure is not None else ""
            self.say(f"{unit.what} finished after {duration(seconds)}{told}")
        self.ended(unit)
