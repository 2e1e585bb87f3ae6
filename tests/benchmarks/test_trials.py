"""What measurements share: kept results, several processes, tables."""

import json
from pathlib import Path

import trials


def double(plan: dict) -> dict:
    return {"value": 2 * plan["number"]}


def test_what_was_measured_is_kept_and_only_what_is_asked_for_is_given_back(tmp_path: Path) -> None:
    plans = [{"number": n, "pair": (n, n)} for n in range(3)]
    asked: list[int] = []

    def measure(plan: dict) -> dict:
        asked.append(plan["number"])
        return double(plan)

    first = trials.kept(plans[:2], measure, tmp_path)
    again = trials.kept(plans[1:], measure, tmp_path)
    assert asked == [0, 1, 2]
    assert [each["value"] for each in first] == [0, 2] and [each["value"] for each in again] == [2, 4]
    assert len(json.loads((tmp_path / "results.json").read_text())) == 3


def test_several_processes_give_the_same(tmp_path: Path) -> None:
    plans = [{"number": n} for n in range(3)]
    found = trials.kept(plans, double, tmp_path, workers=2)
    assert sorted(each["value"] for each in found) == [0, 2, 4]
    assert all(each["value"] == 2 * each["plan"]["number"] for each in found)


def test_seeds_make_a_spread_and_rows_a_table() -> None:
    assert trials.spread([1.0, 3.0], 2, times=10) == "20.00 ± 14.14"
    assert trials.spread([1.0], 1) == "1.0"
    assert trials.spread([None, None], 1) == "cannot"
    assert trials.table(["a", "b"], ["1", "2"]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert trials.limits(None, 3.5) == {"max_seconds": 3.5}
