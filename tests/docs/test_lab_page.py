"""The page of the laboratory is what its script makes of the results beside it, and these are of claims there are."""

import runpy

from regard.checkpoint import read_json
from regard.lab.claims import ZOO, names
from tests.docs.pages import ROOT

SCRIPT = runpy.run_path(str(ROOT / "docs" / "lab" / "page.py"))
KEPT = read_json(ROOT / "docs" / "lab" / "results.json")


def test_the_page_is_made_of_the_results_beside_it() -> None:
    assert SCRIPT["page"](KEPT) == (ROOT / "docs" / "lab.md").read_text()


def test_every_claim_is_on_the_page_once_with_figure_and_numbers() -> None:
    assert [name for name in KEPT["small"] if name != ZOO] == list(names())
    for name, found in {**KEPT["small"], **KEPT["full"]}.items():
        assert found["id"] == name
        for file in (f"numbers/{name}.csv", f"pictures/{name}.svg", f"pictures/{name}-dark.svg"):
            assert (ROOT / "docs" / "lab" / file).is_file()


def test_full_size_has_three_seeds() -> None:
    assert {len(found["seeds"]) for found in KEPT["full"].values()} == {3}
