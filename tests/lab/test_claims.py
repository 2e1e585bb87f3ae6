"""The laboratory: verdicts follow from numbers by the rule alone, trials are kept, and every experiment is small."""

import csv
import inspect
import io
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from regard import lectures
from regard.errors import UserError
from regard.lab.claims import chosen, experiment, experiments, reach
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Experiment, Found, Prediction, Size, judged
from regard.lab.claims.panels import THEMES, Bars, Lines, Map
from regard.lab.claims.report import markdown, write_report
from regard.lab.claims.running import fingerprint, lab, slug
from regard.lab.claims.trial import Row, Trial


def counted(trial: Trial) -> list[Row]:
    """As many as the arm's preset has letters, and one more in each step."""
    with Path(trial.size["log"]).open("a") as log:
        log.write(f"{trial.arm.preset} {trial.seed}\n")
    rows = [{"step": step, "score": len(trial.arm.preset) + step + trial.seed} for step in range(3)]
    return [*rows, {"x": 0, "y": 0, "height": 1.0}, {"x": 1, "y": 0, "height": 2.0}]


def broken(trial: Trial) -> list[Row]:
    raise UserError("nothing works")


def everybody(trial: Trial) -> list[Row]:
    return [{"arm": name, "seed": seed, "score": 1} for name in trial.arms for seed in trial.seeds]


@pytest.fixture
def made(tmp_path) -> Experiment:
    size = Size(1, log=str(tmp_path / "log"))
    return Experiment(
        id="C0",
        title="Letters",
        claim="Long names score <higher>.",
        method="Letters are counted.",
        refuted="short names score higher",
        arms={"short": Arm("ab"), "long one": Arm("abcdef")},
        small=size,
        full=size,
        measure=counted,
        predictions=(
            Prediction(
                "the long name has more", lambda of: of.last("score", "long one", "step") > of("score", "short")
            ),
            Prediction("by 4 at least", lambda of: of("score", "long one", step=0) - of("score", "short", step=0) >= 4),
        ),
        tells=lambda of: f"{of('score', 'short', step=0):g} and {of('score', 'long one', step=0):g}",
        otherwise="other names",
        panels=(
            Lines(x="step", y="score", title="Score", across="steps", label="points"),
            Bars(y="score", by="step", title="Score", label="points"),
            Map(x="x", over="y", y="height", title="Land", across="east", label="north", arms=("short",)),
        ),
    )


@pytest.fixture
def alike(made) -> Experiment:
    """One whose arms are measured together."""
    predictions = (Prediction("all alike", lambda of: of("score", "short") == of("score", "long one")),)
    panels = (Bars(y="score", title="Score", label="points"),)
    how = {"measure": everybody, "together": True, "tells": lambda of: "alike"}
    return replace(made, **how, predictions=predictions, panels=panels)


def run(made: Experiment, out: Path, **how):
    said: list[str] = []
    found = lab(out, **{"size": "small", "seeds": 2, "jobs": 1, "say": said.append, **how}).run(
        [made], lambda one: None
    )
    return (found[0] if found else None), said


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
    assert not list((tmp_path / "out" / "small").glob("C0-before-before"))


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
    (presets / "other.toml").write_text("")
    mistaken = replace(made, arms={**made.arms, "wrong": Arm("ab", mistake="no mask")})
    assert len({without, with_one, made.code, mistaken.code}) == 4


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
    assert said == ["C0: nothing is run again, all trials are there"]
    assert (tmp_path / "log").read_text() == before
    plan = json.loads((tmp_path / "out" / "small" / "C0" / "plan.json").read_text())
    assert plan["predictions"] == ["by 5 at least"]


def test_results_stand_while_they_would_be_measured_and_judged_so_again(made, tmp_path):
    found, _ = run(made, tmp_path / "out")
    assert replace(made, title="Names").stands(found)
    assert not replace(made, predictions=made.predictions[:1]).stands(found)
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
    before = {name: each.code for name, each in EVERY.items()}
    right = reach.reached

    def changed(file: Path, *names: str) -> tuple[str, dict[str, set[str]]]:
        text, taken = right(file, *names)
        return text + "#" * (file.stem == "distances"), taken

    monkeypatch.setattr(reach, "reached", changed)
    assert {name for name, each in EVERY.items() if each.code != before[name]} == {"C2", "C18"}


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
