"""The command line: parse, wire, print. Results go to stdout, progress and messages to stderr.

Exit 0 done, 2 the user's mistake in one line, 1 a failure of the world, 130 after Ctrl-C.
"""

import os
import signal
import sys
from typing import Any

from regard.cli.app import app
from regard.cli.mistakes import pipe_closed, verdict


def main(arguments: list[str] | None = None) -> None:
    """Run a command and leave with its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    signal.signal(signal.SIGTERM, stop)
    for stream in (sys.stdout, sys.stderr):  # texts are UTF-8, whatever the locale says
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(run([word for word in words if word != "--traceback"], traceback="--traceback" in words))


def run(words: list[str], *, traceback: bool = False) -> int:
    """The exit code of a command; a mistake or failure becomes one line on stderr."""
    try:
        result = app(words, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()  # what cannot be written shows here, not after the end
        return result if isinstance(result, int) else 0
    except BaseException as error:
        if pipe_closed(error):
            return hang_up()
        if (found := verdict(error)) is None:
            raise
        if traceback:
            import traceback as trace

            trace.print_exc()
        code, line = found
        print("regard: " + " ".join(line.split()), file=sys.stderr)
        return code


def stop(number: int, frame: Any) -> None:
    """SIGTERM ends like Ctrl-C: what is half made is cleaned up."""
    raise KeyboardInterrupt


def hang_up() -> int:
    """Nobody reads on: end quietly, also when Python flushes what is left."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return 0
