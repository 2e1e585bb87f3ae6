"""The script that measures the document table: what differs, what is read, and that nothing is measured twice."""

import argparse
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import document_data as files
import document_plans as plans
import documents as script
import pytest

from regard.recipe import Recipe
from regard.systems import built, parameters
from regard.text import Text, Tokenizer
from regard.train.run import check

GIVEN = argparse.Namespace(scale="full", steps=None, seconds=None, device="cpu", compile=False)
EVERY = [(data, name) for data in script.DATA for name in script.ROWS]
ABSTRACT = {"source": ["We read  papers.", "They are long.\n"], "target": ["we read .", "papers are long ."]}


def made(data: str, name: str, scale: str = "full", **more) -> dict:
    return script.plan(data, name, 7, argparse.Namespace(**{**vars(GIVEN), "scale": scale, **more}))


def size(data: str, name: str) -> int:
    return parameters(built(Recipe.parse(made(data, name)["stages"][0], where="documents.py").system, 700))


def test_inputs_are_those_of_the_lectures_table() -> None:
    read = [made("articles", name)["stages"][0]["system"]["context"] for name in script.USUAL]
    assert read == [500, 500, 4000, 11_000, 7500]
    for name, count in (("dmca-moe", 128), ("dmca-moe-128", 128), ("dmca-moe-256", 256)):
        assert made("articles", name)["stages"][0]["system"]["experts"] == count
    assert {made("scitldr", name)["stages"][0]["system"]["context"] for name in script.USUAL} == {1000}


@pytest.mark.parametrize(("data", "name"), EVERY)
@pytest.mark.parametrize("scale", script.SCALES)
def test_a_training_can_begin_and_is_the_same_but_for_the_system(data: str, name: str, scale: str) -> None:
    mine, other = made(data, name, scale), made(data, "dmca", scale)
    for stage, beside in zip(mine["stages"], other["stages"], strict=True):
        recipe = Recipe.parse(stage, where="documents.py")
        assert (recipe.seed, recipe.data.too_long) == (7, "truncate")
        if not stage["system"].get("experts") or scale == "tiny":  # which are many weights
            check(recipe)
        alone = {"system": None, "objective": None}
        assert {**stage, **alone} == {**beside, **alone}


@pytest.mark.parametrize("data", script.DATA)
def test_rows_are_about_equal_in_size(data: str) -> None:
    sizes = [size(data, name) for name in script.USUAL[:4]]
    assert max(sizes) < 1.15 * min(sizes)


def test_documents_of_the_test_fit_the_longest_input_and_pass_all_others() -> None:
    """With a start, an end and room for the longest summary."""
    chosen = script.SCALES["full"]
    short = [text for row in files.documents("train", plans.Documents(3000, 30, 150)) for text in row.values()]
    tokenizer = Tokenizer.train(short, Text(kind="wordpiece"))
    rows = list(files.documents("test", replace(chosen.test, count=5)))
    lengths = [len(tokenizer.encode(row["source"])) for row in rows]
    assert min(lengths) > 7500 and 10_700 < max(lengths) <= 11_000 - 1 - plans.WRITTEN


def test_documents_are_those_of_the_corpus_and_longer_ones_are_rarer() -> None:
    asked = plans.Documents(300, 30, 960)
    rows = list(files.documents("train", asked))
    assert rows == list(files.documents("train", asked))
    lengths = [len(row["source"].split()) for row in rows]
    assert max(lengths) <= 960 and sum(length < 60 for length in lengths) > 100
    assert all(re.fullmatch(r"(\w+ [^.]+\. ?){2,4}", row["target"]) for row in rows)


def test_an_abstract_is_one_text_and_all_its_summaries_count_in_the_test(tmp_path: Path) -> None:
    assert files.pair(ABSTRACT, "train") == {
        "source": "We read papers. They are long.",
        "target": "we read .",
        "targets": [],
    }
    row = files.pair(ABSTRACT, "test")
    assert files.references(row) == ABSTRACT["target"]
    assert files.references(files.pair(ABSTRACT, "train")) == ["we read ."]
    (tmp_path / "scitldr-test.jsonl").write_text("".join(json.dumps({**row, "target": t}) + "\n" for t in ("x", "y")))
    found = files.baselines("scitldr", tmp_path / "scitldr-test.jsonl")
    assert found == {"the summary of another document": 0, "the first sentence": pytest.approx(80.0)}


def test_seconds_are_shared_by_the_stages() -> None:
    stages = made("articles", "dmca", seconds=100.0)["stages"]
    assert [stage["train"]["max_seconds"] for stage in stages] == pytest.approx([30, 25, 45])
    assert [stage["train"]["decay"] for stage in stages] == [0.2, 0.2, 0.4]


def test_the_table_tells_means_and_what_needs_no_reading() -> None:
    def result(name: str, seed: int, perplexity: float, rouge: float) -> dict:
        plan = script.plan("articles", name, seed, GIVEN)
        of = {"documents": 200, "device": "a GPU", "parameters": 1234, "steps": [3, 4], "tokens": 5000}
        return {"plan": plan, "perplexity": perplexity, "rouge_l": rouge, "train_seconds": 2.0, **of}

    results = [result("dmca", 0, 1.5, 60.0), result("dmca", 1, 1.25, 70.0), result("transformer-ed", 0, 2.0, 40.0)]
    lines = script.markdown(results, {"articles": {"another": 30.25}}).splitlines()
    assert lines[0] == "articles: 200 documents, on a GPU"
    assert lines[4] == "| `transformer-ed` | 500 | 1,234 | 2.000 | 40.0 | 3 + 4 | 5,000 | 2 |"
    assert lines[5] == "| `dmca` | 11,000 | 1,234 | 1.375 ± 0.177 | 65.0 ± 7.1 | 3 + 4 | 5,000 | 2 |"
    assert lines[6] == "| another |  |  |  | 30.2 |  |  |  |"


def test_it_is_a_command_and_measures_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    tiny = script.SCALES["tiny"]
    monkeypatch.setitem(script.SCALES, "tiny", replace(tiny, stages=tuple(replace(s, steps=1) for s in tiny.stages)))
    for name in ("train", "dev", "test"):
        (tmp_path / f"{name}.jsonl").write_text(f"{json.dumps(ABSTRACT)}\n" * 9)
    monkeypatch.setattr(plans, "vocabulary", lambda scale: 0)
    words = ["--data", "articles", "scitldr", "--scale", "tiny", "--seeds", "3", "--device", "cpu"]
    monkeypatch.setattr(sys, "argv", ["documents.py", str(tmp_path), *words, "--out", str(tmp_path / "out")])
    script.main()
    told = capsys.readouterr().out
    assert (tmp_path / "out" / "documents.md").read_text() + "\n" == told
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert [each["plan"]["row"] for each in results] == script.USUAL * 2
    assert all(each["perplexity"] > 1 and each["documents"] == 3 for each in results)
    assert [each["steps"] for each in results] == [[1, 1]] * 5 + [[2]] * 5
    long = {each["plan"]["row"]: each.get("shortened") for each in results[:5]}
    assert long["transformer-d"] == 3 and long["dmca"] == 0, "the longest input holds all of a document"

    monkeypatch.setattr(script, "measure", lambda plan, folder: pytest.fail("measured again"))
    script.main()
    assert capsys.readouterr().out == told
    (tmp_path / "test.jsonl").write_text(f"{json.dumps({**ABSTRACT, 'source': ['Another one.']})}\n" * 9)
    with pytest.raises(pytest.fail.Exception, match="measured again"):
        script.main()


def test_a_system_that_reads_any_length_is_given_what_it_was_trained_to_read(tmp_path: Path) -> None:
    class Model:
        limit, context = None, 4

    run = argparse.Namespace(model=Model(), tokenizer=Tokenizer.train(["one two three four"], Text(kind="word")))
    assert script.as_read(run, "one two  three four one") == "one two  three"
    run.model.limit = 4
    assert script.as_read(run, "one two three four one") == "one two three four one"


def test_scitldr_needs_its_folder(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(sys, "argv", ["documents.py", "--data", "scitldr"])
    with pytest.raises(SystemExit):
        script.main()
    assert "--data scitldr needs the folder of SciTLDR" in capsys.readouterr().err
