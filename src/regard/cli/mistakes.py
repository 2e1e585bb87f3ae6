"""What ended a command, as an exit code and one line."""

from itertools import pairwise

from cyclopts import (
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from regard.errors import Interrupted, UserError, WorldError, suggest

OUT_OF_MEMORY = "out of memory: use a smaller train.batch_tokens, or cut the batch into pieces with train.accumulate"
NUMBERS = {int: "a whole number", float: "a number"}


def verdict(error: BaseException) -> tuple[int, str] | None:
    """Exit code and line; None for a defect of Regard's own, which shows its traceback."""
    match error:
        case UserError():
            return 2, str(error)
        case CycloptsError():
            return 2, misspelt(error)
        case WorldError():
            return 1, str(error)
        case Interrupted() | KeyboardInterrupt():
            return 130, str(error) or "interrupted"
        case OSError():
            return 1, f"{error.filename or 'the system'}: {error.strerror or error}"
        case MemoryError():
            return 1, OUT_OF_MEMORY
        case RuntimeError() if "out of memory" in str(error).lower():
            return 1, OUT_OF_MEMORY
    return None


def pipe_closed(error: BaseException) -> bool:
    """Whether nobody reads on; rich turns that into an exit of its own."""
    return isinstance(error, BrokenPipeError) or (
        isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError)
    )


def misspelt(error: CycloptsError) -> str:
    """What the parser did not understand, and the way out."""
    command = " ".join(error.command_chain or ())
    see = f"see 'regard {command} --help'"
    match error:
        case UnknownCommandError():
            word = (error.unused_tokens or [""])[0]
            known = [name for name in error.app or () if not name.startswith("-")]
            return f"no command '{word}'{suggest(word, known)}"
        case UnknownOptionError():
            option = error.token.keyword or error.token.value
            known = [name for argument in error.argument_collection for name in argument.names]
            return f"{command}: no option {option}{suggest(option, known)}"
        case UnusedCliTokensError():
            return f"{command}: nothing takes {', '.join(map(repr, error.unused_tokens or ()))}; {see}"
        case MissingArgumentError() if error.argument is not None and (given := option_given(error)):
            return f"{command}: {given} needs a value{written_out(error, given)}"
        case MissingArgumentError() if error.argument is not None:
            name = error.argument.name
            missing = name if name.startswith("--") else name.upper()
            return f"{command}: {missing} is missing; {see}"
        case CoercionError() if error.token is not None and error.target_type in NUMBERS:
            return f"{command}: {error.token.keyword} {error.token.value} is not {NUMBERS[error.target_type]}"
    return f"{command}: {error}"


def option_given(error: MissingArgumentError) -> str | None:
    """The option that was given without its value; None where a positional argument is missing."""
    assert error.argument is not None
    keywords = [error.keyword, *(token.keyword for token in error.argument.tokens)]
    return next((word for word in keywords if word), None)


def written_out(error: MissingArgumentError, option: str) -> str:
    """How to write a value that was taken for an option because it begins with a dash."""
    follows = [after for word, after in pairwise(error.root_input_tokens or ()) if word == option]
    dashed = next((word for word in follows if word.startswith("-")), None)
    return f"; if '{dashed}' is it, write {option}={dashed}" if dashed else ""
