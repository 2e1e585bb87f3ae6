"""The laboratory: verdicts follow from numbers by the rule alone, and every experiment is small."""

import csv
import inspect
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from regard import lectures
from regard.errors import UserError
from regard.lab.claims import chosen, experiment, experiments
from regard.lab.claims.experiment import HALF, NOT, TRUE, Found, Prediction, judged
from regard.lab.claims.panels import THEMES
from regard.lab.claims.report import markdown, write_report
from regard.lab.claims.running import fingerprint, lab, slug
from regard.lab.claims.trial import Trial
from tests.lab.letters import broken, run


@pytest.mark.parametrize(
    "outcomes, word, why",
    [
        ({0: (True, True), 1: (True, True)}, TRUE, ""),
        ({0: (True, False), 1: (True, True)}, HALF, " Failed: prediction 2 with 1 of 2 seeds."),
        ({0: (True, True), 1: (False, True)}, HALF, " Failed: prediction 1 with 1 of 2 seeds."),
        ({0: (False, True), 1: (False, True)}, NOT, " Failed: prediction 1 with 2 of 2 seeds."),
        (
            {0: (False, True), 1: (False, True), 2: (True, False)},
            NOT,
            " Failed: prediction 1 with 2 of 3 seeds, prediction 2 with 1 of 3 seeds.",
        ),
    ],
)
def test_the_verdict_follows_from_the_seeds_that_a_prediction_held_for(made, outcomes, word, why):
    rows = [{"arm": "a", "seed": seed, "first": a, "second": b} for seed, (a, b) in outcomes.items()]
    predictions = tuple(Prediction(name, lambda of, name=name: of(name, "a") > 0) for name in ("first", "second"))
    verdict = judged(replace(made, predictions=predictions, tells=lambda of: "so it is"), rows)
    assert verdict.word == word
    assert verdict.sentence == f"{word.capitalize()}: so it is.{why}"


def test_numbers_are_found_by_arm_and_place_and_a_missing_one_is_an_error():
    found = Found([{"arm": "a", "seed": seed, "length": n, "loss": n + seed} for seed in (0, 2) for n in (1, 5)])
    assert found("loss", "a") == 4
    assert found("loss", "a", length=5) == 6
    assert found.of(2)("loss", "a", length=5) == 7
    assert found.last("loss", "a", "length") == 6
    with pytest.raises(KeyError, match="no 'loss' of 'b'"):
        found("loss", "b")


def test_an_experiment_leaves_its_plan_numbers_figures_and_verdict(made, tmp_path):
    found, _ = run(made, tmp_path / "out")
    folder = tmp_path / "out" / "small" / "C0"
    assert found["verdict"] == TRUE
    assert found["sentence"] == "True here: 2.5 and 6.5."
    assert json.loads((folder / "plan.json").read_text())["predictions"] == ["the long name has more", "by 4 at least"]
    rows = list(csv.DictReader(io.StringIO((folder / "numbers.csv").read_text())))
    assert len(rows) == len(found["rows"]) == 20
    for ending in ("svg", "png"):
        pictures = {theme: (folder / name).read_bytes() for theme, name in zip(
            THEMES, (f"figure.{ending}", f"figure-dark.{ending}"), strict=True
        )}  # fmt: skip
        assert pictures["light"] != pictures["dark"]


def test_a_trial_that_fails_leaves_no_verdict_and_says_why(made, tmp_path):
    found, said = run(replace(made, measure=broken), tmp_path / "out")
    assert found is None
    assert any("FAILED: nothing works" in line for line in said)
    assert not (tmp_path / "out" / "small" / "C0" / "results.json").exists()


def test_numbers_that_cannot_be_judged_stop_no_other_experiment(made, tmp_path):
    hopeless = replace(made, id="C1", tells=lambda of: f"{of('nothing', 'short')}")
    place = lab(tmp_path / "out", size="small", seeds=1, jobs=1)
    assert place.run([replace(made, id="C1")], lambda one: None)
    for _ in range(2):
        (found,) = place.run([hopeless, made], lambda one: None)
        assert found["id"] == "C0"
        assert "KeyError" in place.failed["C1"]
    folder = tmp_path / "out" / "small" / "C1"
    assert "Traceback" in (folder / "unjudged.txt").read_text()
    assert not [*folder.glob("figure*"), *folder.glob("numbers*"), *folder.glob("results*")]
    assert place.run([replace(made, id="C1")], lambda one: None)
    assert not (folder / "unjudged.txt").exists()


@pytest.mark.parametrize("seeds", [1, 2, 3])
def test_arms_may_be_measured_together(seeds, alike, tmp_path):
    run(alike, tmp_path / "out", seeds=2)
    found, _ = run(alike, tmp_path / "out", seeds=seeds)
    every = range(max(2, seeds))
    assert found["seeds"] == list(every)
    assert [(row["arm"], row["seed"]) for row in found["rows"]] == [
        (name, seed) for name in ("short", "long one") for seed in every
    ]


def test_a_fingerprint_changes_with_every_number_but_times():
    rows = [{"arm": "a", "seed": 0, "loss": 0.1, "seconds": 3.0}]
    assert fingerprint(rows, ("seconds",)) == fingerprint([{**rows[0], "seconds": 4.0}], ("seconds",))
    assert fingerprint(rows, ("seconds",)) != fingerprint([{**rows[0], "loss": 0.1 + 1e-16}], ("seconds",))


def test_the_report_has_every_claim_with_its_figure_and_needs_nothing_else(made, tmp_path):
    found, _ = run(made, tmp_path / "out")
    failed = {"C9": "1 of 4 trials failed (C9 <deep>-0: nothing works)"}
    text, page = (path.read_text() for path in write_report([found], failed, tmp_path / "out" / "small"))
    assert text == markdown([found], failed)
    assert "1 claim: 1 true here" in text
    assert "\n\nC9 has no verdict: 1 of 4 trials failed (C9 <deep>-0: nothing works)\n\n" in text
    assert "<p>C9 has no verdict: 1 of 4 trials failed (C9 &lt;deep&gt;-0: nothing works)" in page
    assert '<img src="C0/figure.svg" alt="Letters">' in text
    assert "[C0](#c0-letters)" in text
    assert max(len(line) for line in text.splitlines() if not line.startswith("|")) <= 120
    assert page.count("data:image/svg+xml;base64,") == 2
    assert "&lt;higher&gt;" in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_zoo_is_counted_as_no_claim(made, tmp_path):
    found, _ = run(made, tmp_path / "out")
    assert markdown([found, {**found, "id": "bugs"}], {}).startswith("# The laboratory: 1 claim: 1 true here\n")


@pytest.mark.parametrize(
    ("word", "near"), [("C77", "C7"), ("c77", "C7"), ("bug", "bugs"), ("BUG", "bugs"), ("al", "all")]
)
def test_unknown_claims_are_named_with_their_nearest(word, near):
    with pytest.raises(UserError, match=f"no claim '{word}'; did you mean '{near}'"):
        experiment(word)


def test_claims_are_chosen_by_id_each_once():
    assert [each.id for each in chosen(["c7", "C1", "C7", "Bugs"])] == ["C7", "C1", "bugs"]
    assert [each.id for each in chosen(["C7", "all", "bugs"])][:2] == ["C7", "C1"]
    assert {each.id for each in chosen(["C7", "all", "bugs"])} == {*EVERY, "bugs"}
    with pytest.raises(UserError, match="no claim 'C0'"):
        chosen(["all", "C0"])


EVERY = experiments()


def test_every_claim_of_the_lectures_is_an_experiment():
    assert {entry.id for entry in lectures.entries() if entry.id.startswith("C")} <= EVERY.keys()


@pytest.mark.parametrize("name", EVERY)
def test_an_experiment_is_one_short_file_without_a_model_or_a_training_of_its_own(name):
    each = EVERY[name]
    text = Path(inspect.getfile(each.measure)).read_text()
    assert len(text.splitlines()) <= 125
    assert not [own for own in ("class ", ".backward(", "optim.") if own in text]
    assert each.id == name
    for words in (each.title, each.claim, each.method, each.refuted, each.otherwise):
        assert words
    assert each.predictions
    assert each.panels
    assert len(set(map(slug, each.arms))) == len(each.arms), "two arms would be kept in one file"


@pytest.mark.parametrize("name", [name for name, each in EVERY.items() if each.pair])
@pytest.mark.parametrize("size", ["small", "full"])
def test_the_arms_of_a_pair_differ_in_exactly_one_thing(name, size, tmp_path):
    each = EVERY[name]
    trees = []
    for arm in each.arms.values():
        whole = each.whole(arm, size)
        recipe = Trial(each.at(size), "cpu", tmp_path, {"only": whole}, (0,)).recipe()
        trees.append({**leaves(recipe.to_dict()), "mistake": whole.mistake})
    for tree in trees[1:]:
        differing = {key for key in {**trees[0], **tree} if trees[0].get(key) != tree.get(key)}
        assert len(differing) == 1, differing


def leaves(tree: dict, where: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in tree.items():
        found |= leaves(value, f"{where}{key}.") if isinstance(value, dict) else {f"{where}{key}": value}
    return found
