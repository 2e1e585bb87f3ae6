"""Printing: results to stdout, everything else to stderr."""

import json as json_library
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from textwrap import dedent
from typing import Any

EVERY = 5.0  # seconds between two lines of progress
WIDE = 1000  # columns: no row of a table is folded where no terminal asks for it


def note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def emit(value: Any, json: bool, human: Callable[[], Any]) -> None:
    """The value as JSON, or however it reads best."""
    if json:
        print(json_library.dumps(finite(value), ensure_ascii=False, indent=2, allow_nan=False, default=str))
    else:
        human()


def finite(value: Any) -> Any:
    """The same with null for what JSON has no number for: a perplexity may be too large for a float."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def rows(table: Sequence[dict[str, Any]], columns: Sequence[str]) -> None:
    """A table: folded to the width of a terminal, elsewhere one line for each row."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    view = Table(box=SIMPLE, pad_edge=False)
    for column in columns:
        numbers = all(isinstance(row.get(column), int | float) for row in table)
        view.add_column(column.replace("_", " "), justify="right" if numbers else "left", overflow="fold")
    for row in table:
        view.add_row(*(cell(row.get(column, "")) for column in columns))
    if sys.stdout.isatty():
        Console(highlight=False).print(view)
        return
    console = Console(width=WIDE, highlight=False)
    with console.capture() as seen:
        console.print(view)
    print(dedent("\n".join(line.rstrip() for line in seen.get().splitlines())).strip("\n"))


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
def counting(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """Progress over a known number of things: a bar in a terminal, a line every few seconds elsewhere."""
    from regard.train.watch import interactive

    if total > 1 and interactive():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(what, total=total)
            yield lambda done: progress.update(task, completed=done)
        return
    last = time.monotonic()

    def tell(done: int) -> None:
        nonlocal last
        if time.monotonic() - last > EVERY:
            last = time.monotonic()
            note(f"{what}: {done:,} of {total:,}")

    yield tell
