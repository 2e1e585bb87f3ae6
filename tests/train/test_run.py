"""A run from recipe to folder: what it holds, and what it never overwrites."""

import json
import shutil
from pathlib import Path

import pytest

from regard.checkpoint import load
from regard.errors import WorldError
from regard.recipe import Recipe
from regard.train import train
from tests.helpers import lines_file, recipe, refused
from tests.train.runs import language_model, log, translator, weights


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_run_is_one_folder(tmp_path: Path) -> None:
    folder = train(translator(tmp_path), tmp_path / "deep" / "run", quiet=True)
    names = {name for name in contents(folder) if not name.startswith("tokens")}
    assert names == {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "state/trainer.safetensors",
        "log.jsonl",
        "report.json",
    }
    report = json.loads((folder / "report.json").read_text())
    assert set(report) == {"data", "seed", "versions", "forecast", "measured"}
    assert report["measured"]["tokens"] > 0
    assert load(folder).recipe == translator(tmp_path)


def test_a_run_is_not_overwritten_unless_forced(tmp_path: Path) -> None:
    folder = train(language_model(tmp_path), tmp_path / "run", quiet=True)
    before = contents(folder)
    with refused(f"{folder} holds a run already; --force overwrites it, 'regard resume {folder}' goes on"):
        train(language_model(tmp_path), folder, quiet=True)
    assert contents(folder) == before
    train(language_model(tmp_path, steps=3), folder, force=True, quiet=True)
    assert [step for step, _ in log(folder)] == [1, 2, 3]


FOREIGN = {
    "some files": {"thesis.tex": "years of work"},
    "a model of somebody else": {"config.json": '{"model_type": "bert"}', "model.safetensors": "weights"},
    "a configuration that is no table": {"config.json": "[]"},
    "a configuration that is no JSON": {"config.json": "{"},
}


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("kind", FOREIGN)
def test_a_folder_that_is_no_run_is_never_touched(tmp_path: Path, kind: str, force: bool) -> None:
    folder = tmp_path / "precious"
    folder.mkdir()
    for name, text in FOREIGN[kind].items():
        (folder / name).write_text(text)
    before = contents(folder)
    with refused(f"{folder} exists and is no run; give another --out"):
        train(language_model(tmp_path), folder, force=force, quiet=True)
    assert contents(folder) == before


@pytest.mark.parametrize("force", [False, True])
def test_a_file_in_the_way_is_never_touched(tmp_path: Path, force: bool) -> None:
    (tmp_path / "run").write_text("a file")
    with refused("exists and is no run"):
        train(language_model(tmp_path), tmp_path / "run", force=force, quiet=True)
    assert (tmp_path / "run").read_text() == "a file"


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    train(language_model(tmp_path), tmp_path / "run", quiet=True)
    assert weights(tmp_path / "run")


def test_a_mistake_is_found_before_a_forced_run_is_removed(tmp_path: Path) -> None:
    folder = train(language_model(tmp_path), tmp_path / "run", quiet=True)
    before = contents(folder)
    data = {"train": str(tmp_path / "text.txt")}
    wrong = {
        "no such file": recipe("gpt", data={"train": str(tmp_path / "none.txt")}),
        "4 heads cannot share 3": recipe("gpt", data=data, system={"groups": 3, "heads": 4}),
        "no such device": recipe("gpt", data=data, train={"device": "cuda:99"}),
        "reads no source": recipe("gpt", data=data, objective={"kind": "translation"}),
    }
    for message, made in wrong.items():
        with refused(message):
            train(made, folder, force=True, quiet=True)
        assert contents(folder) == before


def test_a_system_and_an_objective_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    translator(tmp_path)
    pairs = {"train": str(tmp_path / "pairs.tsv")}
    with refused("system 'gpt' reads no source and objective 'translation' gives one"):
        train(recipe("gpt", data=pairs, objective={"kind": "translation"}), tmp_path / "run", quiet=True)
    with refused("system 'transformer' reads a source and objective 'next-token' gives none"):
        train(recipe("transformer", data=pairs, objective={"kind": "next-token"}), tmp_path / "run", quiet=True)
    with refused("let it write the answer, with objective.kind = 'translation'"):
        train(recipe("transformer", data=pairs, objective={"kind": "classification"}), tmp_path / "run", quiet=True)
    with refused("system 'rnn-encoder' writes no text and objective 'next-token' asks for it; change one of them"):
        train(recipe("rnn-encoder", data=pairs, objective={"kind": "next-token"}), tmp_path / "run", quiet=True)


def test_a_start_that_fails_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    """The mistake is mended and the same command given again."""
    made = translator(tmp_path)
    tree = made.to_dict()
    wrong = Recipe.parse(
        {**tree, "data": {**tree["data"], "too_long": "stop"}, "system": {**tree["system"], "context": 7}}, where="test"
    )
    with refused("tokens and the context holds 6 and an end"):
        train(wrong, tmp_path / "run", quiet=True)
    assert not (tmp_path / "run").exists()
    train(made, tmp_path / "run", quiet=True)


def test_a_split_without_an_example_is_named(tmp_path: Path) -> None:
    lines = ["abc abc"] * 40
    text = {"train": lines_file(tmp_path / "a.txt", lines), "document": "line"}
    with refused("valid: there is no text in it"):
        empty = lines_file(tmp_path / "v.txt", ["", ""])
        train(recipe("gpt", data={**text, "valid": empty}), tmp_path / "one", quiet=True)
    with refused("valid: no example is left after dropping empty and overlong ones"):
        pairs = {
            "train": lines_file(tmp_path / "a.tsv", ["ab\tba"] * 40),
            "valid": lines_file(tmp_path / "v.tsv", ["\ta"]),
        }
        train(recipe("transformer", data=pairs), tmp_path / "two", quiet=True)


def test_where_nothing_can_be_written_the_world_has_failed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    with refused(f"cannot write {tmp_path / 'file' / 'run'}", WorldError):
        train(language_model(tmp_path), tmp_path / "file" / "run", quiet=True)


def test_what_happens_is_said_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train(translator(tmp_path), tmp_path / "run")
    out, err = capsys.readouterr()
    assert out == ""
    for words in (
        "reading",
        "held out for valid",
        "in the vocabulary",
        "parameters",
        "validation loss",
        "trained 6 steps",
    ):
        assert words in err
    train(translator(tmp_path), tmp_path / "run", force=True, quiet=True)
    assert capsys.readouterr() == ("", "")


def test_a_run_can_be_moved(tmp_path: Path) -> None:
    folder = train(language_model(tmp_path, steps=4), tmp_path / "run", quiet=True)
    before = weights(folder)
    shutil.move(folder, tmp_path / "elsewhere")
    assert set(load(tmp_path / "elsewhere").model.state_dict()) >= set(before)
