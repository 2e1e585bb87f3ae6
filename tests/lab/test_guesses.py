"""Runs that guess hidden words are ranked by loss, and paired where the same words were hidden from all."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.evaluate import cost
from regard.lab import member as runs_of_members
from regard.lab.compare import compare
from regard.lab.notes import learnt_nothing
from regard.lab.plan import Budget
from regard.lab.results import unpaired
from regard.lab.table import main_score, score_names
from tests.lab.members import member

FEW = {"seeds": 2, "budget": Budget("tokens", 400), "sweep": "none"}


@pytest.fixture(autouse=True, scope="module")
def quick():
    """A rate is measured in a moment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cost, "LONG_ENOUGH", 0.01)
        patch.setitem(cost.SIZES, "cpu", 64)
        yield


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("guesses")
    return compare([member(folder, "guesser"), member(folder, "near")], out=folder / "out", **FEW)


def kept(results: dict[str, Any]) -> tuple[list[dict], list[dict]]:
    one, other = results["examples"]["members"].values()
    return one, other


def test_with_the_same_seed_the_same_is_hidden_from_all(results: dict[str, Any]) -> None:
    one, other = kept(results)
    for first, second in zip(one, other, strict=True):
        assert first["asked"] == second["asked"]
        counts, others = (np.array(each["nats"])[:, 1] for each in (first, second))
        assert np.array_equal(counts, others) and counts.min() >= 1
        assert first["nats"] != second["nats"]
    assert one[0]["asked"] != one[1]["asked"], "another seed hides others"


def test_the_nats_of_the_texts_are_the_loss_of_the_evaluation(results: dict[str, Any]) -> None:
    for each, runs in zip(results["members"], kept(results), strict=True):
        for run, found in zip(each["runs"], runs, strict=True):
            nats, tokens = np.sum(found["nats"], axis=0)
            assert tokens == run["scores"]["tokens"]
            assert nats / tokens == pytest.approx(run["scores"]["loss"], rel=1e-5)


def test_the_lower_loss_is_the_best_and_the_other_has_its_distance(results: dict[str, Any]) -> None:
    best, other = sorted(results["members"], key=lambda each: each["figures"]["loss"]["mean"])
    assert results["paired"] and results["score"] == main_score(results) == "loss"
    assert best["best"] and not other["best"] and best["against_best"] is None
    distance = other["against_best"]
    by = other["figures"]["loss"]["mean"] - best["figures"]["loss"]["mean"]
    assert distance["score"] == "loss" and distance["worse_by"] == pytest.approx(by, rel=1e-4)
    assert score_names(results)[:2] == ["loss", "accuracy"], "what ranks stands first"
    notes = " ".join(results["notes"])
    assert "Ranked by loss" in notes and "the same for all members" in notes and "windows of them" in notes
    assert "No bootstrap" not in notes


def test_who_learnt_nothing_is_named(results: dict[str, Any]) -> None:
    told = learnt_nothing(results)
    for each in results["members"]:
        lost = [run["scores"]["loss"] >= run["scores"]["unigram_entropy"] for run in each["runs"]]
        lines = [line for line in told if line.startswith(f"{each['member']} guesses no better")]
        assert len(lines) == any(lost) and all(line in results["notes"] for line in lines)
    runs = [{"scores": {"loss": loss, "unigram_entropy": 2.0}} for loss in (1.9, 2.0)]
    (line,) = learnt_nothing({"members": [{"member": "mole", "runs": runs}, {"member": "owl", "runs": runs[:1]}]})
    assert line.startswith("mole guesses") and line.endswith("the unigram entropy with 1 of 2 seeds.")


def test_windows_of_another_length_are_not_paired_and_the_reason_is_true(tmp_path: Path) -> None:
    presets = [member(tmp_path, name) for name in ("guesser", "near")]
    Path(presets[1]).write_text(Path(presets[1]).read_text().replace("context = 23", "context = 11"))
    found = compare(presets, out=tmp_path / "out", **{**FEW, "seeds": 1})
    assert not found["paired"] and main_score(found) == "loss"
    (note,) = [note for note in found["notes"] if note.startswith("No bootstrap")]
    assert "not all asked the same" in note and "unigram entropy" in note
    assert not any("the same for all members" in note for note in found["notes"])
    assert not any("against_best" in each for each in found["members"])


def test_spans_that_are_cut_out_are_paired_too(tmp_path: Path) -> None:
    presets = [member(tmp_path, "restorer")]
    presets.append(str(Path(presets[0]).with_name("wider.toml")))
    Path(presets[1]).write_text(Path(presets[0]).read_text().replace("width = 16", "width = 22"))
    found = compare(presets, out=tmp_path / "out", **{**FEW, "seeds": 1})
    one, other = kept(found)
    assert found["paired"] and one[0]["asked"] == other[0]["asked"]
    for each, runs in zip(found["members"], (one, other), strict=True):
        nats, tokens = np.sum(runs[0]["nats"], axis=0)
        assert nats / tokens == pytest.approx(each["runs"][0]["scores"]["loss"], rel=1e-5)


def test_without_numbers_of_examples_hidden_words_are_ranked_by_loss_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a folder that an earlier version has begun."""
    monkeypatch.setattr(runs_of_members, "guessed", lambda run: {})
    presets = [member(tmp_path, name) for name in ("guesser", "near")]
    found = compare(presets, out=tmp_path / "out", **{**FEW, "seeds": 1})
    assert main_score(found) == "loss" and not found["paired"]
    assert any("kept nothing of single test examples" in note for note in found["notes"])


def run(seed: int, **examples: Any) -> dict[str, Any]:
    return {"seed": seed, "examples": examples}


@pytest.mark.parametrize(
    ("found", "sizes", "reason"),
    [
        ([], [], "no run was finished"),
        ([[run(0)], [run(0)]], [2], "kept nothing of single test examples"),
        ([[run(0)], [run(0)]], [2, 3], "not measured on the same test examples"),
        ([[run(0)], [run(0)]], [1, 1], "a single example"),
        ([[run(0)], [run(0)]], [2, 2], ""),
        ([[run(0)], [run(1)]], [2, 2], ""),
        ([[run(0, asked=["a", "b"])], [run(0, asked=["a", "b"])]], [2, 2], ""),
        ([[run(0, asked=["a", "b"])], [run(0, asked=["a", "c"])]], [2, 2], "not all asked the same"),
        ([[run(0, asked=["a", "b"])], [run(1, asked=["c", "d"])]], [2, 2], "not all asked the same"),
    ],
)
def test_why_members_are_not_paired(found: list[list[dict]], sizes: list[int], reason: str) -> None:
    numbers = {str(i): [np.ones((size, 2))] for i, size in enumerate(sizes)}
    why = unpaired(found, numbers)
    assert reason in why and bool(why) == bool(reason)
