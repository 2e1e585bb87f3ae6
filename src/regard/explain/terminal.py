"""The five steps in the terminal: one table each, for a reader who checks them by hand."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from regard.attention.scores import Additive, Bilinear, Dot, ScaledDot
from regard.checkpoint import Run
from regard.explain.steps import Steps, walk
from regard.shapes import Float, Tensor

FORMULA = {
    ScaledDot: "query · key / √{d}",
    Dot: "query · key",
    Bilinear: "query W key",
    Additive: "v · tanh(W query + key)",
}
COMPONENTS = 4  # of each vector
ROWS = 12  # of each table; what is looked at least is left out
BAR = 24  # characters of a weight of 1


def steps(run: Run, *, word: str, layer: int = 0, head: int = 0, side: str = "auto", **texts: str | None) -> list[Any]:
    """The five steps of one word as rich renderables. `texts` is `text`, or `source` and `target`, as for `trace`."""
    return render(walk(run, word=word, layer=layer, head=head, side=side, **texts))


def render(found: Steps) -> list[Any]:
    from rich.text import Text

    rows, left_out = chosen(found)
    largest = float(found.scores.max())
    powers = (found.scores - largest).exp()
    count = "1 token" if len(found.keys) == 1 else f"{len(found.keys)} tokens"
    return [
        Text(f"What '{found.word.text}' looks at in head {found.head} of {found.name}", style="bold"),
        *(Text(note) for note in notes(found, left_out)),
        title(1, f"prepare inputs: the query of '{found.word.text}', key and value of the {count} it may see"),
        Text(f"query = {vector(found.query)}, {len(found.query)} numbers"),
        table(found, rows, {"key": found.key, "value": found.value}),
        title(2, f"scores: {formula(found)}"),
        table(found, rows, score_columns(found)),
        title(3, f"softmax: e^(score - {largest:.4f}), divided by the sum of all, {float(powers.sum()):.4f}"),
        table(found, rows, {"e^...": powers, "weight": found.weights, "": bars(found.weights)}),
        title(4, "each value times its weight"),
        table(found, rows, {"weight": found.weights, "weight × value": found.weighted}),
        title(5, "sum up and project" if found.share is not None else "sum up"),
        ending(found),
    ]


def notes(found: Steps, left_out: list[int]) -> Iterable[str]:
    """What a reader must know to follow the rows."""
    if found.word.times > 1:
        yield f"'{found.word.text}' stands there {found.word.times} times; this is the first."
    if found.kind == "cross":
        yield f"The decoder looks at the source to write '{found.word.text}': this is the query one token before it."
    if len(found.word.tokens) > 1:
        labels = found.looks.labels
        cut = " + ".join(labels[place] for place in found.word.tokens)
        yield f"'{found.word.text}' is cut into {len(found.word.tokens)} tokens, {cut}; the last of them looks."
    if left_out:
        together = float(found.weights[left_out].sum())
        yield f"The tables leave out {len(left_out)} of {len(found.keys)} tokens; their weights sum to {together:.3f}."


def chosen(found: Steps) -> tuple[list[int], list[int]]:
    """The rows that are looked at most, in the order of the text, and the rest."""
    order = found.weights.argsort(descending=True).tolist()
    return sorted(order[:ROWS]), sorted(order[ROWS:])


def title(number: int, words: str) -> Any:
    from rich.text import Text

    return Text(f"\nStep {number}  {words}", style="bold cyan")


def formula(found: Steps) -> str:
    words = FORMULA.get(type(found.score), "the score of query and key").format(d=len(found.query))
    return words + (" + what the position adds" if found.bias is not None else "")


def score_columns(found: Steps) -> dict[str, Tensor]:
    """The dot product beside the score where the one is divided to give the other."""
    columns = {}
    if isinstance(found.score, ScaledDot):
        dot = found.key @ found.query
        columns = {"query · key": dot, f"/ {math.sqrt(len(found.query)):.3f}": dot / math.sqrt(len(found.query))}
    if found.bias is not None:
        columns["position"] = found.bias
    elif columns:
        columns.popitem()
    return {**columns, "score": found.scores}


def table(found: Steps, rows: list[int], columns: Mapping[str, Tensor | list[str]]) -> Any:
    """One row per token that is looked at, one column per number or vector."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    out = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="dim")
    out.add_column("looks at")
    for name in columns:
        out.add_column(name, justify="left" if name == "" else "right", no_wrap=True)
    for row in rows:
        cells = (cell(column[row]) for column in columns.values())
        out.add_row(Text(found.keys[row]), *(Text(each) for each in cells))
    return out


def ending(found: Steps) -> Any:
    """The sum, the same from the kernel that the model runs with, and what becomes of it."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    out = Table.grid(padding=(0, 3))
    if found.placed is not None:
        out.add_row("what the position adds", Text(vector(found.placed)))
    out.add_row("sum of all rows" if found.placed is None else "sum of all", Text(vector(found.context)))
    out.add_row("what the kernel gave", Text(vector(found.kernel)))
    becomes = "Nothing is projected: the decoder goes on with this sum."
    if found.share is not None:
        out.add_row("times the output matrix", Text(vector(found.share)))
        becomes = f"The last is head {found.head}'s share of the {len(found.share)} outputs."
    return Group(out, Text(f"Sum and kernel: largest difference {found.difference:.1e}. {becomes}"))


def cell(value: Tensor | str) -> str:
    if isinstance(value, str):
        return value
    return vector(value) if value.ndim else f"{float(value):.4f}"


def vector(values: Float[Tensor, "d"]) -> str:
    """The first few components."""
    first = " ".join(f"{float(value):+.3f}" for value in values[:COMPONENTS])
    return f"[{first}{' …' if len(values) > COMPONENTS else ''}]"


def bars(weights: Float[Tensor, "k"]) -> list[str]:
    return ["█" * round(BAR * float(weight)) or "▏" for weight in weights]
