"""Tasks told apart by a prefix: every record of every task, each asked for by name."""

import pytest

import regard
from regard.data import Data
from regard.data.corpora import CORPORA
from regard.data.splits import splits
from regard.errors import UserError
from regard.evaluate import evaluate
from tests.cli.shell import fine
from tests.helpers import lines_file

PAIR = ("source", "target")


def test_all_records_of_all_tasks_are_there_under_their_prefix(tmp_path) -> None:
    mine = lines_file(tmp_path / "mine.tsv", [f"{i}\t{i + 1}" for i in range(40)])
    found, said = splits(Data(tasks={"go on:": "copy", "judge:": "moods", "add one:": mine}), PAIR)
    for split, count in (("train", 36), ("valid", 2), ("test", 2)):
        records = list(found[split])
        assert len(records) == len(found[split])
        for prefix, name in (("go on:", "copy"), ("judge:", "moods")):
            wanted = [(f"{prefix} {source}", target) for source, target in CORPORA[name].make(split)]
            assert [record for record in records if record[0].startswith(prefix)] == wanted
        assert sum(source.startswith("add one: ") for source, _ in records) == count
    assert any("mine.tsv" in line for line in said)


def test_named_columns_are_those_of_files(tmp_path) -> None:
    """A built-in corpus beside the file has columns of its own."""
    mine = lines_file(tmp_path / "mine.tsv", ["n\tto\tfrom", *(f"{i}\t{i + 1}\t{i}" for i in range(40))])
    tasks = {"tag:": "tags", "add one:": mine}
    found, _ = splits(Data(tasks=tasks, fields={"source": "from", "target": "to"}, records=3), PAIR)
    assert list(found["train"])[3:] == [(f"add one: {i}", str(i + 1)) for i in range(3)]


def test_records_are_taken_of_each_task() -> None:
    found, _ = splits(Data(tasks={"a:": "copy", "b:": "reverse"}, records=7), PAIR)
    assert [source[:2] for source, _ in found["train"]] == ["a:"] * 7 + ["b:"] * 7


@pytest.mark.parametrize(
    ("tasks", "columns", "because"),
    [
        ({"a:": "copy"}, ("text",), "pairs of source and target, and text are read"),
        ({"": "copy"}, PAIR, "is empty"),
        ({"a: ": "copy"}, PAIR, "a blank at an end"),
        ({"a": "copy", "a b": "reverse"}, PAIR, "'a b' begins with 'a'"),
        ({"a": "stdlib"}, PAIR, "holds"),
        ({"a": "kopy"}, PAIR, "copy"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(tasks, columns, because: str) -> None:
    with pytest.raises(UserError, match=because):
        splits(Data(tasks=tasks), columns)


def test_tasks_stand_in_place_of_other_data() -> None:
    with pytest.raises(UserError, match="in place of"):
        Data(tasks={"a": "copy"}, train="road")


def test_a_model_of_two_tasks_does_either_when_asked_and_each_is_scored(tmp_path) -> None:
    lines = {"up": [f"{a}\t{a.upper()}" for a in "abcdef"], "twice": [f"{a}\t{a} {a}" for a in "abcdef"]}
    tasks = ", ".join(f'"{name}:"="{lines_file(tmp_path / f"{name}.tsv", each * 10)}"' for name, each in lines.items())
    small = ("width=16", "hidden=32", "heads=2", "depth=1", "context=8")
    settings = [
        f"data.tasks={{{tasks}}}",
        "text.kind=word",
        "text.vocabulary=0",
        "train.steps=200",
        "train.batch_tokens=120",
    ]
    settings += ["train.rate=1e-2", "train.warmup=5", "train.evaluate_every=200", *(f"system.{each}" for each in small)]
    given = [word for each in settings for word in ("--set", each)]
    run = tmp_path / "run"
    fine("train", "t5-tasks", "--out", run, "--quiet", *given)
    found = evaluate([regard.load(run)])
    assert {name: scores["exact_match"] for name, scores in found["tasks"].items()} == {"up:": 1.0, "twice:": 1.0}
    assert fine("translate", run, "--text", "up: c", "--text", "twice: c").lines == ["C", "c c"]
    assert "up: exact match" in fine("evaluate", run).out
