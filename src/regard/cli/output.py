"""Printing: results to stdout, everything else to stderr."""

import json as json_library
import sys
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any


def note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def emit(value: Any, json: bool, human: Callable[[], None]) -> None:
    """The value as JSON, or however it reads best."""
    if json:
        print(json_library.dumps(value, ensure_ascii=False, indent=2, allow_nan=False, default=str))
    else:
        human()


def rows(table: Sequence[dict[str, Any]], columns: Sequence[str]) -> None:
    """A table as wide as its content; in a terminal with a line under the head."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    view = Table(box=SIMPLE, pad_edge=False)
    for column in columns:
        numbers = all(isinstance(row.get(column), int | float) for row in table)
        view.add_column(column.replace("_", " "), justify="right" if numbers else "left", overflow="fold")
    for row in table:
        view.add_row(*(cell(row.get(column, "")) for column in columns))
    terminal = sys.stdout.isatty()
    Console(width=None if terminal else 160, highlight=False).print(view)


def cell(value: Any) -> str:
    from rich.markup import escape

    if isinstance(value, list | tuple):
        return escape(" ".join(map(str, value)))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return escape(str(value))


@contextmanager
def counting(total: int, what: str):
    """Progress over a known number of things: a bar in a terminal, a line now and then elsewhere."""
    from regard.train.watch import interactive

    if total < 2:
        yield lambda done: None
    elif interactive():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(what, total=total)
            yield lambda done: progress.update(task, completed=done)
    else:
        tenth = max(1, total // 10)
        told = 0

        def tell(done: int) -> None:
            nonlocal told
            if done // tenth > told:
                told = done // tenth
                note(f"{what}: {done:,} of {total:,}")

        yield tell
