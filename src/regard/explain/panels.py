"""Parts of a picture, drawn one under the other: heat maps of one size in rows, bars over words, bars of labels."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from regard.explain.paper import (
    BLUE,
    DOTS,
    FAINT,
    INK,
    LINE,
    MARGIN,
    MARK,
    Paint,
    axes_at,
    breadth,
    colouring,
    decimal,
    heat,
    write,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDEST = 15.0  # of a row of panels, in inches
HIGHEST = 30.0  # of panels below each other, before they take a sheet of that size on both sides
SMALL, LARGE = 0.17, 0.44  # a token of a small picture, a word of a large one
SMALLEST = 0.8  # width of a panel
READABLE = 0.125  # labels do not stand closer; where tokens do, every second or third of them is named
GAP, HEADING = 0.24, 0.36
TALL = 1.25  # bars over words
NARROW = 0.2  # the least room of a bar
BAR = 4.0  # the width of a probability of 1

Panel = tuple[str, np.ndarray]  # a title, and values from 0 to 1


class Part(Protocol):
    """What a picture is made of."""

    @property
    def size(self) -> tuple[float, float]: ...

    def draw(self, sheet: "Figure", top: float) -> None:
        """Draw it with its upper edge at `top`."""


@dataclass(frozen=True, eq=False)
class Block:
    """Panels of one size under one heading, labelled at the left and at the bottom only.

    `numbers` writes the larger values into their squares; `split` is a column left white between two texts; `paint`
    says which colours stand for values.
    """

    heading: str
    axes: tuple[str, str]  # what rows and columns are
    rows: list[str]
    columns: list[str]
    cell: float
    grid: list[list[Panel]]
    numbers: bool = False
    split: int | None = None
    paint: Paint = colouring

    @property
    def every(self) -> int:
        """One of so many tokens is named."""
        return max(1, math.ceil(READABLE / self.cell - 1e-6))

    @property
    def font(self) -> float:
        return min(10.0, max(self.cell, READABLE) * 72 * 0.62)

    @property
    def panel(self) -> tuple[float, float]:
        return self.cell * len(self.columns), self.cell * len(self.rows)

    def room(self, labels: list[str]) -> float:
        """For the labels of one axis and its name."""
        return 0.34 + breadth(labels) * self.font * 0.6 / 72

    @property
    def size(self) -> tuple[float, float]:
        down, across = len(self.grid), max(map(len, self.grid))
        width, height = self.panel
        return (
            self.room(self.rows) + across * (width + GAP) - GAP,
            HEADING + down * (height + GAP) - GAP + self.room(self.columns) + GAP,
        )

    def draw(self, sheet: "Figure", top: float) -> None:
        write(sheet, MARGIN, top + 0.1, self.heading, size=11.5, weight="bold")
        left, (width, height) = MARGIN + self.room(self.rows), self.panel
        for row, panels in enumerate(self.grid):
            for column, (title, values) in enumerate(panels):
                at = left + column * (width + GAP), top + HEADING + row * (height + GAP)
                axes = axes_at(sheet, *at, width, height)
                heat(axes, values, self.paint)
                if self.numbers:
                    number(axes, values)
                if self.split is not None:
                    axes.axvspan(self.split, self.split + 1, color="white", linewidth=0, zorder=3)
                axes.set_title(title, fontsize=7.5, color=FAINT, pad=2.5)
                lowest = all(len(below) <= column for below in self.grid[row + 1 :])
                self._label(axes, at_left=column == 0, at_bottom=lowest)

    def _label(self, axes: "Axes", *, at_left: bool, at_bottom: bool) -> None:
        axes.tick_params(length=0, pad=2, colors=INK, labelsize=self.font)
        down, across = self.axes
        if at_left:
            axes.set_ylabel(down, fontsize=8, color=FAINT)
            axes.set_yticks(np.arange(len(self.rows))[:: self.every] + 0.5, self.rows[:: self.every])
        if at_bottom:
            axes.set_xlabel(across, fontsize=8, color=FAINT)
            axes.set_xticks(np.arange(len(self.columns))[:: self.every] + 0.5, self.columns[:: self.every])
            for label in axes.get_xticklabels():
                label.set_rotation(0 if breadth([label.get_text()]) == 1 else 90)


def number(axes: "Axes", values: np.ndarray) -> None:
    """Write the larger values into their squares."""
    for (row, column), value in np.ndenumerate(values):
        if value >= 0.095:
            paint = "white" if value > 0.4 else INK
            at = column + 0.5, row + 0.5
            axes.text(*at, decimal(value), color=paint, fontsize=8, ha="center", va="center")


def fitted(columns: int, across: int, most: float) -> float:
    """The size of a square where so many panels of so many columns stand side by side."""
    return max(min(most, (WIDEST / across - GAP) / columns), SMALLEST / columns)


def laid_out(grid: list[list[Panel]], columns: int) -> list[list[Panel]]:
    """Rows of panels broken into as many as it takes for every token to be named, as equal as they can be."""
    most = max(1, int((WIDEST + 1e-6) / (READABLE * columns + GAP)))
    widths = [abreast(len(row), most) for row in grid]
    return [row[i : i + n] for row, n in zip(grid, widths, strict=True) for i in range(0, len(row), n)]


def abreast(count: int, most: int) -> int:
    """How many panels stand in a row: all, or a number that divides them and is more than half of `most`."""
    even = [n for n in range(1, most + 1) if count % n == 0 and 2 * n > most]
    return max(even) if even else math.ceil(count / math.ceil(count / most))


def squared(grid: list[list[Panel]], rows: int, columns: int, most: float) -> tuple[list[list[Panel]], float]:
    """Panels in a sheet about as wide as high, a layer broken or joined as a whole; and the size of a square."""
    panels, heads = [panel for row in grid for panel in row], max(map(len, grid))

    def longest(across: int) -> int:
        return max(across * columns, math.ceil(len(panels) / across) * rows)

    whole = [across for across in range(1, len(panels) + 1) if heads % across == 0 or across % heads == 0]
    across = min(whole, key=longest)
    made = [panels[begin : begin + across] for begin in range(0, len(panels), across)]
    fits = min((HIGHEST / across - GAP) / columns, (HIGHEST / len(made) - GAP) / rows)
    return made, max(min(most, fits), 1 / DOTS)


@dataclass(frozen=True, eq=False)
class Bars:
    """One bar over each word, those in `marked` in another colour.

    `abreast` and `largest` are what lines of one chart have in common: the most words of a line, the largest value.
    """

    heading: str
    name: str
    words: list[str]
    values: np.ndarray
    left: float = 0.5
    marked: frozenset[int] = frozenset()
    abreast: int = 0
    largest: float = 0.0

    @property
    def cell(self) -> float:
        return max(NARROW, min(0.46, 11 / max(self.abreast, len(self.words))))

    @property
    def size(self) -> tuple[float, float]:
        heading = HEADING if self.heading else 0.0
        return self.left + self.cell * len(self.words), heading + TALL + breadth(self.words) * 0.082 + 0.15 + GAP

    def draw(self, sheet: "Figure", top: float) -> None:
        write(sheet, MARGIN, top + 0.1, self.heading, size=11.5, weight="bold")
        down = top + (HEADING if self.heading else 0.0)
        axes = axes_at(sheet, MARGIN + self.left, down, self.cell * len(self.words), TALL)
        at = np.arange(len(self.values)) + 0.5
        colours = [MARK if i in self.marked else BLUE for i in range(len(self.values))]
        drawn = axes.bar(at, self.values, width=0.72, color=colours)
        shown = [decimal(value) if value >= 0.045 else "" for value in self.values]
        axes.bar_label(drawn, shown, fontsize=7.5, color=FAINT, padding=1.5)
        axes.set_xlim(0, len(self.values))
        axes.set_ylim(0, max(self.largest, float(self.values.max())) * 1.18 or 1.0)
        axes.set_xticks(at, self.words, rotation=90, fontsize=9)
        for i in self.marked:
            axes.get_xticklabels()[i].set(color=MARK, fontweight="bold")
        axes.set_ylabel(self.name, fontsize=8, color=FAINT)
        axes.locator_params(axis="y", nbins=4)
        axes.tick_params(axis="y", labelsize=7.5, colors=FAINT, length=2)
        axes.tick_params(axis="x", length=0, pad=3)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.spines["bottom"].set_color(LINE)


def wrapped(bars: Bars) -> Iterator[Bars]:
    """In as many lines as it takes to be no wider than a row of panels."""
    count = len(bars.words)
    lines = math.ceil(count / int((WIDEST - bars.left) / NARROW))
    abreast = math.ceil(count / lines)
    for begin in range(0, count, abreast):
        part = slice(begin, begin + abreast)
        yield replace(
            bars,
            heading="" if begin else bars.heading,
            words=bars.words[part],
            values=bars.values[part],
            abreast=abreast,
            largest=float(bars.values.max()),
        )


@dataclass(frozen=True, eq=False)
class Chances:
    """A probability for each label, the likeliest marked."""

    heading: str
    labels: list[str]
    values: np.ndarray

    @property
    def _left(self) -> float:
        return breadth(self.labels) * 0.085 + 0.15

    @property
    def size(self) -> tuple[float, float]:
        return self._left + BAR + 0.6, HEADING + 0.24 * len(self.labels) + GAP

    def draw(self, sheet: "Figure", top: float) -> None:
        write(sheet, MARGIN, top + 0.1, self.heading, size=11.5, weight="bold")
        axes = axes_at(sheet, MARGIN + self._left, top + HEADING, BAR, 0.24 * len(self.labels))
        best = int(self.values.argmax())
        at = np.arange(len(self.labels))
        drawn = axes.barh(at, self.values, height=0.7, color=[MARK if i == best else BLUE for i in at])
        axes.bar_label(drawn, [f"{value:.3f}" for value in self.values], fontsize=8.5, color=FAINT, padding=3)
        axes.set(xlim=(0, 1), xticks=[])
        axes.set_yticks(at, self.labels, fontsize=9)
        axes.get_yticklabels()[best].set(color=MARK, fontweight="bold")
        axes.invert_yaxis()
        axes.tick_params(length=0, pad=3)
        axes.spines[["top", "right", "bottom"]].set_visible(False)
        axes.spines["left"].set_color(LINE)
