"""The picture of what a text costs by its length: both axes logarithmic, so that a power is a straight line."""

from typing import TYPE_CHECKING, Any

from regard.explain.paper import COLOURS, FAINT, INK, MARGIN, MARKS, axes_at, drawing, saved, write
from regard.lab.plot import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE, TALL, GAP, FOOT, KEY = 3.6, 3.1, 0.8, 0.6, 3.0  # inches
PANELS = {  # figure, unit, title
    "seconds": (1.0, "seconds of a training step"),
    "peak_bytes": (1e6, "megabytes of a training step, at most"),
}


def picture(table: list[dict[str, Any]], form: str) -> bytes:
    """Time and memory of a training step side by side, as "svg" or "png"."""
    left, top = MARGIN + 0.6, MARGIN + 0.75
    width = left + 2 * (WIDE + GAP) + KEY + MARGIN
    with drawing() as Figure:
        sheet = Figure(figsize=(width, top + TALL + FOOT + MARGIN))
        write(
            sheet, MARGIN, MARGIN + 0.12, "What a training step costs by the length of its text", size=14, weight="bold"
        )
        for i, figure in enumerate(PANELS):
            curves(axes_at(sheet, left + i * (WIDE + GAP), top, WIDE, TALL), table, figure)
        legend(axes_at(sheet, left + 2 * (WIDE + GAP) - 0.3, top, KEY, 0.32 * (len(table) + 1)), table)
        return saved(sheet, form)


def curves(axes: "Axes", table: list[dict[str, Any]], figure: str) -> None:
    """One figure of every system over the length."""
    from matplotlib.ticker import LogLocator

    unit, title = PANELS[figure]
    for i, record in enumerate(table):
        found = [(row["length"], row[figure] / unit) for row in record["rows"] if row.get(figure)]
        if found:
            axes.plot(*zip(*found, strict=True), **style(i), markersize=6, linewidth=1.6)
    lengths = [row["length"] for row in table[0]["rows"]]
    axes.set_xscale("log", base=2, subs=[])
    axes.set_yscale("log", subs=[])
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.set_xticks(lengths, [f"{length:,}" for length in lengths])
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel("tokens", fontsize=9, color=FAINT)
    axes.set_title(title, fontsize=9.5, color=INK, loc="left")
    plain(axes)


def style(number: int) -> dict[str, Any]:
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKS[number % len(MARKS)]}


def legend(axes: "Axes", table: list[dict[str, Any]]) -> None:
    """Mark, name and exponents of each system."""
    axes.set_axis_off()
    axes.set(xlim=(0, 1), ylim=(len(table) + 1, 0))
    columns = {"exponent": 0.72, "exponent_memory": 1.0}
    for at, words in zip((0.13, *columns.values()), ("exponents", "time", "memory"), strict=True):
        axes.text(at, 0.5, words, fontsize=9, color=FAINT, va="center", ha="left" if at < 0.5 else "right")
    for i, record in enumerate(table):
        axes.plot(0.05, i + 1.5, **style(i), markersize=7)
        axes.text(0.13, i + 1.5, record["system"], fontsize=9.5, color=INK, va="center")
        for key, at in columns.items():
            if record[key] is not None:
                axes.text(at, i + 1.5, f"{record[key]:.2f}", fontsize=9.5, color=INK, va="center", ha="right")
