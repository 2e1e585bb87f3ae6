"""`regard train`, `evaluate` and `classify` with two texts and one label: which of them praises?"""

import json
import math
import random
from pathlib import Path

import pytest

from regard.cli import reading
from tests.cli.conftest import Place
from tests.cli.shell import fine, refused, settings
from tests.helpers import lines_file

NAMES = {(True, True): "both", (True, False): "first", (False, True): "second", (False, False): "none"}
SMALL = ("objective.kind=classification", "objective.pairs=true", "text.kind=word", "train.device=cpu")
LEARNING = ("train.steps=150", "train.batch_tokens=400", "train.rate=0.01", "train.warmup=20")
KINDS = {
    "rnn": ("rnn-classifier", ("system.width=16",)),
    "bert": ("bert", ("system.width=16", "system.hidden=24", "system.depth=1", "system.heads=2")),
}


def rows(seed: int, count: int) -> list[tuple[str, str, str]]:
    chance, found = random.Random(seed), []
    for _ in range(count):
        good = chance.random() < 0.5, chance.random() < 0.5
        first, second = (
            f"the {chance.choice(['soup', 'cake'])} was {'good' if each else 'bad'}{' today' * chance.randrange(3)}"
            for each in good
        )
        found.append((first, second, NAMES[good]))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pairs")
    train = lines_file(made / "train.tsv", ["\t".join(row) for row in rows(0, 300)])
    lines_file(made / "test.tsv", ["first\tsecond\tlabel", *("\t".join(row) for row in rows(1, 40))])
    for name, (preset, sizes) in KINDS.items():
        options = settings(f"data.train={train}", *SMALL, *LEARNING, *sizes, tiny=False)
        fine("train", preset, "--out", made / name, "--quiet", *options)
    return made


@pytest.fixture(params=list(KINDS))
def run(folder: Path, request: pytest.FixtureRequest) -> Path:
    return folder / request.param


def test_a_line_with_two_texts_gets_one_label(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = rows(2, 30)
    lines = "".join(f"{first}\t{second}\n" for first, second, _ in asked)
    done = fine("classify", run, stdin=lines)
    cells = [line.split("\t") for line in done.lines]
    assert [(first, second, label) for label, _, first, second in cells] == asked and done.err == ""
    monkeypatch.setattr(reading, "AT_ONCE", 7)
    assert fine("classify", run, stdin=lines).lines == done.lines


def test_json_names_both_texts(run: Path) -> None:
    given = ["--text", "the soup was good", "--second", "the cake was bad today"]
    (found,) = fine("classify", run, *given, "--json").json
    assert (found["first"], found["second"], found["label"]) == (given[1], given[3], "first")
    assert found.keys() == {"first", "second", "label", "probability", "probabilities"}
    assert sum(found["probabilities"].values()) == pytest.approx(1)


def test_they_are_evaluated(run: Path, folder: Path) -> None:
    found = fine("evaluate", run, "--data", folder / "test.tsv", "--json").json
    assert found["examples"] == 40 and found["accuracy"] > 0.95
    assert found["confusion"].keys() == {"both", "first", "second", "none"}
    assert fine("evaluate", run, "--json").json["examples"] == 15


def test_they_are_verified(folder: Path) -> None:
    done = fine("verify", folder / "bert", "--skip", "compiled = eager", "exported = native", "--json")
    assert done.json["passed"]


def test_files_of_other_names(folder: Path) -> None:
    lines = [json.dumps({"a": first, "b": second, "c": label}) for first, second, label in rows(0, 60)]
    path = lines_file(folder / "other.jsonl", lines)
    fields = 'data.fields={first = "a", second = "b", label = "c"}'
    options = settings(f"data.train={path}", fields, *SMALL, "train.steps=2", "system.width=16", tiny=False)
    fine("train", "rnn-classifier", "--out", folder / "other", "--quiet", *options)


def test_mistakes_are_named(run: Path, folder: Path) -> None:
    refused("classify", run, "--text", "a", because="1 texts and 0 second ones: each --text needs its own --second")
    refused(
        "classify", run, stdin="a\tb\na\n", because="standard input line 2: 1 column(s); a text, a tab and a second"
    )
    plain = lines_file(folder / "plain.txt", ["a", "b"])
    options = settings(f"data.train={plain}", *SMALL, tiny=False)
    because = "first and second and label are needed: give 3 files, a .tsv, a .csv or a .jsonl"
    refused("train", "rnn-classifier", "--quiet", "--out", folder / "x", *options, because=because)
    assert not (folder / "x").exists()


def test_one_text_takes_no_second(folder: Path) -> None:
    path = lines_file(folder / "single.tsv", [f"{first}\t{label}" for first, _, label in rows(3, 60)])
    options = settings(f"data.train={path}", "train.steps=2", "train.device=cpu", "system.width=16", tiny=False)
    fine("train", "rnn-classifier", "--out", folder / "single", "--quiet", *options)
    refused(
        "classify", folder / "single", "--text", "a", "--second", "b", because="reads one text: it takes no --second"
    )


def test_a_pair_is_explained_as_it_is_classified(run: Path, tmp_path: Path) -> None:
    both = ("--text", "the soup was good today", "--second", "the cake was bad")
    asked = fine("classify", run, *both, "--json").json[0]["probabilities"]
    seen = fine("explain", run, *both, "--json").json
    for label, chance in zip(seen["labels"], seen["log_probability"], strict=True):
        assert math.exp(chance) == pytest.approx(asked[label], abs=1e-4)
    words = [token["label"] for token in seen["target"]["tokens"] if token["label"][0] != "<"]
    assert words == both[1].split() + both[3].split()
    fine("explain", run, *both, "--to", tmp_path / "pair.html", tmp_path / "pair.svg")
    refused("explain", run, *both[:2], because="reads two texts together: give it a second one")


def test_one_text_has_no_second(place: Place) -> None:
    refused("explain", place.model, "--text", "a b", "--second", "c", because="reads one text")
    both = ("--source", "a b", "--target", "c", "--second", "d")
    refused("explain", place.translator, *both, because="it reads no second")
