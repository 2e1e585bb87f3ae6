"""What a figure shows: curves, bars or maps of named columns, one colour and mark for each arm."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, geometric_mean
from typing import TYPE_CHECKING, Any

from regard.explain.paper import MARKS
from regard.lab.claims.trial import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DASHES = ("-", "--", "-.", ":")
FEW = 5  # bars beside names: where there are fewer, none is thicker than these


@dataclass(frozen=True)
class Theme:
    """Colours that colour-blind eyes tell apart, on light or dark paper."""

    paper: str
    ink: str
    faint: str
    line: str
    colours: tuple[str, ...]
    ramp: str  # matplotlib's name

    def style(self, number: int) -> dict[str, Any]:
        """Colour, mark and dash of an arm, the same in every panel; between dashes a line below shows through."""
        every = len(self.colours)
        return {
            "color": self.colours[number % every],
            "marker": MARKS[number % len(MARKS)],
            "linestyle": DASHES[(number + number // every) % len(DASHES)],
        }


# Okabe and Ito's colours, darker on white and lighter on black so that each stands out
LIGHT = Theme(
    paper="#ffffff",
    ink="#1b1f24",
    faint="#5c6570",
    line="#c8ccd1",
    colours=("#0072b2", "#d55e00", "#007a5a", "#a8468a", "#8a6d00", "#2a9fd6", "#4b5563", "#000000"),
    ramp="cividis",
)
DARK = Theme(
    paper="#14171c",
    ink="#e8eaed",
    faint="#a4acb6",
    line="#454b54",
    colours=("#56b4e9", "#ff9147", "#2fc79a", "#e59bc8", "#f0e442", "#8ab4f8", "#b6bdc7", "#ffffff"),
    ramp="cividis",
)
THEMES = {"light": LIGHT, "dark": DARK}


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One part of a figure. `arms` are those it shows, all of them by default.

    `label` is written along the vertical axis, or along the horizontal one where a panel lies on its side; `several`
    says what becomes of several seeds.
    """

    y: str
    title: str
    label: str  # with its unit
    arms: tuple[str, ...] = ()

    wide = 3.7  # inches
    lies = False
    several = ""

    def shown(self, rows: Sequence[Row]) -> list[Row]:
        return [row for row in rows if self.y in row and (not self.arms or row["arm"] in self.arms)]

    def heading(self, rows: Sequence[Row]) -> str:
        return self.title

    def draw(self, axes: "Axes", rows: Sequence[Row], order: list[str], theme: Theme) -> None:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Lines(Panel):
    """A number over another, `x`: the mean over seeds, and a band from the lowest to the highest.

    A logarithmic axis across has its ticks where something was measured; on one upwards the mean is that of logarithms.
    """

    x: str
    across: str  # the label of the horizontal axis, with its unit
    log: str = ""  # "x", "y" or "xy"

    several = (
        "lines are their mean (geometric where values are on a logarithmic scale), bands go from lowest to highest"
    )

    def draw(self, axes: "Axes", rows: Sequence[Row], order: list[str], theme: Theme) -> None:
        for number, arm in enumerate(order):
            mine = [row for row in self.shown(rows) if row["arm"] == arm]
            points = [(x, [row[self.y] for row in mine if row[self.x] == x]) for x in sorted({r[self.x] for r in mine})]
            if not points:
                continue
            at, look = [x for x, _ in points], theme.style(number)
            marked = {} if len(points) <= 12 else {"marker": None}
            mark, thick = max(4, 9.5 - 1.75 * number), max(1.5, 3.6 - 0.7 * number)
            middle = [self.middle(ys) for _, ys in points]
            axes.plot(at, middle, **look | marked, markersize=mark, linewidth=thick)
            low, high = [min(ys) for _, ys in points], [max(ys) for _, ys in points]
            axes.fill_between(at, low, high, color=look["color"], alpha=0.18, linewidth=0)
        if "x" in self.log:
            axes.set_xscale("log", base=2)
            axes.set_xticks(*apart(sorted({row[self.x] for row in self.shown(rows)})), minor=False)
            axes.xaxis.minorticks_off()
        if "y" in self.log:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.yaxis.set_minor_formatter(lambda value, _: f"{value:g}" if between(value, axes.get_ylim()) else "")
        axes.set_xlabel(self.across, fontsize=9, color=theme.faint)

    def middle(self, values: Sequence[float]) -> float:
        return geometric_mean(values) if "y" in self.log and min(values) > 0 else fmean(values)


@dataclass(frozen=True, kw_only=True)
class Bars(Panel):
    """One bar for each arm, or for each arm at each value of `by`: the mean over seeds, and every seed as a dot."""

    by: str = ""
    names: str = ""  # the label of the horizontal axis

    several = "bars are their mean, a dot is one of them"

    def draw(self, axes: "Axes", rows: Sequence[Row], order: list[str], theme: Theme) -> None:
        shown = self.shown(rows)
        groups = list(dict.fromkeys(row[self.by] for row in shown)) if self.by else [None]
        arms = [arm for arm in order if any(row["arm"] == arm for row in shown)]
        wide = 0.8 / max(1, len(arms))
        for place, arm in enumerate(arms):
            look = theme.style(order.index(arm))
            for at, group in enumerate(groups):
                values = by_seed(shown, arm, self.y, {self.by: group} if self.by else {})
                if values:
                    x = at + (place - (len(arms) - 1) / 2) * wide
                    axes.bar(x, fmean(values), width=wide * 0.86, color=look["color"], alpha=0.85)
                    axes.plot([x] * len(values), values, "o", color=theme.ink, markersize=2.5)
        axes.set_xticks(range(len(groups)) if self.by else [], map(str, groups) if self.by else [])
        axes.set_xlabel(self.names, fontsize=9, color=theme.faint)


@dataclass(frozen=True, kw_only=True)
class Named(Panel):
    """One bar for each arm beside its name, where there are more arms than colours; `label` is that of the values.

    Arms that are measured in different units belong in panels of their own.
    """

    wide = 2.6
    lies = True
    several = Bars.several

    def draw(self, axes: "Axes", rows: Sequence[Row], order: list[str], theme: Theme) -> None:
        shown = self.shown(rows)
        arms = [arm for arm in order if any(row["arm"] == arm for row in shown)]
        for at, arm in enumerate(arms):
            values = by_seed(shown, arm, self.y, {})
            axes.barh(at, fmean(values), height=0.7, color=theme.style(order.index(arm))["color"], alpha=0.85)
            axes.plot(values, [at] * len(values), "o", color=theme.ink, markersize=2.5)
        axes.set_yticks(range(len(arms)), arms)
        axes.set_ylim(max(len(arms), FEW) - 0.5, -0.5)


@dataclass(frozen=True, kw_only=True)
class Map(Panel):
    """A surface over two columns of one arm, in colours. `low` and `high` fix the scale, `unit` is what it counts.

    It is the first seed's: the mean of several surfaces is smoother than each of them.
    """

    x: str
    over: str
    across: str
    unit: str = ""  # the column's name by default
    low: float | None = None
    high: float | None = None

    several = "a map shows the first"

    def shown(self, rows: Sequence[Row]) -> list[Row]:
        every = super().shown(rows)
        first = min((row["seed"] for row in every), default=0)
        return [row for row in every if row["seed"] == first]

    def heading(self, rows: Sequence[Row]) -> str:
        """With the seed that is shown."""
        return f"{self.title}, seed {self.shown(rows)[0]['seed']}"

    def draw(self, axes: "Axes", rows: Sequence[Row], order: list[str], theme: Theme) -> None:
        cells = {(row[self.over], row[self.x]): row[self.y] for row in self.shown(rows)}
        ys, xs = (sorted(set(places)) for places in zip(*cells, strict=True))
        values = [[cells.get((y, x), float("nan")) for x in xs] for y in ys]
        mesh = axes.pcolormesh(xs, ys, values, cmap=theme.ramp, vmin=self.low, vmax=self.high, shading="nearest")
        beyond = self.high is not None and max(cells.values()) > self.high
        more: Any = {"extend": "max"} if beyond else {}
        bar = axes.figure.colorbar(mesh, ax=axes, fraction=0.2, pad=0.03, aspect=20, **more)  # its numbers and unit too
        bar.set_label(self.unit or self.y, fontsize=8, color=theme.faint)
        bar.ax.tick_params(labelsize=7.5, colors=theme.faint, length=2)
        bar.outline.set_visible(False)
        axes.set_xlabel(self.across, fontsize=9, color=theme.faint)


def between(value: float, limits: tuple[float, float]) -> bool:
    """Whether a logarithmic axis says this number too, beside powers of ten: 2, 5, 20 and so on where those are few."""
    return f"{value:e}"[:4] in ("2.00", "5.00") and limits[1] < 100 * limits[0]


def apart(values: Sequence[float]) -> tuple[list[float], list[str]]:
    """Where ticks of a logarithmic axis stand, and what they say, with room between them: from the highest down."""
    ticks = list(values[-1:])
    for value in reversed(values[:-1]):
        if value * (values[-1] / values[0]) ** (1 / 9) <= ticks[-1]:
            ticks.append(value)
    return ticks, [counted(value) for value in ticks]


def counted(value: float) -> str:
    """Millions are called so."""
    return f"{value / 1e6:.2g}M" if value >= 1e5 else f"{value:g}"


def by_seed(rows: Sequence[Row], arm: str, name: str, at: Row) -> list[float]:
    """One number for each seed."""
    mine = [row for row in rows if row["arm"] == arm and all(row.get(key) == value for key, value in at.items())]
    return [fmean(row[name] for row in mine if row["seed"] == seed) for seed in sorted({row["seed"] for row in mine})]
