"""A command as a user gives it: in this process, in a child, in a terminal; and what it left behind."""

import hashlib
import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from regard.cli import run

TINY = ("system.width=32", "system.hidden=32", "system.depth=1", "system.heads=2", "train.device=cpu")
PROGRAM = (sys.executable, "-c", "from regard.cli import main; main()")
PATIENCE = 60  # seconds


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON document and nothing else."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


def regard(*words: str | Path, stdin: str | bytes = b"") -> Done:
    """Run a command in this process."""
    given = io.TextIOWrapper(io.BytesIO(stdin.encode() if isinstance(stdin, str) else stdin))
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "stdin", given)
        code = run([str(word) for word in words])
    return Done(code, out.getvalue(), err.getvalue())


def fine(*words: str | Path, stdin: str | bytes = b"") -> Done:
    """Run a command that must succeed."""
    done = regard(*words, stdin=stdin)
    assert done.code == 0, done.err
    return done


def refused(*words: str | Path, because: str, stdin: str | bytes = b"") -> None:
    """Run a command that must be refused: exit 2, nothing on stdout, one line on stderr that says why.

    A star in the reason stands for anything.
    """
    done = regard(*words, stdin=stdin)
    told = done.err.splitlines()
    assert len(told) == 1, done.err
    assert told[0].startswith("regard: ")
    assert re.search(".*".join(map(re.escape, because.split("*"))), told[0]), told[0]
    assert (done.code, done.out) == (2, "")


def settings(*given: str, tiny: bool = True) -> list[str]:
    """Options that make a model very small, and more of them."""
    return [word for setting in (*(TINY if tiny else ()), *given) for word in ("--set", setting)]


def quoted(*paths: str | Path) -> str:
    """Paths as a TOML list."""
    return json.dumps([str(path) for path in paths])


def contents(folder: Path) -> dict[str, str]:
    """Every file and folder below, with a hash of what it holds."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in sorted(folder.rglob("*"))
    }


@contextmanager
def untouched(folder: Path) -> Iterator[None]:
    """Whatever happens inside leaves the folder as it was."""
    before = contents(folder)
    yield
    assert contents(folder) == before


def environment(**changes: str) -> dict[str, str]:
    """One thread, and nothing that says whether there is a terminal."""
    kept = {key: value for key, value in os.environ.items() if key not in ("CI", "NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    return {**kept, "OMP_NUM_THREADS": "1", **changes}


def start(*words: str | Path, **streams: Any) -> subprocess.Popen:
    """A command in a process of its own, which hears Ctrl-C even where the tests run in the background and do not."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    command, heard = [*PROGRAM, *map(str, words)], lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(command, env=environment(), text=True, preexec_fn=heard, **pipes)


def finished(child: subprocess.Popen) -> Done:
    out, err = child.communicate(timeout=PATIENCE)
    return Done(child.returncode, out or "", err or "")


def wait_for(there: Callable[[], Any], child: subprocess.Popen) -> None:
    """Until something has come true, while the child still runs."""
    end = time.monotonic() + PATIENCE
    while not there():
        assert child.poll() is None, child.communicate()[1]
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def in_terminal(*words: str | Path, columns: int = 80, **changes: str) -> tuple[int, str]:
    """Run a command in a terminal of its own: exit code, and all that was written to it."""
    ours, theirs = pty.openpty()
    variables = environment(**{"TERM": "xterm", "COLUMNS": str(columns), "LINES": "24", **changes})
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    child = subprocess.Popen([*PROGRAM, *map(str, words)], env=variables, **streams)
    os.close(theirs)
    seen, end = b"", time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if select.select([ours], [], [], 0.1)[0]:
            try:
                seen += os.read(ours, 65536)
            except OSError:  # the other side is gone
                break
    else:
        child.kill()
    os.close(ours)
    return child.wait(), seen.decode()
