"""The page of the laboratory is what its script makes of the results beside it, and these are of claims there are."""

import ast
import csv
import runpy
from contextlib import suppress
from pathlib import Path

import pytest

from regard.checkpoint import read_json
from regard.lab.claims import ZOO, experiment, names
from regard.lab.claims.experiment import judged
from regard.lab.claims.running import fingerprint
from regard.lab.claims.trial import Row
from tests.docs.pages import ROOT

LAB = ROOT / "docs" / "lab"
SCRIPT = runpy.run_path(str(LAB / "page.py"))
KEPT = read_json(LAB / "results.json")
STANDING = [(size, name) for size, found in KEPT.items() for name in found if not SCRIPT["stale"](found[name])]


def test_the_page_is_made_of_the_results_beside_it() -> None:
    assert SCRIPT["page"](KEPT) == (ROOT / "docs" / "lab.md").read_text()


def test_every_claim_is_on_the_page_once_with_figure_and_numbers() -> None:
    assert [name for name in KEPT["small"] if name != ZOO] == list(names())
    for name in (*names(), ZOO):
        found = SCRIPT["shown"](KEPT, name)
        assert found["id"] == name
        whose = f"{found['size']}/{name}"
        for file in (f"numbers/{whose}.csv", f"pictures/{whose}.svg", f"pictures/{whose}-dark.svg"):
            assert (LAB / file).is_file()


@pytest.mark.parametrize("size, name", STANDING)
def test_a_verdict_follows_from_the_numbers_beside_it(size: str, name: str) -> None:
    found, numbers = KEPT[size][name], rows(LAB / "numbers" / size / f"{name}.csv")
    if name != ZOO:  # whose rows may hold an empty text, which a table does not tell from none
        assert fingerprint(numbers, found["timed"]) == found["fingerprint"]
    verdict = judged(experiment(name), numbers)
    assert (verdict.word, verdict.held) == (found["verdict"], found["held"])


def rows(file: Path) -> list[Row]:
    """What was written, each number as it was."""
    with file.open(encoding="utf-8", newline="") as lines:
        return [{key: meant(text) for key, text in row.items() if text} for row in csv.DictReader(lines)]


def meant(text: str) -> object:
    with suppress(ValueError, SyntaxError):
        return ast.literal_eval(text)
    return text


def test_full_size_has_three_seeds() -> None:
    assert {len(found["seeds"]) for found in KEPT["full"].values()} == {3}
