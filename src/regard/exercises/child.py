"""Students' files, each run in a process of its own: one may loop, end Python, or change torch for all that follow.

`python -m regard.exercises.child` reads lines of JSON, {"file", "number", "seconds"}, and answers each with a line. It
imports torch once and forks for each file, so that a file costs no start of Python.
"""

import builtins
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import torch

from regard.exercises.files import Unfit, function_of
from regard.exercises.judging import MOST, Finding, judge
from regard.exercises.tasks import EXERCISES

MEMORY = 8 * 2**30  # bytes that a student's function may take
GRACE = 1.0  # seconds that a process may take to end
PIECE = 65536


def main() -> None:
    torch.set_num_threads(1)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))  # and the file that is run ends too
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(apart(asked)), flush=True)


def apart(asked: dict[str, Any]) -> dict[str, Any]:
    """What a process that does nothing else finds, or how it ended."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        os.close(ours)
        alone(asked, theirs)
    os.close(theirs)
    patience = 0.0
    try:
        said, late = heard(ours, asked["seconds"])
        patience = 0.0 if late or said else GRACE
    finally:
        os.close(ours)
        ended = stopped(child, patience)
    if said.endswith(b"\n"):
        return json.loads(said)
    if late:
        text = f"it takes more than {asked['seconds']:g} seconds: is there a loop that does not end?"
        return told([Finding("no end", text)])
    how = f"signal {-ended}" if ended < 0 else f"exit code {ended}"
    return told([Finding("ends Python", f"it ends Python before it is checked ({how})")])


def alone(asked: dict[str, Any], theirs: int) -> NoReturn:
    """In the child: nothing to read, nowhere to print, and no way back."""
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    with suppress(OSError, ValueError):  # not every system has such a limit
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    try:
        found = findings(Path(asked["file"]), asked["number"])
    except BaseException as error:  # a result that cannot be compared, or a file that changed torch or Python itself
        found = [Finding("not checked", f"it cannot be checked: {type(error).__name__}: {first_line(error)}")]
    answer = told(found)
    os.write(theirs, json.dumps(answer).encode() + b"\n")
    os._exit(0)


def first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:MOST]


def findings(path: Path, number: int) -> list[Finding]:
    exercise = EXERCISES[number]
    sys.path.append(str(path.parent))
    builtins.__import__ = fenced(builtins.__import__)
    try:
        function = function_of(path, exercise)
    except Unfit as unfit:
        return [unfit.finding]
    torch.set_default_dtype(torch.float32)  # the laws count in it, whatever the file has set
    return judge(exercise, function, str(path))


def fenced(load: Callable[..., ModuleType]) -> Callable[..., ModuleType]:
    """`__import__` that gives the library to nobody but itself: files beside the student's may not use it either."""

    def guarded(name: str, names: dict[str, Any] | None = None, *rest: Any, **others: Any) -> ModuleType:
        ours = str((names or {}).get("__name__")).partition(".")[0] == "regard"
        if name.partition(".")[0] == "regard" and not ours:
            raise ImportError("regard has the answer: write it yourself")
        return load(name, names, *rest, **others)

    return guarded


def told(found: list[Finding]) -> dict[str, Any]:
    return {"findings": [vars(each) for each in found]}


def heard(pipe: int, seconds: float) -> tuple[bytes, bool]:
    """What comes through until a line is whole, nobody is left to speak, or the time is up; and whether it was up."""
    said, end = b"", time.monotonic() + seconds
    while not said.endswith(b"\n"):
        left = end - time.monotonic()
        if left <= 0 or not select.select([pipe], [], [], left)[0]:
            return said, True
        piece = os.read(pipe, PIECE)
        if not piece:
            break
        said += piece
    return said, False


def stopped(child: int, patience: float) -> int:
    """The exit code of a child, which has so many seconds to end by itself, or is made to; negative for a signal.

    What it started ends with it.
    """
    end, found = time.monotonic() + patience, 0
    while not found and time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    for kill in (os.killpg,) if found else (os.killpg, os.kill):  # once it has ended, its number may be another's
        with suppress(ProcessLookupError, PermissionError):  # it is gone, or has no group yet
            kill(child, signal.SIGKILL)
    if not found:
        _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    main()
