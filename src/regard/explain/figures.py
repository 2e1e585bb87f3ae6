"""The whole of a trace as one picture.

What is most read comes first: the label of a classifier, the alignment of a translation, what each word depends on;
then every layer and head, the gates, and the experts.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from regard.errors import UserError
from regard.explain.panels import (
    GAP,
    HIGHEST,
    LARGE,
    SMALL,
    Bars,
    Block,
    Chances,
    Panel,
    Part,
    fitted,
    laid_out,
    squared,
    wrapped,
)
from regard.explain.paper import DOTS, FAINT, MARGIN, Paint, colouring, drawing, opening, saved, scale, write
from regard.explain.sides import Side
from regard.explain.trace import Gates, Map, Trace
from regard.explain.tree import Arcs, hung
from regard.explain.words import Word, by_words, each_token, words

MOST_LABELS = 8
MOST_TOKENS = 80  # of a map of influence; where there are more, words are shown
TITLES = {
    "encoder": "Encoder: each source token looks at {}the source",
    "decoder": "Decoder: each token looks at {}itself and those before it",
    "cross": "Cross-attention: the decoder looks at {}the source to write each target token",
}
ALONE = "Encoder: each token looks at {}the whole text"
SAID = {"tags": "The tag of each token and its probability", "words": "How likely each token is in its place, seen"}
ROWS = {"cross": "looks from, to write"}
WIDE = 0.26  # a token under the gates
MOST_ACROSS, MOST_DOTS = 20_000, 100_000_000  # of a picture


def parts(trace: Trace) -> Iterator[Part]:
    if trace.target.tree is not None:
        yield grown(trace.target)
    if trace.labels:
        yield from named(trace)
    if trace.answers in SAID:
        yield from wrapped(said_of_each(trace))
    if trace.of("cross"):
        yield aligned(trace)
    if trace.influence is not None and not trace.labels:
        yield depending(trace)
    for kind in trace.kinds:
        if kind != "cross" or not same_again(trace):
            yield from attention(trace, kind)
    for side in ("source", "target"):
        yield from opened(trace, side)
        yield from routed(trace, side)


def grown(side: Side) -> Arcs:
    """The tree of the text, where the model looks at one."""
    found = hung(side)
    made = "Tree by the run's own parser" if side.parsed else "Tree that was given"
    heading = f"{made}: an arrow leads from a word to what hangs on it"
    return Arcs(heading, [each.word.text for each in found], [each.head for each in found])


def named(trace: Trace) -> Iterator[Part]:
    """The likeliest labels, and what the first of them depends on."""
    chances = np.exp(trace.log_probability)
    best = np.argsort(-chances, kind="stable")[:MOST_LABELS]
    yield Chances("Probability of each label", [trace.labels[i] for i in best], chances[best])
    if trace.influence is not None:
        label, seen = Word(trace.labels[trace.label], (trace.label,)), words(trace.target)
        (shares,) = by_words(trace.influence.shares.target, [label], seen)
        heading = f"Influence of each word on “{label.text}” (its share of all)"
        yield from wrapped(Bars(heading, "share", [word.text for word in seen], shares))


def said_of_each(trace: Trace) -> Bars:
    """The tag of each token, or how likely each is in its place, with the probability."""
    names = [" ".join(pair) for pair in zip(trace.target.labels, trace.tags, strict=True)] if trace.tags else []
    return Bars(SAID[trace.answers], "probability", names or trace.target.labels, np.exp(trace.log_probability))


def aligned(trace: Trace) -> Block:
    """The alignment by words, large enough to write numbers into it while the source is short."""
    looks, seen = map(words, trace.looking("cross"))
    last = trace.of("cross")[-1]
    heads = ", mean of all heads" if len(last.weights) > 1 else f", head {last.head}" if last.head is not None else ""
    cell = fitted(len(seen), 1, LARGE)
    return Block(
        f"Alignment: what was looked at to write each word (layer {last.layer}{heads})",
        (ROWS["cross"], "looks at"),
        [word.text for word in looks],
        [word.text for word in seen],
        cell,
        [[("", by_words(last.visible.mean(0), looks, seen))]],
        numbers=cell == LARGE,
    )


def same_again(trace: Trace) -> bool:
    """The alignment was all there is of cross-attention: one head, and no word cut into tokens."""
    (first, *others), (looks, seen) = trace.of("cross"), trace.looking("cross")
    whole = all(len(words(side)) == len(side.tokens) for side in (looks, seen))
    return not others and len(first.weights) == 1 and whole


def depending(trace: Trace) -> Block:
    """What each token that was written depends on: the source, and after a gap what was written before it."""
    assert trace.influence is not None and trace.written is not None
    shares = trace.influence.shares
    sides = [(trace.side("source"), shares.source)] if shares.source is not None else []
    sides.append((trace.target, shares.target))
    many = sum(len(side.tokens) for side, _ in sides) > MOST_TOKENS
    cut = words if many else each_token
    rows = cut(trace.written)
    names, values = [], []
    for side, share in sides:
        seen = cut(side)
        names.append([word.text for word in seen])
        values.append(by_words(share, rows, seen))
    gap = np.zeros((len(rows), 1))
    columns = [*names[0], "", *names[1]] if len(names) > 1 else names[0]
    cell = fitted(len(columns), 1, LARGE)
    each, writes = "word" if many else "token", trace.answers == "text"
    what = f"each {each} written, of all that was read before" if writes else f"what is said of each {each}"
    return Block(
        f"Influence on {what} (shares of a row)",
        ("written" if writes else "said of", "depends on"),
        [word.text for word in rows],
        columns,
        cell,
        [[("", np.hstack([values[0], gap, values[1]] if len(values) > 1 else values))]],
        numbers=cell == LARGE,
        split=len(names[0]) if len(names) > 1 else None,
    )


def attention(trace: Trace, kind: str) -> Iterator[Block]:
    """Every layer and head of one kind of attention; layers that look at other things stand apart."""
    for alike in dict.fromkeys((each.keys, each.blocks) for each in trace.of(kind)):
        yield heads(trace, kind, [each for each in trace.of(kind) if (each.keys, each.blocks) == alike])


def heads(trace: Trace, kind: str, layers: list[Map]) -> Block:
    looks, seen = trace.names(layers[0])
    grid = [
        [(f"layer {each.layer}, head {head}", weights) for head, weights in zip(each.heads, each.visible, strict=True)]
        for each in layers
    ]
    if all(len(row) == 1 for row in grid):  # one head: layers stand side by side
        grid = [[panel for row in grid for panel in row]]
    title = ALONE if kind == "encoder" and trace.source is None else TITLES[kind]
    part = "mixes of " if layers[0].keys is not None else "blocks of " if layers[0].blocks else ""
    return in_rows(title.format(part), (ROWS.get(kind, "looks from"), "looks at"), looks, seen, grid, SMALL)


def opened(trace: Trace, side: str) -> Iterator[Block]:
    """The gates of the layers that read one side: a row of panels for each layer, a panel for each direction."""
    here = [each for each in trace.gates if each.side == side]
    for gates in dict.fromkeys(each.gates for each in here):
        alike = [each for each in here if each.gates == gates]
        layers = dict.fromkeys(each.layer for each in alike)
        grid = [[(way(each), each.mean) for each in alike if each.layer == layer] for layer in layers]
        heading = f"Gates{reading(trace, side)}: how far each is open, mean of its units"
        made = in_rows(heading, ("gate", "reads"), list(gates), trace.side(side).labels, grid, WIDE)
        yield replace(made, paint=opening)


def way(gates: Gates) -> str:
    read = {None: "", "onward": ", read forwards", "backward": ", read backwards"}
    return f"layer {gates.layer}{read[gates.direction]}"


def routed(trace: Trace, side: str) -> Iterator[Block]:
    """The experts that each token of one side went to."""
    here = [each for each in trace.experts if each.side == side]
    if here:
        names = [str(number) for number in range(here[0].weights.shape[1])]
        grid = [[(f"mixture {each.layer}", each.weights.T)] for each in here]
        heading = f"Experts{reading(trace, side)}: how much each counts for a token"
        yield in_rows(heading, ("expert", "reads"), names, trace.side(side).labels, grid, WIDE)


def reading(trace: Trace, side: str) -> str:
    return "" if trace.source is None else f" over the {side}"


def in_rows(
    heading: str, axes: tuple[str, str], rows: list[str], columns: list[str], grid: list[list[Panel]], most: float
) -> Block:
    """A block whose panels are as large as they can be, in as many rows as it takes to name their tokens.

    Where that would be a tower, they stand in a sheet about as wide as high, and fewer tokens are named.
    """
    named = laid_out(grid, len(columns))
    cell = fitted(len(columns), max(map(len, named)), most)
    if len(named) * (cell * len(rows) + GAP) > HIGHEST:
        named, cell = squared(grid, len(rows), len(columns), most)
    return Block(heading, axes, rows, columns, cell, named)


def above(trace: Trace) -> float:
    """The room of title, texts and scales."""
    return MARGIN + 0.55 + max(0.22 * len(captions(trace)), 0.52 * len(list(scales(trace))) - 0.1)


def measured(trace: Trace, drawn: list[Part]) -> tuple[float, float]:
    """Width and height of the picture in inches. One that hardly anything opens is refused."""
    width = max(8.0, *(part.size[0] for part in drawn)) + 2 * MARGIN
    height = above(trace) + sum(part.size[1] for part in drawn) + MARGIN - GAP
    across, down = in_dots(width, height)
    if max(across, down) > MOST_ACROSS or across * down > MOST_DOTS:
        raise UserError(
            f"a picture of this text would be {across} x {down} pixels, more than most viewers open: "
            "take one map (--layer 0 --head 0), a shorter text, or .html or .json"
        )
    return width, height


def pixels(trace: Trace) -> tuple[int, int]:
    """Width and height of the picture, before it is drawn."""
    return in_dots(*measured(trace, list(parts(trace))))


def in_dots(width: float, height: float) -> tuple[int, int]:
    return round(width * DOTS), round(height * DOTS)


def figure(trace: Trace, form: str) -> bytes:
    """The whole trace as "svg" or "png"."""
    drawn, lines, top = list(parts(trace)), captions(trace), above(trace)
    width, height = measured(trace, drawn)
    with drawing() as Figure:
        sheet = Figure(figsize=(width, height))
        write(sheet, MARGIN, MARGIN + 0.12, f"{trace.run}: {about(trace)}", size=15, weight="bold")
        for i, line in enumerate(lines):
            write(sheet, MARGIN, MARGIN + 0.45 + 0.22 * i, line, size=9.5, color=FAINT)
        for i, (means, paint) in enumerate(scales(trace)):
            scale(sheet, width - MARGIN - 2.1, MARGIN + 0.05 + 0.52 * i, means, paint)
        for part in drawn:
            part.draw(sheet, top)
            top += part.size[1]
        return saved(sheet, form)


def scales(trace: Trace) -> Iterator[tuple[str, Paint]]:
    """The meaning of the colours that are used."""
    names = ["weight"] * bool(trace.maps or trace.experts) + ["share"] * (trace.influence is not None)
    if names and not (trace.labels and not trace.maps):
        yield (
            f"{' or '.join(names)}; grey: {'may not look' if names == ['weight'] and not trace.experts else 'none'}",
            colouring,
        )
    if trace.gates:
        yield "gate: 0 is closed, 1 is open", opening


def about(trace: Trace) -> str:
    if trace.labels:
        return f"why “{trace.labels[trace.label]}”"
    return "who looks at whom" if trace.maps else "what each token depends on"


def captions(trace: Trace) -> list[str]:
    sides = {"text": trace.target} if trace.source is None else {"source": trace.source, "target": trace.target}
    return [*(f"{name}: {shortened(side.text)}" for name, side in sides.items()), *trace.lacks]


def shortened(text: str, most: int = 90) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"
