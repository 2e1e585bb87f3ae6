"""A sheet to draw on, measured in inches from the top left corner, and the colours of a weight.

Nothing is left to a layout engine, so that pictures of 2 heads and of 200 come out alike. matplotlib is imported when
used.
"""

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARGIN = 0.3
DOTS = 150  # an inch
INK, FAINT, LINE, UNSEEN, MARK, BLUE = "#1b1f24", "#5c6570", "#c8ccd1", "#e9ebee", "#c2410c", "#2171b5"
COLOURS = ("#2171b5", "#c2410c", "#15803d", "#7e22ce", "#a16207", "#0e7490", "#be185d", "#4b5563")
MARKS = "osD^vPX*"
# Scripts that DejaVu Sans lacks; a family that is not installed is passed over.
FAMILIES = ("Noto Sans CJK SC", "Noto Sans Devanagari", "Noto Sans Thai", "WenQuanYi Micro Hei", "Arial Unicode MS")
Paint = Callable[[], tuple[Any, Any]]  # colours, and how values become colours
MANY = 2500  # squares; so many are drawn as one image, or an SVG would be slow to open


@contextmanager
def drawing() -> Iterator[type["Figure"]]:
    """Settings for one figure: no formulas between dollar signs, letters kept as letters, a font with many scripts."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.font_manager import get_font_names

    there = set(get_font_names())
    settings: dict[Any, Any] = {
        "font.family": ["DejaVu Sans", *(name for name in FAMILIES if name in there)],
        "text.parse_math": False,
        "svg.fonttype": "none",
        "svg.hashsalt": "regard",
    }
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # A script that no installed font has is drawn as boxes in a PNG; in an SVG the viewer's fonts write it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield Figure


def saved(sheet: "Figure", form: str) -> bytes:
    """The file's bytes. An SVG loses its document type: nothing in it points to the network."""
    out = io.BytesIO()
    if form == "png":
        sheet.savefig(out, format="png", dpi=DOTS)
        return out.getvalue()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    sheet.savefig(out, format="svg", metadata=nothing, dpi=DOTS)
    return re.sub(rb"<!DOCTYPE.*?>\s*", b"", out.getvalue(), count=1, flags=re.DOTALL)


def axes_at(sheet: "Figure", left: float, top: float, width: float, height: float) -> "Axes":
    across, down = sheet.get_size_inches()
    return sheet.add_axes((left / across, 1 - (top + height) / down, width / across, height / down))


def write(sheet: "Figure", left: float, top: float, words: str, **style: Any) -> None:
    across, down = sheet.get_size_inches()
    sheet.text(left / across, 1 - top / down, words, va="center", **{"color": INK, **style})


def colouring() -> tuple[Any, Any]:
    """White to dark blue, read alike by colour-blind eyes; the power makes small weights visible."""
    from matplotlib import colormaps
    from matplotlib.colors import PowerNorm

    return colormaps["Blues"].with_extremes(bad=UNSEEN), PowerNorm(0.6, vmin=0, vmax=1)


def opening() -> tuple[Any, Any]:
    """Orange is closed, white half open, blue open, read alike by colour-blind eyes."""
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    return LinearSegmentedColormap.from_list("opening", ["#b35806", "#f7f7f7", "#08519c"]), Normalize(0, 1)


def heat(axes: "Axes", weights: np.ndarray, paint: Paint = colouring) -> None:
    """Values from 0 to 1. Of weights exactly 0 is grey: there a token may not look, or nothing comes from it."""
    colours, norm = paint()
    seen = np.ma.masked_equal(weights, 0.0) if paint is colouring else weights
    if weights.size > MANY:
        rows, columns = weights.shape
        axes.imshow(seen, cmap=colours, norm=norm, aspect="auto", extent=(0, columns, rows, 0))
    else:
        axes.pcolormesh(seen, cmap=colours, norm=norm, edgecolors="white", linewidth=0.4)
        axes.invert_yaxis()
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def scale(sheet: "Figure", left: float, top: float, means: str, paint: Paint = colouring) -> None:
    """What the colours mean."""
    from matplotlib.cm import ScalarMappable

    colours, norm = paint()
    axes = axes_at(sheet, left, top, 2.1, 0.13)
    drawn = sheet.colorbar(ScalarMappable(norm, colours), cax=axes, orientation="horizontal")
    marks = [0, 0.1, 0.25, 0.5, 1] if paint is colouring else [0, 0.25, 0.5, 0.75, 1]
    drawn.set_ticks(marks, labels=[f"{mark:g}".removeprefix("0") or "0" for mark in marks])
    drawn.ax.tick_params(length=2, labelsize=7.5, colors=FAINT)
    drawn.outline.set_visible(False)
    drawn.set_label(means, fontsize=7.5, color=FAINT, labelpad=2)


def breadth(labels: list[str]) -> int:
    """The room of the longest label in letters; those of East Asia take two."""
    return max(sum(2 if east_asian_width(letter) in "WF" else 1 for letter in label) for label in labels)


def decimal(weight: float) -> str:
    """A weight in as little room as possible: .25, or 1."""
    return "1" if weight >= 0.995 else f"{weight:.2f}"[1:]
