"""The figure of an experiment: its panels side by side, who is who below them, and the verdict."""

from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from regard.explain.paper import MARGIN, axes_at, drawing, saved, write
from regard.lab.claims.experiment import Experiment
from regard.lab.claims.panels import Lines, Panel, Theme
from regard.lab.claims.trial import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TALL, LEFT, GAP, FOOT = 2.7, 0.65, 0.3, 0.75  # inches: of a panel, on its left and right, below it
LETTERS = 12  # to an inch, in the smaller letters
LEAST, MOST = 7.5, 15.5  # inches: what a title needs, and what a page has
Mark = Callable[["Axes", float, float, dict[str, Any]], None]


def picture(experiment: Experiment, results: dict[str, Any], form: str, theme: Theme) -> bytes:
    """The sheet as "svg" or "png"."""
    storeys = arranged(experiment.panels)
    wide = max(LEAST, *(sum(LEFT + panel.wide + GAP for panel in storey) + MARGIN for storey in storeys))
    claim, verdict = (lettered(results[key], wide) for key in ("claim", "sentence"))
    top = MARGIN + 0.4 + 0.2 * len(claim) + 0.45
    names = [name for name in experiment.arms if name not in results["left_out"]]
    columns = max(1, int((wide - 2 * MARGIN) // 2.4))
    key, below = 0.25 * -(-len(names) // columns), top + (TALL + FOOT) * len(storeys)
    seeds = len(results["seeds"])
    foot = lettered(f"{seeds} seeds: {several(experiment.panels)}.", wide) if seeds > 1 else []
    with drawing() as Figure:
        tall = below + key + 0.2 * (len(verdict) + len(foot)) + 0.3 + MARGIN
        sheet = Figure(figsize=(wide, tall), facecolor=theme.paper)
        title = f"{experiment.id}  {experiment.title}"
        write(sheet, MARGIN, MARGIN + 0.1, title, size=14, weight="bold", color=theme.ink)
        lines(sheet, claim, MARGIN + 0.42, theme.faint)
        for storey in storeys:
            left = 0.0
            for panel in storey:
                left += LEFT + (MARGIN if not left else 0)
                show(panel, axes_at(sheet, left, top, panel.wide, TALL), results["rows"], names, theme)
                left += panel.wide + GAP
            top += TALL + FOOT
        mark = line if any(isinstance(panel, Lines) for panel in experiment.panels) else square
        legend(axes_at(sheet, MARGIN, below, wide - 2 * MARGIN, key), names, columns, theme, mark=mark)
        lines(sheet, verdict, below + key + 0.25, theme.ink, weight="bold")
        lines(sheet, foot, below + key + 0.3 + 0.2 * len(verdict), theme.faint)
        return saved(sheet, form)


def lettered(text: str, wide: float) -> list[str]:
    """In lines that fit a sheet."""
    return wrap(text, int((wide - 2 * MARGIN) * LETTERS))


def several(panels: Sequence[Panel]) -> str:
    """What each kind of panel that is drawn makes of several seeds."""
    return "; ".join(dict.fromkeys(panel.several for panel in panels))


def arranged(panels: Sequence[Panel]) -> list[Sequence[Panel]]:
    """As few storeys as the sheet is wide enough for, with as many panels in each as in the others."""
    for count in range(1, len(panels) + 1):
        each = -(-len(panels) // count)
        storeys = [panels[begin : begin + each] for begin in range(0, len(panels), each)]
        if max(sum(LEFT + panel.wide + GAP for panel in storey) for storey in storeys) <= MOST:
            break
    return storeys


def show(panel: Panel, axes: "Axes", rows: list[Row], names: list[str], theme: Theme) -> None:
    panel.draw(axes, rows, names, theme)
    axes.set_title(panel.heading(rows), fontsize=10, color=theme.ink, loc="left")
    label = axes.set_xlabel if panel.lies else axes.set_ylabel
    label(panel.label, fontsize=9, color=theme.faint)
    plain(axes, theme)


def lines(sheet: "Figure", words: list[str], top: float, colour: str, **style: Any) -> None:
    for number, line in enumerate(words):
        write(sheet, MARGIN, top + 0.2 * number, line, size=9.5, color=colour, **style)


def plain(axes: "Axes", theme: Theme) -> None:
    axes.set_facecolor(theme.paper)
    axes.tick_params(labelsize=8, colors=theme.faint, length=2, which="both")
    axes.grid(color=theme.line, linewidth=0.5, alpha=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(theme.line)


def legend(axes: "Axes", names: list[str], columns: int, theme: Theme, *, mark: Mark) -> None:
    """Mark and name of each arm."""
    axes.set_axis_off()
    axes.set(xlim=(0, columns), ylim=(-(-len(names) // columns), 0))
    for number, name in enumerate(names):
        x, y = number % columns, number // columns + 0.5
        mark(axes, x, y, theme.style(number))
        axes.text(x + 0.16, y, name, fontsize=9, color=theme.ink, va="center")


def line(axes: "Axes", x: float, y: float, style: dict[str, Any]) -> None:
    axes.plot([x + 0.02, x + 0.12], [y, y], **style, markersize=5, linewidth=1.7)


def square(axes: "Axes", x: float, y: float, style: dict[str, Any]) -> None:
    axes.plot([x + 0.07], [y], color=style["color"], marker="s", markersize=8)
