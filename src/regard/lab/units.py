"""Pieces of work that may fail or be interrupted without losing the others.

What a unit finds is kept in a file of its own. One whose file is there is not done again; one that failed is.
By default they are done one after another in this process; with several jobs each gets a process of its own.
"""

import multiprocessing
import os
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from regard.checkpoint import read_json, write_json
from regard.errors import Interrupted, UserError, WorldError
from regard.train.forecast import duration

Say = Callable[[str], None]


@dataclass(frozen=True)
class Unit:
    """`work(*args, quiet=...)` gives what is written to `file`; it must be a function of a module."""

    what: str
    work: Callable[..., dict[str, Any]]
    args: tuple[Any, ...]
    file: Path
    seconds: float  # about

    @property
    def done(self) -> bool:
        return self.file.exists() and "error" not in read_json(self.file)


@dataclass(frozen=True)
class Hands:
    """Those who do the work: how many side by side, and whom they tell."""

    jobs: int = 1
    quiet: bool = True
    say: Say = lambda line: None

    def carry_out(self, units: list[Unit]) -> None:
        """Do what is not done yet. Failures are written and said; an interruption ends it all, resumably."""
        waiting = [unit for unit in units if not unit.done]
        clock = Clock(waiting, self.jobs, self.say)
        if self.jobs > 1:
            side_by_side(waiting, self.jobs, clock)
            return
        for unit in waiting:
            clock.begins(unit)
            perform(unit, quiet=self.quiet)
            clock.ends(unit)


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


def child(unit: Unit, beside: int) -> None:
    """A unit in a process of its own, which leaves quietly when it is told to stop."""
    try:
        perform(unit, beside=beside)
    except (Interrupted, KeyboardInterrupt):
        os._exit(130)


def side_by_side(waiting: list[Unit], jobs: int, clock: "Clock") -> None:
    """Several units at a time. A process that dies without a word is a failure of its unit alone."""
    context, waiting = multiprocessing.get_context("spawn"), list(waiting)
    running: dict[Any, tuple[Unit, Any]] = {}
    beside = min(jobs, len(waiting)) - 1
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                unit = waiting.pop(0)
                unit.file.unlink(missing_ok=True)
                process = context.Process(target=child, args=(unit, beside))
                process.start()
                running[process.sentinel] = unit, process
                clock.begins(unit)
            for sentinel in wait(list(running)):
                unit, process = running.pop(sentinel)
                process.join()
                if process.exitcode == 130:
                    raise KeyboardInterrupt
                if not unit.file.exists():
                    write_json(unit.file, {"error": f"its process ended with code {process.exitcode}"})
                clock.ends(unit)
    finally:
        for _, process in running.values():  # told to stop, a training writes its checkpoint
            process.terminate()
        for _, process in running.values():
            process.join()


class Clock:
    """Says what begins, what comes next and about how long it all still takes."""

    def __init__(self, units: list[Unit], jobs: int, say: Say):
        self.left, self.total, self.jobs, self.say = list(units), len(units), jobs, say
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
        if error := read_json(unit.file).get("error"):
            self.say(f"{unit.what} FAILED: {error}")
        elif self.jobs > 1:
            self.say(f"{unit.what} finished after {duration(seconds)}")
