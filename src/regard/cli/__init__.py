"""The command line: parse, wire, print. Results go to stdout, progress and messages to stderr.

Exit 0 done, 2 the user's mistake in one line, 1 a failure of the world, 130 after Ctrl-C.
"""

import sys

from regard.cli.app import app
from regard.errors import Interrupted, UserError, WorldError


def main(arguments: list[str] | None = None) -> None:
    """Run a command and leave with its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    traceback = "--traceback" in words
    sys.exit(run([word for word in words if word != "--traceback"], traceback=traceback))


def run(words: list[str], *, traceback: bool = False) -> int:
    """The exit code of a command; a mistake or failure becomes one line on stderr."""
    from cyclopts import CycloptsError

    try:
        result = app(words, exit_on_error=False, print_error=False, result_action="return_value")
        return result if isinstance(result, int) else 0
    except (UserError, CycloptsError) as error:
        code, line = 2, str(error)
    except WorldError as error:
        code, line = 1, str(error)
    except (Interrupted, KeyboardInterrupt) as error:
        code, line = 130, str(error) or "interrupted"
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except (OSError, MemoryError, RuntimeError) as error:
        if not (world := failure_of_the_world(error)):
            raise
        code, line = 1, world
    if traceback:
        import traceback as trace

        trace.print_exc()
    print("regard: " + " ".join(line.split()), file=sys.stderr)
    return code


def failure_of_the_world(error: Exception) -> str:
    """One line for what no program can prevent; empty for anything else, which is a defect and shows its traceback."""
    if isinstance(error, OSError):
        return f"{error.filename or 'the system'}: {error.strerror or error}"
    if isinstance(error, MemoryError) or "out of memory" in str(error).lower():
        return "out of memory: use a smaller train.batch_tokens, or cut the batch into pieces with train.accumulate"
    return ""
