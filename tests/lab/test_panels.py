"""What panels draw: means with their spread, one seed's surface, and what the numbers are of."""

from dataclasses import replace

import pytest
from matplotlib.figure import Figure

from regard.lab.claims.figure import show
from regard.lab.claims.panels import FEW, LIGHT, Bars, Lines, Map, Named, Panel
from regard.lab.claims.trial import Row

ARMS = ["one", "other"]
LAND = Map(x="x", over="y", y="height", title="Land", across="east", label="north", unit="metres")


def drawn(panel: Panel, rows: list[Row]):
    sheet = Figure()
    show(panel, sheet.add_subplot(), rows, ARMS, LIGHT)
    return sheet.axes


def seeds(name: str, *values: float, **at: object) -> list[Row]:
    return [{"arm": arm, "seed": seed, name: value, **at} for arm in ARMS for seed, value in enumerate(values, 3)]


def test_a_map_is_the_first_seeds_surface_and_not_a_mean() -> None:
    """Two surfaces that go up where the other goes down are flat on average."""
    rows = [
        {"arm": "one", "seed": seed, "x": x, "y": y, "height": height}
        for seed, heights in ((5, (7.0, 1.0)), (3, (1.0, 7.0)))
        for x, height in enumerate(heights)
        for y in (0, 1, 2)
    ]
    axes, bar = drawn(LAND, rows)
    assert axes.collections[0].get_array().tolist() == [[1.0, 7.0]] * 3
    assert axes.get_title(loc="left") == "Land, seed 3"
    assert bar.get_ylabel() == "metres"


def test_where_a_surface_was_not_measured_a_map_has_no_colour() -> None:
    corners = [{"arm": "one", "seed": 0, "x": x, "y": y, "height": 2.0} for x, y in ((0, 0), (1, 1), (1, 0))]
    axes, _ = drawn(LAND, corners)
    assert axes.collections[0].get_array().mask.tolist() == [[False, False], [True, False]]


@pytest.mark.parametrize("panel, along", [(Named, "get_xlabel"), (Bars, "get_ylabel")])
def test_the_label_stands_along_the_values(panel: type[Panel], along: str) -> None:
    (axes,) = drawn(panel(y="score", title="Score", label="points"), seeds("score", 2.0, 4.0))
    assert getattr(axes, along)() == "points"
    assert sorted({axes.get_xlabel(), axes.get_ylabel()}) == ["", "points"]


def test_bars_beside_names_are_means_with_a_dot_for_each_seed_and_not_thicker_where_they_are_few() -> None:
    (axes,) = drawn(Named(y="score", title="Score", label="points"), seeds("score", 2.0, 4.0))
    assert [bar.get_width() for bar in axes.patches] == [3.0, 3.0]
    assert [line.get_xdata().tolist() for line in axes.lines] == [[2.0, 4.0], [2.0, 4.0]]
    assert [text.get_text() for text in axes.get_yticklabels()] == ARMS
    assert axes.get_ylim() == (FEW - 0.5, -0.5)


def test_a_panel_of_some_arms_shows_no_others() -> None:
    """So that scores of two units have an axis each."""
    (axes,) = drawn(Named(y="score", title="Score", label="points", arms=("other",)), seeds("score", 2.0, 4.0))
    assert [text.get_text() for text in axes.get_yticklabels()] == ["other"]


def test_lines_are_means_with_a_band_from_the_lowest_to_the_highest() -> None:
    rows = seeds("loss", 1.0, 4.0, step=1) + seeds("loss", 2.0, 3.0, step=2)
    (axes,) = drawn(Lines(x="step", y="loss", title="Loss", across="steps", label="nats"), rows)
    assert [line.get_ydata().tolist() for line in axes.lines] == [[2.5, 2.5]] * 2
    (band,) = axes.collections[0].get_paths()
    assert (band.vertices[:, 1].min(), band.vertices[:, 1].max()) == (1.0, 4.0)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("steps", "nats")


OVER = Lines(x="length", y="score", title="Score", label="times", across="tokens", log="xy")


def test_a_logarithmic_axis_has_its_ticks_where_something_was_measured() -> None:
    rows = [row for length in (50, 200, 3200) for row in seeds("score", 2.0, length=length)]
    (axes,) = drawn(OVER, rows)
    assert {text.get_text() for text in axes.get_xticklabels()} == {"50", "200", "3200"}
    assert not len(axes.xaxis.get_minorticklocs())


def test_ticks_that_would_stand_on_one_another_are_left_out() -> None:
    rows = [row for length in (1, 1000, 1001, 2_000_000) for row in seeds("score", 2.0, length=length)]
    (axes,) = drawn(OVER, rows)
    assert {text.get_text() for text in axes.get_xticklabels()} == {"1", "1001", "2M"}


@pytest.mark.parametrize("log, mean", [("xy", 10.0), ("x", 50.5)])
def test_on_a_logarithmic_axis_the_mean_is_that_of_logarithms(log: str, mean: float) -> None:
    (axes,) = drawn(replace(OVER, log=log), seeds("score", 1.0, 100.0, length=3))
    assert axes.lines[0].get_ydata().tolist() == pytest.approx([mean])


@pytest.mark.parametrize("highest, extended", [(1.0, "neither"), (9.0, "max")])
def test_what_lies_above_the_scale_of_a_map_is_told(highest: float, extended: str) -> None:
    rows = [{"arm": "one", "seed": 0, "x": x, "y": 0, "height": height} for x, height in enumerate((0.0, highest))]
    _, bar = drawn(replace(LAND, low=0, high=2), rows)
    assert bar._colorbar.extend == extended
