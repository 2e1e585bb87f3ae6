"""A sheet to draw the lectures' figures on: boxes, words, lines, squares and curves, written as SVG.

Coordinates are pixels from the top left corner. A colour is "ink", "faint", "line" or "paper" of the theme, or the
number of one of its colours. Numbers are written with one decimal, so that another machine draws the same file.
"""

from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from regard.lab.claims.panels import Theme

Colour = str | int
Point = tuple[float, float]
WORDS = ["An", "old", "dog", "and", "a", "young", "boy"]
STYLE = 'text{font-family:"DejaVu Sans",Verdana,sans-serif;dominant-baseline:central}'


def short(number: float) -> str:
    """One decimal, and none where it is 0."""
    return f"{round(number, 1) + 0.0:g}"


def contrast(one: float, two: float) -> float:
    return (max(one, two) + 0.05) / (min(one, two) + 0.05)


class Sheet:
    """`about` is read aloud to whoever cannot see the picture."""

    def __init__(self, width: float, height: float, theme: Theme, about: str):
        self.width, self.height, self.theme, self.about = width, height, theme, about
        self.parts: list[str] = []

    def svg(self) -> str:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {short(self.width)} {short(self.height)}" '
            f'width="{short(self.width)}" height="{short(self.height)}" role="img" aria-label="{escape(self.about)}">'
        )
        paper = f'<rect width="100%" height="100%" fill="{self.theme.paper}"/>'
        return "\n".join([head, f"<style>{STYLE}</style>", paper, *self.parts, "</svg>\n"])

    def colour(self, name: Colour, share: float = 1.0) -> str:
        """A colour, or that `share` of it on the paper."""
        found = self.theme.colours[name] if isinstance(name, int) else str(getattr(self.theme, name))
        parts = zip(self._parts(self.theme.paper), self._parts(found), strict=True)
        return "#" + "".join(f"{round(low + (high - low) * share):02x}" for low, high in parts)

    def legible(self, name: Colour, share: float) -> str:
        """Ink or paper, whichever stands out more on that share of a colour."""
        ground, ink, paper = (
            self._light(each) for each in (self.colour(name, share), self.theme.ink, self.theme.paper)
        )
        return max(("ink", ink), ("paper", paper), key=lambda each: contrast(ground, each[1]))[0]

    def _light(self, colour: str) -> float:
        """How light a colour is, from 0 to 1, as eyes see it (WCAG's relative luminance)."""
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in (each / 255 for each in self._parts(colour))
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    @staticmethod
    def _parts(colour: str) -> list[int]:
        return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = 12,
        colour: Colour = "ink",
        at: str = "middle",
        bold: bool = False,
        turn: float = 0,
    ) -> None:
        """`at` is "start", "middle" or "end": where x is in the words. `turn` is in degrees."""
        turned = f' transform="rotate({short(turn)} {short(x)} {short(y)})"' if turn else ""
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(
            f'<text x="{short(x)}" y="{short(y)}" font-size="{short(size)}" text-anchor="{at}" '
            f'fill="{self.colour(colour)}"{weight}{turned}>{escape(words)}</text>'
        )

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        words: str = "",
        *,
        colour: Colour = 0,
        fill: float = 0.12,
        edge: float = 1.2,
        below: str = "",
    ) -> None:
        """A box around its middle (x, y), with words and smaller ones `below` them."""
        stroke = f' stroke="{self.colour(colour)}" stroke-width="{short(edge)}"' if edge else ""
        self.parts.append(
            f'<rect x="{short(x - width / 2)}" y="{short(y - height / 2)}" width="{short(width)}" '
            f'height="{short(height)}" rx="{4 if edge else 0}" fill="{self.colour(colour, fill)}"{stroke}/>'
        )
        if words:
            self.text(x, y - (8 if below else 0), words)
        if below:
            self.text(x, y + 8, below, size=10, colour="faint")

    def line(
        self,
        points: Sequence[Point],
        *,
        colour: Colour = "faint",
        width: float = 1.4,
        dash: str = "",
        arrow: bool = False,
    ) -> None:
        path = " ".join(f"{short(x)},{short(y)}" for x, y in points)
        look = f'fill="none" stroke="{self.colour(colour)}" stroke-width="{short(width)}"'
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<polyline points="{path}" {look}{dashed}/>')
        if arrow:
            self._head(*points[-2:], colour)

    def _head(self, before: Point, end: Point, colour: Colour) -> None:
        """The head of an arrow."""
        across, down = end[0] - before[0], end[1] - before[1]
        length = (across**2 + down**2) ** 0.5
        across, down = across / length, down / length
        left = end[0] - 7 * across - 3.5 * down, end[1] - 7 * down + 3.5 * across
        right = end[0] - 7 * across + 3.5 * down, end[1] - 7 * down - 3.5 * across
        path = " ".join(f"{short(x)},{short(y)}" for x, y in (end, left, right))
        self.parts.append(f'<polygon points="{path}" fill="{self.colour(colour)}"/>')

    def squares(
        self,
        x: float,
        y: float,
        shares: Sequence[Sequence[float | None]],
        size: float,
        *,
        colour: Colour = 0,
        numbers: Sequence[Sequence[str]] | None = None,
    ) -> None:
        """A table with its upper left corner at (x, y); each square as dark as its share, from 0 to 1, says.

        A share of None is crossed out: there is nothing. `numbers` are written into the squares.
        """
        for row, line in enumerate(shares):
            for column, share in enumerate(line):
                left, top = x + column * size, y + row * size
                middle = left + size / 2, top + size / 2
                self.box(
                    *middle,
                    size - 1,
                    size - 1,
                    colour="line" if share is None else colour,
                    fill=0.35 if share is None else 0.04 + 0.96 * share,
                    edge=0,
                )
                if numbers is not None:
                    written = "faint" if share is None else self.legible(colour, 0.04 + 0.96 * share)
                    self.text(*middle, numbers[row][column], size=min(11, size * 0.34), colour=written)

    def marked(self, x: float, y: float, marks: Sequence[Sequence[bool]], size: float, *, colour: Colour = 0) -> None:
        """The squares of a table that are True, on a pale ground: one path, however many they are."""
        across, down = len(marks[0]) * size, len(marks) * size
        self.box(x + across / 2, y + down / 2, across, down, colour="line", fill=0.35, edge=0)
        side = short(size - (1 if size > 8 else 0.4))
        path = "".join(
            f"M{short(x + column * size)} {short(y + row * size)}h{side}v{side}h-{side}z"
            for row, line in enumerate(marks)
            for column, mark in enumerate(line)
            if mark
        )
        self.parts.append(f'<path d="{path}" fill="{self.colour(colour)}"/>')

    def names(self, x: float, y: float, words: Sequence[str], size: float, *, down: bool, turn: float = 0) -> None:
        """Names beside the rows (`down`) or above the columns of squares whose corner is at (x, y)."""
        for number, word in enumerate(words):
            along = (number + 0.5) * size
            if down:
                self.text(x - 6, y + along, word, size=11, at="end")
            elif turn:
                self.text(x + along, y - 7, word, size=11, at="start", turn=turn)
            else:
                self.text(x + along, y - 9, word, size=11)


class Axis(NamedTuple):
    """From where to where, the marks between, what is written at them, and the name with its unit."""

    low: float
    high: float
    marks: Sequence[float]
    says: Sequence[str]
    name: str

    def at(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low)


def curves(
    sheet: Sheet,
    corner: Point,
    size: Point,
    across: Axis,
    up: Axis,
    lines: dict[str, Sequence[Point]],
) -> None:
    """Curves in a frame whose upper left corner is given, each named at its end."""
    (x, y), (width, height) = corner, size
    for mark, says in zip(up.marks, up.says, strict=True):
        level = y + height * (1 - up.at(mark))
        sheet.line([(x, level), (x + width, level)], colour="line", width=0.6)
        sheet.text(x - 6, level, says, size=10, colour="faint", at="end")
    for mark, says in zip(across.marks, across.says, strict=True):
        sheet.text(x + width * across.at(mark), y + height + 12, says, size=10, colour="faint")
    sheet.text(x + width / 2, y + height + 30, across.name, size=11, colour="faint")
    sheet.text(x - 14 - 6 * max(map(len, up.says)), y + height / 2, up.name, size=11, colour="faint", turn=-90)
    ends: list[tuple[float, float, str, int]] = []
    for number, (name, points) in enumerate(lines.items()):
        path = [(x + width * across.at(a), y + height * (1 - up.at(b))) for a, b in points]
        sheet.line(path, colour=number, width=2, dash=("", "7 3", "2 3", "9 3 2 3", "4 2")[number])
        ends.append((path[-1][1], path[-1][0] + 6, name, number))
    lowest = float("-inf")
    for level, right, name, number in sorted(ends):
        lowest = max(level, lowest + 13)
        sheet.text(right, lowest, name, size=11, colour=number, at="start")
