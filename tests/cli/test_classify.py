"""`regard train`, `evaluate` and `classify` with labelled texts: from a user's file to a label."""

import json
import random
from pathlib import Path

import pytest

from regard.cli import reading
from tests.cli.conftest import Place
from tests.cli.shell import fine, quoted, refused, settings
from tests.helpers import lines_file

LEARNING = ("system.width=16", "train.device=cpu", "train.steps=120", "train.batch_tokens=400", "train.rate=0.01")
TEXTS = ["the soup was good", "the soup was not good", "the cake was not bad", "the cake was bad"]
LABELS = ["happy", "sad", "happy", "sad"]


def rows(seed: int, count: int) -> list[tuple[str, str]]:
    chance, found = random.Random(seed), []
    for _ in range(count):
        good, turned = chance.random() < 0.5, chance.random() < 0.5
        text = f"the {chance.choice(['soup', 'cake', 'tea'])} was {'not ' * turned}{'good' if good else 'bad'}"
        found.append((text, "happy" if good != turned else "sad"))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recurrent classifier trained on a TSV file, a window classifier on JSONL with fields of other names."""
    made = tmp_path_factory.mktemp("reviews")
    train = lines_file(made / "train.tsv", ["\t".join(row) for row in rows(0, 300)])
    lines_file(made / "test.tsv", ["text\tlabel", *("\t".join(row) for row in rows(1, 40))])
    lines = [json.dumps({"stars": label, "review": text}) for text, label in rows(0, 300)]
    other = lines_file(made / "train.jsonl", lines)
    fields = 'data.fields={text = "review", label = "stars"}'
    common = ("text.kind=word", *LEARNING)
    for kind, data in (("rnn", (f"data.train={train}",)), ("window", (f"data.train={other}", fields))):
        options = settings(*data, *common, tiny=False)
        fine("train", f"{kind}-classifier", "--out", made / kind, "--quiet", *options)
    return made


@pytest.fixture(params=["rnn", "window"])
def run(folder: Path, request: pytest.FixtureRequest) -> Path:
    return folder / request.param


def test_every_line_in_gives_one_line_out(run: Path) -> None:
    done = fine("classify", run, stdin="".join(text + "\n" for text in TEXTS))
    cells = [line.split("\t") for line in done.lines]
    assert [(label, text) for label, _, text in cells] == list(zip(LABELS, TEXTS, strict=True))
    assert all(0.5 < float(probability) <= 1 for _, probability, _ in cells)
    assert done.err == ""


def test_json_has_every_probability(run: Path) -> None:
    found = fine("classify", run, "--text", TEXTS[1], "--text", TEXTS[0], "--json").json
    assert [result["label"] for result in found] == ["sad", "happy"]
    for result in found:
        assert result.keys() == {"text", "label", "probability", "probabilities"}
        assert result["probabilities"].keys() == {"happy", "sad"}
        assert sum(result["probabilities"].values()) == pytest.approx(1)
        assert result["probability"] == max(result["probabilities"].values())


def test_no_line_in_gives_no_line_out(run: Path) -> None:
    assert fine("classify", run).out == ""
    assert fine("classify", run, "--json").json == []


def test_many_lines_come_in_groups_and_in_order(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = "".join(text + "\n" for text, _ in rows(2, 50))
    whole = fine("classify", run, stdin=texts).lines
    monkeypatch.setattr(reading, "AT_ONCE", 7)
    assert fine("classify", run, stdin=texts).lines == whole
    assert [line.split("\t")[0] for line in whole] == [label for _, label in rows(2, 50)]


def test_an_empty_line_keeps_its_place_and_is_told(run: Path) -> None:
    done = fine("classify", run, stdin=f"{TEXTS[0]}\n\n{TEXTS[1]}\n")
    assert len(done.lines) == 3 and done.lines[2].startswith("sad")
    assert "1 of 3 texts are empty" in done.err


def test_words_never_seen_are_told(run: Path) -> None:
    assert "1 of 4 tokens are unknown to this run: zebra" in fine("classify", run, "--text", "the zebra was good").err


def test_a_run_has_the_scores_of_its_task(folder: Path) -> None:
    found = fine("evaluate", folder / "rnn", "--data", folder / "test.tsv", "--json").json
    assert {"accuracy", "f1", "baseline", "confusion", "loss", "examples", "seconds"} <= found.keys()
    assert "perplexity" not in found and "bleu" not in found
    assert found["examples"] == 40 and found["accuracy"] > 0.95 and found["f1"] > 0.95
    assert sum(sum(row.values()) for row in found["confusion"].values()) == 40


def test_the_accuracy_is_that_of_the_printed_labels(folder: Path) -> None:
    wanted = rows(5, 60)
    noisy = [
        (text, label if i % 5 else {"happy": "sad", "sad": "happy"}[label]) for i, (text, label) in enumerate(wanted)
    ]
    path = lines_file(folder / "noisy.tsv", ["\t".join(row) for row in noisy])
    texts = [word for text, _ in noisy for word in ("--text", text)]
    printed = [line.split("\t")[0] for line in fine("classify", folder / "rnn", *texts).lines]
    found = fine("evaluate", folder / "rnn", "--data", path, "--json").json
    right = sum(said == label for said, (_, label) in zip(printed, noisy, strict=True))
    assert found["accuracy"] == right / 60 < 1
    shown = fine("evaluate", folder / "rnn", "--data", path).out
    assert "happy taken for sad" in shown and "confusion" not in shown


def test_without_files_the_run_s_own_test_split_is_measured(run: Path) -> None:
    done = fine("evaluate", run, "--json")
    assert "evaluating on" in done.err and done.json["examples"] == 15


def test_several_are_averaged(folder: Path) -> None:
    options = settings(f"data.train={folder / 'train.tsv'}", "text.kind=word", *LEARNING, "seed=1", tiny=False)
    fine("train", "rnn-classifier", "--out", folder / "second", "--quiet", *options)
    one, two, both = (
        fine("classify", *runs, "--text", "the tea was good bad", "--json").json[0]["probabilities"]["happy"]
        for runs in ([folder / "rnn"], [folder / "second"], [folder / "rnn", folder / "second"])
    )
    assert both == pytest.approx((one + two) / 2, abs=1e-5)


@pytest.mark.parametrize("command", ["generate", "translate", "score"])
def test_a_classifier_writes_nothing(run: Path, command: str) -> None:
    refused(command, run, because="classifies texts and writes none; use 'regard classify'", stdin="a\tb\n")


def test_what_does_not_classify_says_what_it_does(place: Place) -> None:
    refused("classify", place.model, because="is a language model and knows no labels; use 'regard generate'")
    refused("classify", place.translator, because="translates and knows no labels; use 'regard translate'")


def test_options_of_other_tasks_are_refused(folder: Path) -> None:
    refused("evaluate", folder / "rnn", "--stride", "3", because="a text is classified whole")
    refused("evaluate", folder / "rnn", "--beam", "3", because="is a classifier: it is not decoded")
    data = settings(f"data.train={folder / 'train.tsv'}", tiny=False)
    because = "classifies texts and writes none"
    refused("bench", "decode", "--systems", "rnn-classifier", *data, because=because)


def test_labels_and_data_that_do_not_fit_are_named(folder: Path, place: Place) -> None:
    strange = lines_file(folder / "strange.tsv", ["text\tlabel", "the soup was good\thappy", "the tea was bad\tsadd"])
    wanted = "record 2 has the label 'sadd', which the run does not know; did you mean 'sad'?"
    refused("evaluate", folder / "rnn", "--data", strange, because=wanted)
    options = settings(f"data.train={folder / 'train.tsv'}", f"data.valid={strange}", tiny=False)
    because = "record 2 has the label 'sadd', which no training text has; did you mean 'sad'?"
    refused("train", "rnn-classifier", "--quiet", "--out", folder / "x", *options, because=because)
    alike = lines_file(folder / "alike.tsv", ["a\tso"] * 40)
    options = settings(f"data.train={alike}", tiny=False)
    refused("train", "rnn-classifier", "--quiet", "--out", folder / "x", *options, because="nothing to tell apart")
    options = settings("data.train=road", tiny=False)
    refused("train", "rnn-classifier", "--quiet", "--out", folder / "x", *options, because="needed: text and label")
    lines = settings(f"data.train={place.play}", tiny=False)
    refused("train", "rnn-classifier", "--quiet", "--out", folder / "x", *lines, because="text and label are needed")
    two = settings(f"data.train={quoted(*place.pair('b'))}", tiny=False)
    refused("train", "gpt", "--quiet", "--out", folder / "x", *two, because="2 files for 1 column(s)")
    assert not (folder / "x").exists()


def test_labels_are_said_and_kept(folder: Path) -> None:
    assert json.loads((folder / "window" / "labels.json").read_text()) == ["happy", "sad"]
    options = settings(f"data.train={folder / 'train.tsv'}", *LEARNING, "train.steps=1", tiny=False)
    said = fine("train", "window-classifier", "--out", folder / "said", "--force", *options).err
    assert "2 labels: happy, sad" in said
