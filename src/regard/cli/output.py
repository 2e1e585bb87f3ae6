"""Printing: results to stdout, everything else to stderr."""

import json as json_library
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from textwrap import dedent
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

EVERY = 5.0  # seconds between two lines of progress
WIDE = 1000  # columns: no row of a table is folded where no terminal asks for it
GAP = 2  # between two columns in a terminal
READABLE = 30  # columns that a text wants before another column is shown beside it


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


def rows(table: Sequence[dict[str, Any]], columns: Sequence[str], spare: Sequence[str] = ()) -> None:
    """A table: fitted to the width of a terminal, elsewhere one line for each row.

    In a terminal the `spare` columns stand last, and only those for which there is room; below it the others are named.
    """
    from rich.console import Console

    texts = {name: [name.replace("_", " "), *(cell(row.get(name, "")) for row in table)] for name in columns}
    numbers = [name for name in columns if all(isinstance(row.get(name), int | float) for row in table)]
    if sys.stdout.isatty():
        console = Console(highlight=False)
        widths = fitted(texts, spare, console.width)
        console.print(grid(texts, numbers, widths))
        if hidden := [texts[name][0] for name in columns if name not in widths]:
            print(f"no room for {', '.join(hidden)}: a wider terminal shows more, --json everything")
        return
    console = Console(width=WIDE, highlight=False)
    with console.capture() as seen:
        console.print(grid(texts, numbers, dict.fromkeys(columns)))
    print(dedent("\n".join(line.rstrip() for line in seen.get().splitlines())).strip("\n"))


def grid(texts: dict[str, list[str]], numbers: Sequence[str], widths: Mapping[str, int | None]) -> "Table":
    """The columns that have a width, with a line under their heads; a width of None is what they need."""
    from rich.box import SIMPLE
    from rich.markup import escape
    from rich.table import Table

    fixed = None not in widths.values()
    view = Table(box=SIMPLE, pad_edge=False, show_edge=not fixed, padding=(0, 1, 0, 0) if fixed else (0, 1))
    for name, width in widths.items():
        view.add_column(texts[name][0], justify="right" if name in numbers else "left", overflow="fold", width=width)
    for line in zip(*(texts[name][1:] for name in widths), strict=True):
        view.add_row(*map(escape, line))
    return view


def fitted(texts: dict[str, list[str]], spare: Sequence[str], room: int) -> dict[str, int]:
    """How wide each column that is shown becomes: its longest word first, then what saves most lines.

    Words are broken only where not even the longest ones fit beside each other.
    """
    from rich.cells import cell_len

    lengths = {name: list(map(cell_len, column)) for name, column in texts.items()}
    word = {
        name: max(cell_len(each) for text in ("-", *column) for each in text.split()) for name, column in texts.items()
    }
    shown = [name for name in texts if name not in spare]
    for name in spare:
        wanted = sum(max(word[each], min(max(lengths[each]), READABLE)) + GAP for each in (*shown, name))
        if wanted - GAP <= room:
            shown.append(name)
    widths, left = (
        {name: word[name] for name in shown},
        room - GAP * (len(shown) - 1) - sum(word[name] for name in shown),
    )
    for _ in range(-left):
        widest = max(shown, key=widths.__getitem__)
        widths[widest] = max(1, widths[widest] - 1)
    for _ in range(left):
        folded = [name for name in shown if widths[name] < max(lengths[name])]
        if not folded:
            break
        widths[max(folded, key=lambda name: sum(-(-length // widths[name]) for length in lengths[name]))] += 1
    return widths


def cell(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


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
