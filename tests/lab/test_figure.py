"""The figure: panels in even storeys, and words on several seeds that fit what is drawn."""

import pytest

from regard.explain.paper import MARGIN
from regard.lab.claims.figure import LEAST, LETTERS, arranged, lettered, several
from regard.lab.claims.panels import Bars, Lines, Map, Named

LINES = Lines(x="step", y="loss", title="Loss", across="steps", label="nats")
BARS, NAMED = (kind(y="score", title="Score", label="points") for kind in (Bars, Named))
LAND = Map(x="x", over="y", y="height", title="Land", across="east", label="north")


@pytest.mark.parametrize(
    "panels, counts",
    [
        ((LINES,), [1]),
        ((LINES, LINES, LINES), [3]),
        ((LINES, LINES, LAND, LAND), [2, 2]),
        ((LINES,) * 7 + (NAMED,), [3, 3, 2]),
        ((NAMED,) * 4, [4]),
    ],
)
def test_panels_stand_in_as_few_and_as_even_storeys_as_a_page_allows(panels, counts) -> None:
    storeys = arranged(panels)
    assert [len(storey) for storey in storeys] == counts
    assert [panel for storey in storeys for panel in storey] == list(panels)


def test_the_foot_speaks_of_what_is_drawn() -> None:
    assert several((LINES, LINES)) == LINES.several
    assert several((BARS, NAMED)) == "bars are their mean, a dot is one of them"
    assert several((LINES, LAND, LINES)) == f"{LINES.several}; a map shows the first"


@pytest.mark.parametrize("panels", [(LINES, BARS), (LINES, LAND), (LINES, BARS, LAND)])
def test_the_foot_fits_the_narrowest_sheet(panels) -> None:
    foot = lettered(f"3 seeds: {several(panels)}.", LEAST)
    assert " ".join(foot) == f"3 seeds: {several(panels)}."
    assert max(map(len, foot)) <= (LEAST - 2 * MARGIN) * LETTERS
