"""The ways in which a command may end badly."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any


class UserError(Exception):
    """The user's mistake: one line that names the value and the way out. The CLI exits 2."""


class Unused(UserError):
    """A setting that would change nothing beside the others; `setting` is its name."""

    def __init__(self, line: str, setting: str = ""):
        super().__init__(line)
        self.setting = setting


class NotInstalled(UserError):
    """A package that this needs, and that the rest does without."""


class WorldError(Exception):
    """A failure of the world: a full disk, a lost device, a loss that is no number. The CLI exits 1."""


class Diverged(WorldError):
    """A training that is lost: its loss or its gradient is no longer a number."""


class Interrupted(Exception):
    """Ctrl-C or SIGTERM, after the checkpoint was written. The CLI exits 130."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What the disk refuses inside is a failure of the world that names the file."""
    try:
        yield
    except OSError as error:
        raise WorldError(f"cannot write {path}: {error.strerror}") from error


def one_of(setting: str, value: str, options: Iterable[str]) -> None:
    """Stop when a setting has none of the values there are."""
    if value not in (known := list(options)):
        raise UserError(f"{setting} = '{value}' is not known{suggest(value, known)}")


def at_least(least: float, section: str, settings: object, *names: str) -> None:
    """Stop when one of these settings is smaller."""
    for name in names:
        if not getattr(settings, name) >= least:
            raise UserError(f"{section}.{name} = {getattr(settings, name)}; it must be at least {least}")


def share(section: str, settings: object, *names: str) -> None:
    """Stop when one of these settings is no share: at least 0 and less than 1."""
    for name in names:
        if not 0 <= getattr(settings, name) < 1:
            raise UserError(f"{section}.{name} = {getattr(settings, name)}; it must be at least 0 and less than 1")


def unused(section: str, settings: Any, names: Iterable[str], because: str) -> None:
    """Stop when one of these settings was given another value than its own, for it would change nothing."""
    for field in fields(settings):
        if field.name in names and (value := getattr(settings, field.name)) != field.default:
            raise Unused(f"{section}.{field.name} = {value} changes nothing: {because}", f"{section}.{field.name}")


def suggest(word: str, known: list[str]) -> str:
    """`; did you mean 'width'?` when something near is known, else the list of what is known."""
    import difflib

    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if near:
        return f"; did you mean '{near[0]}'?"
    return f"; known: {', '.join(known)}" if known else ""
