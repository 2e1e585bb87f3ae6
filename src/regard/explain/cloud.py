"""Vectors as points: the uses of one word, for each run in a panel of its own (C14).

Vectors are made one unit long, since directions are what cosines compare. The two axes are those along which they
spread most (principal components): what is far apart in the picture is far apart in truth, and what lies together may
still differ along others.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from torch.nn.functional import normalize

from regard.checkpoint import write as write_file
from regard.evaluate.senses import Compared, Use
from regard.explain.draw import known
from regard.explain.figures import shortened
from regard.explain.paper import COLOURS, FAINT, INK, LINE, MARGIN, MARKS, axes_at, drawing, saved, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE, TALL, GAP, LINES = 3.6, 3.2, 0.75, 0.22  # inches
FEW = 24  # uses; no more are numbered and written out
EVEN = 1e-6  # a spread so small beside the vectors is none


def principal(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points in the plane of largest spread, and the share of all spread that each of its two directions has."""
    centred = vectors - vectors.mean(0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    points, shares = np.zeros((len(vectors), 2)), np.zeros(2)
    if sizes[0] > EVEN * np.linalg.norm(vectors):
        count = min(2, len(sizes))
        points[:, :count] = left[:, :count] * sizes[:count]
        shares[:count] = (sizes**2 / (sizes**2).sum())[:count]
    turned = points[np.abs(points).argmax(0), [0, 1]] < 0  # a direction and its opposite are the same
    return points * np.where(turned, -1, 1), shares


def draw_uses(compared: Sequence[Compared], path: Path | str) -> None:
    """Write the picture; the suffix says which kind."""
    path = Path(path)
    write_file(path, picture(compared, known(path, (".svg", ".png")).removeprefix(".")))


def picture(compared: Sequence[Compared], form: str) -> bytes:
    """One panel for each run, the senses, and the texts where they are few. `form` is "svg" or "png"."""
    uses = compared[0].uses
    senses = [sense for sense in dict.fromkeys(use.sense for use in uses) if sense]
    texts = len(uses) if len(uses) <= FEW else 0
    top, left = MARGIN + 0.85, MARGIN + 0.6
    below = top + TALL + 0.75
    width = max(left + len(compared) * (WIDE + GAP) - GAP, 7.5 if texts else 4.5) + MARGIN
    with drawing() as Figure:
        sheet = Figure(figsize=(width, below + LINES * (len(senses) + texts) + MARGIN))
        write(sheet, MARGIN, MARGIN + 0.12, f"“{uses[0].word}” in {len(uses)} places", size=15, weight="bold")
        for i, each in enumerate(compared):
            panel(axes_at(sheet, left + i * (WIDE + GAP), top, WIDE, TALL), each, senses, numbered=bool(texts))
        if senses:
            legend(axes_at(sheet, left, below - LINES / 2, WIDE, LINES * len(senses)), senses, uses)
        for i, use in enumerate(uses[:texts]):
            told(sheet, left, below + LINES * (len(senses) + i), i + 1, use)
        return saved(sheet, form)


def panel(axes: "Axes", compared: Compared, senses: list[str], *, numbered: bool) -> None:
    """The uses of one run; those of one sense in one colour."""
    points, shares = principal(normalize(compared.vectors.double(), dim=-1).numpy())
    for i, (use, (x, y)) in enumerate(zip(compared.uses, points, strict=True)):
        axes.plot(x, y, **look(senses, use.sense), markersize=6, linestyle="none", alpha=0.8)
        if numbered and shares.any():
            axes.annotate(str(i + 1), (x, y), (5, 3), textcoords="offset points", fontsize=8, color=INK)
    axes.set_title(compared.run, fontsize=11, color=INK, pad=16)
    axes.text(0.5, 1.02, verdict(compared), transform=axes.transAxes, fontsize=8.5, color=FAINT, ha="center")
    if not shares.any():
        axes.annotate(f"all {len(points)}", (0, 0), (7, 4), textcoords="offset points", fontsize=8, color=INK)
        axes.set(xticks=[], yticks=[], xlim=(-1, 1), ylim=(-1, 1))
    else:
        axes.set_xlabel(f"component 1 ({shares[0]:.0%} of the spread)", fontsize=8, color=FAINT)
        axes.set_ylabel(f"component 2 ({shares[1]:.0%} of the spread)", fontsize=8, color=FAINT)
        axes.margins(0.15)
    axes.tick_params(labelsize=7.5, colors=FAINT, length=2)
    axes.grid(color=LINE, linewidth=0.5, alpha=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(LINE)


def look(senses: list[str], sense: str) -> dict[str, Any]:
    """The colour and mark of a sense, the same in every panel."""
    number = senses.index(sense) if sense else 0
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKS[number % len(MARKS)]}


def verdict(compared: Compared) -> str:
    found = compared.scores
    if "separation" not in found:
        return ""
    return f"separation {found['separation']:.2f}, nearest sense {found['accuracy']:.0%}"


def legend(axes: "Axes", senses: list[str], uses: Sequence[Use]) -> None:
    """Mark and name of each sense, and how many uses have it."""
    axes.set_axis_off()
    axes.set(xlim=(0, 1), ylim=(len(senses), 0))
    for i, sense in enumerate(senses):
        axes.plot(0.02, i + 0.5, **look(senses, sense), markersize=6)
        count = sum(use.sense == sense for use in uses)
        axes.text(0.06, i + 0.5, f"{sense} ({count})", fontsize=9.5, color=INK, va="center")


def told(sheet: "Figure", left: float, top: float, number: int, use: Use) -> None:
    sense = f" ({use.sense})" if use.sense else ""
    write(sheet, left + 0.2, top, str(number), size=9, ha="right")
    write(sheet, left + 0.3, top, shortened(use.text) + sense, size=9)
