"""Pictures of a trace: the alignment of a translation first, then every layer and head; or what one word looks at."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regard.explain.paper import (
    BLUE,
    FAINT,
    INK,
    LINE,
    MARGIN,
    MARK,
    axes_at,
    breadth,
    decimal,
    drawing,
    heat,
    saved,
    scale,
    write,
)
from regard.explain.trace import Trace
from regard.explain.words import Look, alignment, by_words, look_of_word, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDEST = 15.0  # of a row of heads, in inches
CELL, LARGE = 0.17, 0.44  # a token of a small picture, a word of the alignment
SMALLEST = 0.8  # width of a panel
READABLE = 0.125  # a token narrower than this gets no label
GAP, HEADING, STRIP = 0.24, 0.36, 0.19
TITLES = {
    "encoder": "Encoder: each source token looks at the source",
    "decoder": "Decoder: each token looks at itself and those before it",
    "cross": "Cross-attention: the decoder looks at the source to write each target token",
}
FROM = {"cross": "looks from, to write"}


@dataclass(frozen=True, eq=False)
class Block:
    """Panels of one size under one heading, labelled at the left and at the bottom only."""

    heading: str
    from_name: str
    looks: list[str]
    seen: list[str]
    cell: float
    grid: list[list[tuple[str, np.ndarray]]]
    numbers: bool = False

    @property
    def font(self) -> float:
        return min(10.0, self.cell * 72 * 0.62)

    @property
    def labelled(self) -> bool:
        return self.cell >= READABLE

    @property
    def panel(self) -> tuple[float, float]:
        return self.cell * len(self.seen), self.cell * len(self.looks)

    def room(self, labels: list[str]) -> float:
        """For the labels of one axis and its name."""
        return 0.34 + (breadth(labels) * self.font * 0.6 / 72 if self.labelled else 0)

    @property
    def size(self) -> tuple[float, float]:
        rows, columns = len(self.grid), max(map(len, self.grid))
        width, height = self.panel
        across = self.room(self.looks) + columns * (width + GAP) - GAP
        return across, HEADING + rows * (height + GAP) - GAP + self.room(self.seen) + GAP


def blocks(trace: Trace) -> Iterator[Block]:
    if trace.of("cross"):
        yield aligned(trace)
    for kind in trace.kinds:
        looks, seen = trace.labels(kind)
        maps = trace.of(kind)
        heads = max(each.weights.shape[0] for each in maps)
        cell = max(min(CELL, (WIDEST / heads - GAP) / len(seen)), SMALLEST / len(seen))
        grid = [[(f"layer {each.layer}, head {h}", w) for h, w in enumerate(each.weights)] for each in maps]
        yield Block(TITLES[kind], FROM.get(kind, "looks from"), looks, seen, cell, grid)


def aligned(trace: Trace) -> Block:
    """The alignment by words, large enough to write numbers into it while the source is short."""
    looks, seen = map(words, trace.looking("cross"))
    layer = trace.of("cross")[-1].layer
    heading = f"Alignment: what was looked at to write each word (layer {layer}, mean of all heads)"
    rows, columns = [word.text for word in looks], [word.text for word in seen]
    cell = min(LARGE, max(READABLE, WIDEST / len(seen)))
    grid = [[("", by_words(alignment(trace), looks, seen))]]
    return Block(heading, FROM["cross"], rows, columns, cell, grid, numbers=cell == LARGE)


def figure(trace: Trace, form: str) -> bytes:
    """The whole trace as "svg" or "png"."""
    parts, lines = list(blocks(trace)), captions(trace)
    top = MARGIN + 0.55 + 0.22 * len(lines)
    width = max(8.0, *(part.size[0] for part in parts)) + 2 * MARGIN
    height = top + sum(part.size[1] for part in parts) + MARGIN - GAP
    with drawing() as Figure:
        sheet = Figure(figsize=(width, height))
        write(sheet, MARGIN, MARGIN + 0.12, f"{trace.run}: who looks at whom", size=15, weight="bold")
        for i, line in enumerate(lines):
            write(sheet, MARGIN, MARGIN + 0.45 + 0.22 * i, line, size=9.5, color=FAINT)
        scale(sheet, width - MARGIN - 2.1, MARGIN + 0.05)
        for part in parts:
            place(sheet, part, top)
            top += part.size[1]
        return saved(sheet, form)


def captions(trace: Trace) -> list[str]:
    sides = {"text": trace.target} if trace.source is None else {"source": trace.source, "target": trace.target}
    return [f"{name}: {shortened(side.text)}" for name, side in sides.items()]


def shortened(text: str, most: int = 90) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def place(sheet: "Figure", block: Block, top: float) -> None:
    """Draw a block with its upper edge at `top`."""
    write(sheet, MARGIN, top + 0.1, block.heading, size=11.5, weight="bold")
    left, (width, height) = MARGIN + block.room(block.looks), block.panel
    for row, panels in enumerate(block.grid):
        for column, (title, weights) in enumerate(panels):
            at = left + column * (width + GAP), top + HEADING + row * (height + GAP)
            axes = axes_at(sheet, *at, width, height)
            heat(axes, weights)
            if block.numbers:
                number(axes, weights)
            axes.set_title(title, fontsize=7.5, color=FAINT, pad=2.5)
            label(axes, block, at_left=column == 0, at_bottom=row == len(block.grid) - 1)


def label(axes: "Axes", block: Block, *, at_left: bool, at_bottom: bool) -> None:
    axes.tick_params(length=0, pad=2, colors=INK, labelsize=block.font)
    if at_left:
        axes.set_ylabel(block.from_name, fontsize=8, color=FAINT)
        if block.labelled:
            axes.set_yticks(np.arange(len(block.looks)) + 0.5, block.looks)
    if at_bottom:
        axes.set_xlabel("looks at", fontsize=8, color=FAINT)
        if block.labelled:
            axes.set_xticks(np.arange(len(block.seen)) + 0.5, block.seen, rotation=90)


def number(axes: "Axes", weights: np.ndarray) -> None:
    """Write the larger weights into their squares."""
    for (row, column), weight in np.ndenumerate(weights):
        if weight >= 0.095:
            paint = "white" if weight > 0.4 else INK
            at = column + 0.5, row + 0.5
            axes.text(*at, decimal(weight), color=paint, fontsize=8, ha="center", va="center")


def figure_of_word(trace: Trace, word: str, form: str) -> bytes:
    """What one word looks at: bars over all tokens for the mean, below them a strip for each layer and head."""
    look = look_of_word(trace, word)
    layers, heads, keys = look.weights.shape
    cell = max(0.2, min(0.46, 11 / keys))
    left, tall, strips = 1.35, 1.25, (heads + 1) * STRIP
    labels = breadth(look.labels) * 0.082 + 0.15
    top = MARGIN + 0.75
    width = max(left + keys * cell + MARGIN, 7.4)
    height = top + tall + labels + layers * (strips + 0.14) - 0.14 + MARGIN
    with drawing() as Figure:
        sheet = Figure(figsize=(width, height))
        write(sheet, MARGIN, MARGIN + 0.1, f"{trace.run}: what “{look.word.text}” looks at", size=14, weight="bold")
        write(sheet, MARGIN, MARGIN + 0.4, explained(look), size=9, color=FAINT)
        bars(axes_at(sheet, left, top, keys * cell, tall), look)
        for layer, weights in enumerate(look.weights):
            down = top + tall + labels + layer * (strips + 0.14)
            axes = axes_at(sheet, left, down, keys * cell, strips)
            heat(axes, np.vstack([weights.mean(0, keepdims=True), weights]))
            names = [f"layer {layer}, mean", *(f"head {head}" for head in range(heads))]
            axes.set_yticks(np.arange(heads + 1) + 0.5, names, fontsize=8)
            axes.get_yticklabels()[0].set_fontweight("bold")
            axes.tick_params(length=0, pad=3)
        return saved(sheet, form)


def explained(look: Look) -> str:
    within = {"encoder": "within the source", "decoder": "within its text", "cross": "from the target at the source"}
    layers, heads, _ = look.weights.shape
    return f"{look.kind} attention, {within.get(look.kind, '')}; bars: mean of {layers} layers × {heads} heads"


def bars(axes: "Axes", look: Look) -> None:
    """The mean over layers and heads, the word itself marked."""
    mean = look.weights.mean((0, 1))
    at = np.arange(len(mean)) + 0.5
    own = set(look.word.tokens) if look.kind != "cross" else set()
    drawn = axes.bar(at, mean, width=0.72, color=[MARK if i in own else BLUE for i in range(len(mean))])
    axes.bar_label(drawn, [decimal(m) if m >= 0.045 else "" for m in mean], fontsize=7.5, color=FAINT, padding=1.5)
    axes.set_xlim(0, len(mean))
    axes.set_ylim(0, float(mean.max()) * 1.18)
    axes.set_xticks(at, look.labels, rotation=90, fontsize=9)
    for i in own:
        axes.get_xticklabels()[i].set(color=MARK, fontweight="bold")
    axes.set_ylabel("mean weight", fontsize=8, color=FAINT)
    axes.locator_params(axis="y", nbins=4)
    axes.tick_params(axis="y", labelsize=7.5, colors=FAINT, length=2)
    axes.tick_params(axis="x", length=0, pad=3)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(LINE)
