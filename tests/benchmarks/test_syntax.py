"""The script that measures trees: the same for all positions but the position, and nothing is measured twice."""

import json
import sys
from pathlib import Path

import pytest
import syntax as script

from tests.data.trees import conllu, sentences
from tests.helpers import refused

TINY = {
    "text": {"kind": "word"},
    "system": {"kind": "bert", "width": 16, "heads": 2, "depth": 1, "hidden": 16, "context": 16, "segments": 1},
    "objective": {"kind": "masked", "trees": True},
    "train": {"steps": 3, "batch_tokens": 200, "warmup": 1, "threads": 1, "device": "cpu"},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, count in (("train", 40), ("dev", 9), ("test", 11)):
        conllu(tmp_path, sentences(count, seed=count), f"xx_yy-ud-{name}.conllu")
    return tmp_path


def result(position: str, seed: int, loss: float, **asked: int) -> dict:
    about = {
        "accuracy": 0.25,
        "unigram_entropy": 6.0,
        "parameters": 1234,
        "tokens": 7,
        "steps": 5,
        "train_seconds": 2.0,
    }
    return {"plan": script.plan(position, seed, asked), "loss": loss, **about}


def test_the_files_of_a_treebank_are_found(folder: Path) -> None:
    found = script.files(folder)
    assert [Path(found[split]).name for split in ("train", "valid", "test")] == [
        f"xx_yy-ud-{name}.conllu" for name in ("train", "dev", "test")
    ]
    (folder / "xx_yy-ud-dev.conllu").unlink()
    with refused("has 0 files *-ud-dev.conllu"):
        script.files(folder)


def test_only_the_position_differs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "SETTINGS", TINY)
    data = script.files(folder)
    plans = (script.plan(position, 3, {"steps": 2}) for position in ("sinusoidal", "syntax"))
    line, tree = (script.measure(plan, data) for plan in plans)
    assert line["tokens"] == tree["tokens"] > 5 and line["steps"] == tree["steps"] == 2
    assert line["parameters"] < tree["parameters"] and line["loss"] != tree["loss"]
    assert line["unigram_entropy"] == tree["unigram_entropy"], "the same words are hidden"


def test_the_table_has_means_spreads_and_each_seed_s_difference() -> None:
    results = [result("sinusoidal", 0, 5.0), result("syntax", 0, 4.0), result("sinusoidal", 1, 6.0)]
    table = script.rows([*results, result("syntax", 1, 4.5)])
    assert [row[:4] for row in table[1:]] == [
        ["sinusoidal", "5.500 ± 0.707", "25.0 ± 0.0", "+0.000 +0.000"],
        ["syntax", "4.250 ± 0.354", "25.0 ± 0.0", "+1.000 +1.500"],
    ]
    assert script.rows(results[:1])[1][1] == "5.000"


def test_what_was_measured_is_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / "out"
    out.mkdir()
    corpus = script.digest(script.files(folder).values())
    made = [result(position, 4, 5.0, steps=7) for position in ("shaw", "syntax")]
    for each in made:
        each["plan"]["corpus"] = corpus
    (out / "results.json").write_text(json.dumps(made))
    words = ["--positions", "syntax", "shaw", "--seeds", "4", "--steps", "7", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["syntax.py", str(folder), *words])
    script.main()
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == ["position", "---", "shaw", "syntax"]
