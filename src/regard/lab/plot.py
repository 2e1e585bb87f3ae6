"""The picture of a comparison: quality against parameters, FLOPs and seconds, and translations by length."""

from typing import TYPE_CHECKING, Any

from regard.explain.paper import COLOURS, FAINT, INK, LINE, MARGIN, MARKS, axes_at, drawing, saved, write
from regard.lab.table import LOWER, by_words, lengths, main_score
from regard.train.forecast import quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE, TALL, GAP, FOOT, KEY = 3.6, 2.7, 0.75, 0.75, 2.6  # inches
AGAINST = {"parameters": "parameters", "flops": "training FLOPs, counted", "seconds": "seconds of training"}


def picture(results: dict[str, Any], form: str) -> bytes:
    """The sheet as "svg" or "png"."""
    drawn = [member for member in results["members"] if member["figures"]]
    translators = [member for member in drawn if "by_length" in member]
    name, top = main_score(results), MARGIN + 0.95
    left, step = MARGIN + 0.6, WIDE + GAP
    width = left + 3 * step - GAP + MARGIN
    height = top + (TALL + FOOT) * (2 if translators else 1) + (0.0 if translators else 0.3 * len(drawn)) + MARGIN
    with drawing() as Figure:
        sheet = Figure(figsize=(width, height))
        write(sheet, MARGIN, MARGIN + 0.12, results["title"], size=15, weight="bold")
        write(sheet, MARGIN, MARGIN + 0.45, results["caption"], size=9.5, color=FAINT)
        for i, against in enumerate(AGAINST):
            points(axes_at(sheet, left + i * step, top, WIDE, TALL), drawn, against, name, first=i == 0)
        below = top + TALL + FOOT
        if translators:
            write(sheet, left, below - 0.12, by_words(results), size=11, weight="bold")
            curves(axes_at(sheet, left, below + 0.08, 2 * step - GAP, TALL - 0.1), translators, drawn, name)
        names = axes_at(sheet, left + 2 * step if translators else left, below, KEY, 0.3 * len(drawn) + 0.1)
        legend(names, drawn)
        return saved(sheet, form)


def style(drawn: list[dict[str, Any]], member: dict[str, Any]) -> dict[str, Any]:
    """The colour and mark of a member, the same in every panel."""
    number = [each["member"] for each in drawn].index(member["member"])
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKS[number % len(MARKS)]}


def points(axes: "Axes", drawn: list[dict[str, Any]], against: str, name: str, *, first: bool) -> None:
    """Quality over one cost, one standard deviation each way."""
    from matplotlib.ticker import LogLocator

    for member in drawn:
        if name in member["figures"]:
            cost, quality = figure(member, against), member["figures"][name]
            axes.errorbar(
                cost["mean"],
                quality["mean"],
                xerr=cost["spread"] or 0,
                yerr=quality["spread"] or 0,
                **style(drawn, member),
                markersize=7,
                capsize=3,
                linewidth=1.2,
            )
    means = [figure(member, against)["mean"] for member in drawn]
    if max(means) > 8 * min(means):
        axes.set_xscale("log", subs=[])
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    else:
        axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(
        lambda value, _: quantity(value).replace(".0", "") if value >= 1000 else f"{value:g}"
    )
    axes.set_xlabel(AGAINST[against], fontsize=9, color=FAINT)
    if first:
        better = "lower" if name.startswith(LOWER) else "higher"
        axes.set_ylabel(f"{name.replace('_', ' ')} ({better} is better)", fontsize=9, color=FAINT)
    plain(axes)


def figure(member: dict[str, Any], against: str) -> dict[str, Any]:
    if against == "parameters":
        return {"mean": member["parameters"], "spread": None}
    return member["figures"][against]


def curves(axes: "Axes", translators: list[dict[str, Any]], drawn: list[dict[str, Any]], name: str) -> None:
    """Mean over seeds in each bucket, with a band from the lowest to the highest seed."""
    for member in translators:
        buckets, look = member["by_length"], style(drawn, member)
        at = range(len(buckets))
        axes.plot(at, [sum(b[name]) / len(b[name]) for b in buckets], **look, markersize=6, linewidth=1.6)
        low, high = [min(b[name]) for b in buckets], [max(b[name]) for b in buckets]
        axes.fill_between(at, low, high, color=look["color"], alpha=0.14, linewidth=0)
    buckets = translators[0]["by_length"]
    axes.set_xticks(range(len(buckets)), [f"{lengths(b)}\n{b['texts']} texts" for b in buckets])
    axes.set_ylabel("BLEU" if name == "bleu" else name.replace("_", " "), fontsize=9, color=FAINT)
    plain(axes)


def plain(axes: "Axes") -> None:
    axes.tick_params(labelsize=8, colors=FAINT, length=2)
    axes.grid(color=LINE, linewidth=0.5, alpha=0.6)
    axes.set_axisbelow(True)
    axes.margins(0.12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(LINE)


def legend(axes: "Axes", drawn: list[dict[str, Any]]) -> None:
    """Mark and name of each member."""
    axes.set_axis_off()
    axes.set(xlim=(0, 1), ylim=(len(drawn), 0))
    for i, member in enumerate(drawn):
        axes.plot(0.05, i + 0.5, **style(drawn, member), markersize=7)
        axes.text(0.13, i + 0.5, member["member"], fontsize=9.5, color=INK, va="center")
