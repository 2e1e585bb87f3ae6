"""The dependency tree that a model was given with its text (B7): words, and what each of them hangs on.

In a picture the words stand in a line, and an arc leads from each to what hangs on it.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from regard.data.trees import DEPTH, ENTERS, LEAVES
from regard.explain.panels import GAP, HEADING, NARROW, WIDEST
from regard.explain.paper import BLUE, INK, MARGIN, MARK, axes_at, breadth, write
from regard.explain.sides import Side
from regard.explain.words import Word, spelling

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEP, HIGHEST = 0.2, 2.4  # of an arc above those below it; of all of them
FOOT, CURVE, BESIDE = 0.06, 0.09, 0.08  # the room below an arrow, the corner of an arc, its start beside its word
LETTER, SPACE = 0.087, 0.16  # of a word that lies, and between two
ROOT = 0.4  # above all arcs


@dataclass(frozen=True)
class Hung:
    """A word and which of the words it hangs on; None is the root."""

    word: Word
    head: int | None


def hung(side: Side) -> list[Hung]:
    """The words of a text with a tree, read back from the three numbers of each token that the model was given."""
    assert side.tree is not None
    enters = side.tree[ENTERS].tolist()
    groups = [list(group) for _, group in groupby(range(len(enters)), key=enters.__getitem__)]
    rows = side.tree[:, [group[0] for group in groups]]
    places = [[place + 1 for place in group] for group in groups]  # the start symbol stands before them
    words = [Word(spelling(side, group).strip(), tuple(group)) for group in places]
    return [Hung(word, above(rows, i)) for i, word in enumerate(words)]


def above(rows: np.ndarray, word: int) -> int | None:
    """The word one step nearer to the root, below which this one stands."""
    inside = (rows[ENTERS] <= rows[ENTERS, word]) & (rows[ENTERS, word] <= rows[LEAVES])
    found = np.flatnonzero(inside & (rows[DEPTH] == rows[DEPTH, word] - 1))
    return int(found[0]) if len(found) else None


def levels(arcs: list[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """How high each arc must be, from 1, to pass over the shorter ones that it covers or crosses."""
    found: dict[tuple[int, int], int] = {}
    for left, right in sorted(arcs, key=lambda arc: arc[1] - arc[0]):
        below = (level for (a, b), level in found.items() if a < right and left < b)
        found[left, right] = 1 + max(below, default=0)
    return found


@dataclass(frozen=True, eq=False)
class Arcs:
    """A part of a picture: the words in a line, upright where they are too many to lie, and the tree above them."""

    heading: str
    words: list[str]
    heads: list[int | None]

    @cached_property
    def levels(self) -> dict[tuple[int, int], int]:
        return levels([(min(i, head), max(i, head)) for i, head in enumerate(self.heads) if head is not None])

    @cached_property
    def lies(self) -> bool:
        return sum(map(lying, self.words)) <= WIDEST

    @cached_property
    def ends(self) -> np.ndarray:
        """Where the room of each word ends."""
        upright = max(NARROW, WIDEST / len(self.words))
        return np.cumsum([lying(word) if self.lies else upright for word in self.words])

    @property
    def step(self) -> float:
        return min(STEP, HIGHEST / max(self.levels.values(), default=1))

    @property
    def tall(self) -> float:
        return FOOT + max(self.levels.values(), default=0) * self.step + ROOT

    @property
    def size(self) -> tuple[float, float]:
        names = 0.22 if self.lies else breadth(self.words) * 0.082 + 0.1
        return float(self.ends[-1]), HEADING + self.tall + names + GAP

    def draw(self, sheet: "Figure", top: float) -> None:
        write(sheet, MARGIN, top + 0.1, self.heading, size=11.5, weight="bold")
        width, middle = self.size[0], self.ends - np.diff(self.ends, prepend=0.0) / 2
        axes = axes_at(sheet, MARGIN, top + HEADING, width, self.tall)
        axes.set(xlim=(0, width), ylim=(0, self.tall))
        axes.set_axis_off()
        for word, (head, at) in enumerate(zip(self.heads, middle, strict=True)):
            if head is None:
                arrow(axes, [(at, self.tall - 0.16), (at, FOOT)], MARK)
                axes.text(at, self.tall, "root", ha="center", va="top", fontsize=8.5, color=MARK)
            else:
                level = self.levels[min(word, head), max(word, head)]
                arrow(axes, over(middle[head], at, FOOT + level * self.step), BLUE)
        for at, text in zip(middle, self.words, strict=True):
            upright = 0 if self.lies else 90
            axes.text(at, -0.03, text, ha="center", va="top", fontsize=10, color=INK, rotation=upright)


def lying(word: str) -> float:
    """The room of a word that is not upright."""
    return breadth([word]) * LETTER + SPACE


def over(start: float, end: float, height: float) -> list[tuple[float, float]]:
    """The corners of an arc from beside one word to above another."""
    start += BESIDE if end > start else -BESIDE
    return [(start, 0.0), (start, height), (end, height), (end, FOOT)]


def arrow(axes: "Axes", corners: list[tuple[float, float]], colour: str) -> None:
    """A line whose corners are round, and its point."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    points, codes = [corners[0]], [Path.MOVETO]
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        points += [towards(corner, before), corner, towards(corner, after)]
        codes += [Path.LINETO, Path.CURVE3, Path.CURVE3]
    line = Path([*points, corners[-1]], [*codes, Path.LINETO])
    axes.add_patch(PathPatch(line, facecolor="none", edgecolor=colour, linewidth=1.0))
    axes.plot(*corners[-1], marker="v", markersize=4.5, color=colour, clip_on=False)


def towards(corner: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """Where the line leaves its corner: at most half way to the next."""
    across, down = other[0] - corner[0], other[1] - corner[1]
    share = min(0.5, CURVE / (abs(across) + abs(down)))
    return corner[0] + share * across, corner[1] + share * down
