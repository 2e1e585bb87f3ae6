"""What measurements share: kept results, several processes, tables."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import trials

from regard.errors import UserError
from tests.docs.pages import ROOT
from tests.helpers import refused


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


def test_a_mistake_is_one_line_and_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    def mistaken() -> None:
        raise UserError("take another")

    for main, told in ((mistaken, "error: take another\n"), ((tmp_path / "gone").read_text, "No such file")):
        with pytest.raises(SystemExit) as left:
            trials.ended(main)
        assert left.value.code == 2 and told in capsys.readouterr().err


def test_a_digest_is_of_what_files_hold(tmp_path: Path) -> None:
    one, other = tmp_path / "a", tmp_path / "b"
    one.write_text("ab")
    other.write_text("c")
    found = trials.digest([one, other])
    one.write_text("a")
    other.write_text("bc")
    assert found != trials.digest([one, other]) == trials.digest([str(one), str(other)])
    assert trials.recipe_in({"seed": 1, "corpus": found}) == {"seed": 1}


def test_damaged_results_are_told_and_nothing_is_lost(tmp_path: Path) -> None:
    """What is written beside takes the place of the old at once; what others damaged is not written over."""
    trials.kept([{"number": 1}], double, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]
    (tmp_path / "results.json").write_text('[{"plan": {"num')
    with refused("results.json is damaged (Unterminated string"):
        trials.kept([{"number": 2}], double, tmp_path)
    assert (tmp_path / "results.json").read_text() == '[{"plan": {"num'


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("bigbird --ways bigbrid", "invalid choice: 'bigbrid'"),
        ("bigbird", "error: BigBird-base wants a GPU"),
        ("order --variants lin", "invalid choice: 'lin'"),
        ("order --tables recall lists --variants alibi", "none of them is in recall, lists; recall has full, bigbird"),
        ("syntax . --positions rotary", "invalid choice: 'rotary'"),
        ("masked gone", "error: no such file: gone/train.txt"),
        ("documents gone --data scitldr", "error: no such file: gone/train.jsonl; the folder of SciTLDR"),
    ],
)
def test_scripts_stop_at_once_with_what_is_wrong(words: str, told: str, tmp_path: Path) -> None:
    name, *rest = words.split()
    env = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, ROOT / "benchmarks" / f"{name}.py", *rest]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path, timeout=120)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr and "Traceback" not in done.stderr
