"""A trace as a file; the suffix says which kind."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from regard.checkpoint import write
from regard.errors import UserError
from regard.explain.figures import figure
from regard.explain.page import to_html
from regard.explain.picture import figure_of_word
from regard.explain.plain import to_json
from regard.explain.trace import Trace

WRITERS: dict[str, Callable[[Trace], bytes]] = {
    ".svg": lambda trace: figure(trace, "svg"),
    ".png": lambda trace: figure(trace, "png"),
    ".html": lambda trace: to_html(trace).encode(),
    ".json": lambda trace: (json.dumps(to_json(trace), ensure_ascii=False) + "\n").encode(),
}


def draw(trace: Trace, path: Path | str) -> None:
    """Write all of a trace: a picture, a page to explore, or the numbers."""
    path = Path(path)
    write(path, WRITERS[known(path, WRITERS)](trace))


def draw_word(trace: Trace, word: str, path: Path | str) -> None:
    """Write a picture of what one word looks at."""
    path = Path(path)
    write(path, figure_of_word(trace, word, known(path, (".svg", ".png")).removeprefix(".")))


def known(path: Path, suffixes: Iterable[str]) -> str:
    suffix = path.suffix.lower()
    if suffix not in suffixes:
        raise UserError(f"cannot draw to '{path}'; its name must end in {', '.join(suffixes)}")
    return suffix
