"""A trace as a file; the suffix says which kind."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from regard.checkpoint import write
from regard.errors import UserError
from regard.explain.figures import figure
from regard.explain.listening import check_head, check_layer
from regard.explain.page import to_html
from regard.explain.picture import figure_of_word
from regard.explain.plain import to_json
from regard.explain.trace import Map, Trace
from regard.explain.words import NO_ATTENTION

PICTURES = (".svg", ".png")
WRITERS: dict[str, Callable[[Trace], bytes]] = {
    ".svg": lambda trace: figure(trace, "svg"),
    ".png": lambda trace: figure(trace, "png"),
    ".html": lambda trace: to_html(trace).encode(),
    ".json": lambda trace: (json.dumps(to_json(trace), ensure_ascii=False) + "\n").encode(),
}


def draw(trace: Trace, path: Path | str, *, layer: int | None = None, head: int | None = None) -> None:
    """Write all of a trace: a picture, a page to explore, or the numbers. A picture may be of one layer or head."""
    path = Path(path)
    check_choice(path, layer, head)
    write(path, WRITERS[known(path, WRITERS)](chosen(trace, layer, head)))


def check_choice(path: Path, layer: int | None, head: int | None) -> None:
    """Pages and numbers are of every layer and head."""
    if (layer, head) != (None, None) and known(path, WRITERS) not in PICTURES:
        raise UserError(f"a layer or head can be chosen for {' and '.join(PICTURES)}; '{path}' holds every one of them")


def chosen(trace: Trace, layer: int | None, head: int | None) -> Trace:
    """The trace with the maps of this layer, of each kind that has it, and of this head alone."""
    if (layer, head) == (None, None):
        return trace
    if not trace.maps:
        raise UserError(f"{NO_ATTENTION}; there is no layer or head to choose")
    maps = [each for each in trace.maps if layer in (None, each.layer)]
    if layer is not None and not maps:
        check_layer(trace.kinds[0], layer, (each.layer for each in trace.of(trace.kinds[0])))
    return replace(trace, maps=[of_head(each, head) for each in maps] if head is not None else maps)


def of_head(each: Map, head: int) -> Map:
    check_head(each.name.removesuffix(".weights"), head, len(each.weights))
    one = slice(head, head + 1)
    scores, allow = (part if part is None else part[one] for part in (each.scores, each.allow))
    return replace(each, weights=each.weights[one], scores=scores, allow=allow, head=head)


def draw_word(trace: Trace, word: str, path: Path | str) -> None:
    """Write a picture of what one word looks at."""
    path = Path(path)
    write(path, figure_of_word(trace, word, known(path, PICTURES).removeprefix(".")))


def known(path: Path, suffixes: Iterable[str]) -> str:
    suffix = path.suffix.lower()
    if suffix not in suffixes:
        raise UserError(f"cannot draw to '{path}'; its name must end in {', '.join(suffixes)}")
    return suffix
