"""Trials are kept, and judged again, while they are measured as it is done now; what changed is told from words."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from regard.lab.claims import experiments, reach
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Experiment, Prediction
from regard.lab.claims.running import lab
from tests.lab.letters import broken, run


def test_what_is_done_is_not_done_again_and_more_seeds_add_to_it(made, tmp_path):
    first, _ = run(made, tmp_path / "out")
    again, _ = run(made, tmp_path / "out")
    more, _ = run(made, tmp_path / "out", seeds=3)
    assert first["fingerprint"] == again["fingerprint"] != more["fingerprint"]
    done = (tmp_path / "log").read_text().splitlines()
    assert done == ["ab 0", "abcdef 0", "ab 1", "abcdef 1", "ab 2", "abcdef 2"]


def test_trials_of_another_plan_are_run_again(made, tmp_path):
    run(made, tmp_path / "out")
    found, said = run(replace(made, arms={"short": Arm("ab"), "long one": Arm("xy")}), tmp_path / "out")
    assert found["verdict"] == HALF
    assert "C0 is measured in another way" in said[0]


def test_what_was_measured_in_another_way_is_put_aside_not_lost(made, tmp_path):
    run(made, tmp_path / "out")
    for other in ("xy", "xyz"):
        run(replace(made, arms={"short": Arm("ab"), "long one": Arm(other)}), tmp_path / "out")
    aside = json.loads((tmp_path / "out" / "small" / "C0-before" / "results.json").read_text())
    assert aside["arms"]["long one"]["preset"] == "xy"
    assert {path.name for path in (tmp_path / "out" / "small").iterdir()} == {"C0", "C0-before"}


def test_who_goes_back_to_the_way_before_has_its_trials_again(made, tmp_path):
    first, _ = run(made, tmp_path / "out")
    run(replace(made, arms={"short": Arm("ab"), "long one": Arm("xy")}), tmp_path / "out")
    before = (tmp_path / "log").read_text()
    again, said = run(made, tmp_path / "out")
    assert again == first
    assert (tmp_path / "log").read_text() == before
    assert "C0 is measured in another way by now: trials of the way before that are there again" in said[0]
    aside = json.loads((tmp_path / "out" / "small" / "C0-before" / "plan.json").read_text())
    assert aside["arms"]["long one"]["preset"] == "xy"


@pytest.mark.parametrize("text", ["{", "null", "[1]"])
def test_a_damaged_plan_is_no_other_way_to_measure(text, made, tmp_path):
    run(made, tmp_path / "out")
    (tmp_path / "out" / "small" / "C0" / "plan.json").write_text(text)
    found, said = run(made, tmp_path / "out")
    assert found["verdict"] == TRUE
    assert "C0 has no plan that can be read: all trials are run again" in said[0]


def test_a_change_while_it_runs_is_not_what_was_measured(made, tmp_path, monkeypatch):
    place = lab(tmp_path / "out", size="small", seeds=1, jobs=1)
    right = made.code
    judge = type(place).publish

    def edited(*given):
        monkeypatch.setattr(Experiment, "code", "another")
        return judge(*given)

    monkeypatch.setattr(type(place), "publish", edited)
    (found,) = place.run([made], lambda one: None)
    assert found["code"] == right
    assert not made.stands(found)


def test_a_damaged_trial_is_done_again_and_a_damaged_verdict_is_none(made, tmp_path):
    first, _ = run(made, tmp_path / "out")
    folder = tmp_path / "out" / "small" / "C0"
    (folder / "trials" / "short-1.json").write_text('{"rows": [')
    (folder / "results.json").write_text("{")
    again, _ = run(made, tmp_path / "out")
    assert again["fingerprint"] == first["fingerprint"]
    assert (tmp_path / "log").read_text().splitlines()[4:] == ["ab 1"]


def test_times_of_two_devices_are_not_compared(made, tmp_path):
    timed = replace(made, timed=("height",))
    run(timed, tmp_path / "out")
    file = tmp_path / "out" / "small" / "C0" / "trials" / "short-1.json"
    trial = json.loads(file.read_text())
    file.write_text(json.dumps({**trial, "device": "abacus", "versions": {**trial["versions"], "torch": "0.4"}}))
    found, said = run(timed, tmp_path / "out")
    assert found is None
    assert any("and abacus are no comparison" in line for line in said)
    mixed, _ = run(replace(timed, timed=()), tmp_path / "out")
    assert mixed["device"].endswith(" and abacus") and mixed["versions"]["torch"].endswith(" and 0.4")


def test_a_changed_preset_or_mistake_is_another_measurement(made, tmp_path, monkeypatch):
    presets = tmp_path / "presets"
    presets.mkdir()
    monkeypatch.setattr(sys.modules[Experiment.__module__], "PRESETS", presets)
    without = made.code
    (presets / "ab.toml").write_text("train.steps = 1")
    with_one = made.code
    (presets / "ab.toml").write_text("train.steps = 1  # few")
    assert made.code == with_one
    (presets / "ab.toml").write_text("train.steps = 2")
    with_two = made.code
    (presets / "other.toml").write_text("")
    assert made.code == with_two
    mistaken = replace(made, arms={**made.arms, "wrong": Arm("ab", mistake="no mask")})
    (presets / "score.toml").write_text("train.steps = 3")  # a name that stands in what is measured
    assert len({without, with_one, with_two, made.code, mistaken.code}) == 5


def test_no_verdict_of_another_measurement_is_left(made, tmp_path):
    run(made, tmp_path / "out")
    found, _ = run(replace(made, measure=broken, arms={"short": Arm("ab")}), tmp_path / "out")
    assert found is None
    assert not (tmp_path / "out" / "small" / "C0" / "results.json").exists()


def test_other_words_and_predictions_judge_the_trials_that_are_done(made, tmp_path):
    run(made, tmp_path / "out")
    before = (tmp_path / "log").read_text()
    never = Prediction("by 5 at least", lambda of: False)
    found, said = run(replace(made, title="Names", predictions=(never,)), tmp_path / "out")
    assert (found["verdict"], found["title"]) == (NOT, "Names")
    assert said == ["C0: nothing is run again, all trials are there; another --out begins anew"]
    assert (tmp_path / "log").read_text() == before
    plan = json.loads((tmp_path / "out" / "small" / "C0" / "plan.json").read_text())
    assert plan["predictions"] == ["by 5 at least"]


def test_results_stand_while_they_would_be_measured_and_judged_so_again(made, tmp_path):
    found, _ = run(made, tmp_path / "out")
    assert replace(made, title="Names").stands(found)
    assert not replace(made, predictions=made.predictions[:1]).stands(found)
    stricter = Prediction(made.predictions[0].says, lambda of: False)
    assert not replace(made, predictions=(stricter, *made.predictions[1:])).stands(found)
    assert not replace(made, measure=broken).stands(found)
    assert not replace(made, arms={"short": Arm("ab")}).stands(found)


def test_the_plan_knows_how_is_measured_and_not_how_it_is_told(made, tmp_path):
    codes = []
    for measuring, words in (("return 1", "one"), ("return 1", "two"), ("return 2", "two")):
        file = tmp_path / "c00.py"
        file.write_text(f"def measure(trial):\n    {measuring}\n\n\nEXPERIMENT = {words!r}\n")
        space: dict = {}
        exec(compile(file.read_text(), str(file), "exec"), space)
        codes.append(replace(made, measure=space["measure"]).said("small")["code"])
    assert codes[0] == codes[1] != codes[2]


def test_the_plan_knows_the_files_that_an_experiment_takes_from(monkeypatch):
    before = {name: each.code for name, each in experiments().items()}
    right = reach.reached

    def changed(file: Path, *names: str) -> tuple[str, dict[str, set[str]]]:
        text, taken = right(file, *names)
        return text + "#" * (file.stem == "distances"), taken

    monkeypatch.setattr(reach, "reached", changed)
    assert {name for name, each in experiments().items() if each.code != before[name]} == {"C2", "C18"}
