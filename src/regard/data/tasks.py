"""Several tasks for one model, told apart by what stands before the source (O13; Raffel et al., 2020).

source   to German: The dog slept.        target   Der Hund schlief.
source   praise or blame: this is great   target   positive

A task is any data of two columns: a translation, a parse, tags, a label written as a word.
"""

from collections.abc import Iterator

from regard.data.sources import Record, Source
from regard.errors import UserError


def asked(prefix: str, source: str) -> str:
    return f"{prefix} {source}"


def prefixed(prefix: str, pairs: Source) -> Source:
    def read() -> Iterator[Record]:
        return ((asked(prefix, source), target) for source, target in pairs)

    return Source(f"'{prefix}' {pairs.name}", read, len(pairs))


def mixed(tasks: list[Source]) -> Source:
    """All of them, one task after the other: batches are drawn from all."""

    def read() -> Iterator[Record]:
        return (record for task in tasks for record in task)

    return Source(" + ".join(task.name for task in tasks), read, sum(map(len, tasks)))


def check_tasks(tasks: dict[str, str | tuple[str, ...]], columns: tuple[str, ...]) -> None:
    """Prefixes that can be told apart, and an objective that writes a text for a text."""
    if columns != ("source", "target"):
        raise UserError(f"data.tasks are pairs of source and target, and {' and '.join(columns)} are read")
    for one in tasks:
        if not one.strip() or one != one.strip():
            raise UserError(f"data.tasks: the prefix '{one}' is empty or has a blank at an end")
        if other := next((other for other in tasks if other != one and asked(one, "").startswith(f"{other} ")), None):
            raise UserError(f"data.tasks: '{one}' begins with '{other}' and would be taken for it")
