"""`regard explain` on runs without attention, on classifiers, and on decoders that look word by word."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.checkpoint import weights, write_model, write_setup
from regard.cli import explaining
from regard.explain import figures
from tests.cli.shell import Done, fine, regard
from tests.explain.conftest import EVEN, LABELS, SOURCE, TARGET, make

PAIR = ("--source", SOURCE, "--target", TARGET)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder of runs, each named by its preset."""
    folder = tmp_path_factory.mktemp("runs")
    for preset in ("rnn-lm", "seq2seq", "gnmt", "rnn-classifier"):
        run = make(preset, **({} if preset == "rnn-lm" else EVEN))
        recipe = replace(run.recipe, decode=replace(run.recipe.decode, max_tokens=7))
        (folder / preset).mkdir()
        write_setup(folder / preset, recipe, run.tokenizer, run.labels)
        write_model(folder / preset, weights(run.model), run.tokenizer)
    return folder


def explain(run: Path, *words: str | Path) -> Done:
    return fine("explain", run, "--device", "cpu", *words)


def test_without_attention_influence_is_measured_and_it_is_said(place: Path) -> None:
    done = explain(place / "rnn-lm", "--text", SOURCE)
    assert done.json["maps"] == done.json["gates"] == []
    assert len(done.json["influence"]["target"]) == len(done.json["log_probability"])
    assert "rnn-lm has no attention: what each output depends on is shown instead" in done.err
    assert "rnn-lm has no gates: an Elman cell ('rnn') has none" in done.err


def test_words_that_the_run_does_not_know_are_said(tmp_path: Path) -> None:
    run = make("transformer-tiny", kind="word")
    write_setup(tmp_path, run.recipe, run.tokenizer, ())
    write_model(tmp_path, weights(run.model), run.tokenizer)
    for more in ((), ("--steps", "--word", "because")):
        done = explain(tmp_path, "--source", "because it snored", "--target", "weil es war", *more)
        assert "2 of 6 tokens are unknown to this run: snored war" in done.err
    assert "unknown" not in explain(tmp_path, *PAIR).err


def test_a_translator_without_attention_shows_gates_and_influence(place: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"a.{suffix}" for suffix in ("svg", "png", "html", "json")]
    done = explain(place / "seq2seq", *PAIR, "--to", *files)
    assert done.out == ""
    assert all(file.stat().st_size for file in files)
    assert "Gates over the source" in files[0].read_text()


def test_an_own_translation_that_is_empty_is_said(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = {"cut": 0, "too_long": 0}
    monkeypatch.setattr(explaining, "translated", lambda *_: ([""], lost))
    done = regard("explain", place / "gnmt", "--source", SOURCE)
    assert done.code == 2
    assert "gnmt: its own translation of this source is empty: give one with --target" in done.err
    assert "the source '' is empty" in regard("explain", place / "gnmt", "--source", "").err


def test_influence_is_there_for_the_asking(place: Path, tmp_path: Path) -> None:
    assert explain(place / "gnmt", *PAIR).json["influence"] is None
    found = explain(place / "gnmt", *PAIR, "--influence").json
    assert (len(found["influence"]["source"][0]), len(found["gates"])) == (len(found["source"]["tokens"]), 5)
    done = regard("explain", place / "gnmt", *PAIR, "--steps", "--influence")
    assert done.code == 2
    assert "--influence is no part of --steps" in done.err
    explain(place / "gnmt", *PAIR, "--steps", "--influence", "--to", tmp_path / "a.json")


def test_a_large_picture_is_announced_and_one_too_large_writes_nothing(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / "a.html", tmp_path / "a.png"]
    assert "drawing" not in explain(place / "gnmt", *PAIR, "--to", *files).err
    monkeypatch.setattr(explaining, "SLOW", 1009)
    assert f"drawing {files[1]}, " in explain(place / "gnmt", *PAIR, "--to", *files).err
    monkeypatch.setattr(figures, "MOST_ACROSS", 1009)
    for file in files:
        file.unlink()
    done = regard("explain", place / "gnmt", *PAIR, "--to", *files)
    assert (done.code, list(tmp_path.iterdir())) == (2, [])
    assert "more than most viewers open" in done.err


def test_a_classifier_reads_a_text_as_it_was_trained(place: Path) -> None:
    found = explain(place / "rnn-classifier", "--text", f"  {SOURCE}\n").json
    assert found["target"]["text"] == SOURCE
    assert (found["labels"], found["written"]) == (list(LABELS), None)
    classified = fine("classify", place / "rnn-classifier", "--text", SOURCE, "--json", "--device", "cpu").json[0]
    best = max(range(3), key=found["log_probability"].__getitem__)
    assert found["labels"][best] == classified["label"]
    assert {each["direction"] for each in found["gates"]} == {"onward", "backward"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rnn-classifier", "--source", "a"), "rnn-classifier classifies texts: give it --text, no --source"),
        (("rnn-classifier",), "rnn-classifier classifies texts: give it --text"),
        (("rnn-classifier", "--text", " "), "the text '' is empty"),
        (("rnn-lm", "--text", "it", "--steps"), "this run has no attention: its influence, and its gates"),
        (("seq2seq", *PAIR, "--steps"), "there are no steps to walk through"),
    ],
)
def test_what_a_run_cannot_show_is_said(place: Path, words: tuple[str, ...], message: str) -> None:
    run, *rest = words
    done = regard("explain", place / run, *rest)
    assert done.code == 2
    assert message in done.err


def test_steps_begin_at_the_last_word_that_looks(place: Path) -> None:
    """Only the target looks: the source's last word would not be found in it."""
    done = explain(place / "gnmt", *PAIR, "--steps")
    assert done.lines[0].startswith("What 'war.' looks at in head 0 of ")
    assert "Nothing is projected" in done.out
