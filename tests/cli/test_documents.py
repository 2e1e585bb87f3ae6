"""A decoder alone that goes on from a source (O9): the commands of translators, with the source in the same row."""

import json
import math
from pathlib import Path

import pytest

from regard.checkpoint import Run, load
from regard.decode import generate
from regard.decode.settings import Decode
from regard.evaluate import evaluate
from regard.verify.certificate import LINES
from tests.cli.conftest import WORDS, Place
from tests.cli.shell import fine, quoted, refused, settings

ENGLISH = ["the old cat sees the big dog", "the small house likes the old cat"]
GERMAN = [" ".join(WORDS[word] for word in line.split()) for line in ENGLISH]
LONG = " ".join(ENGLISH * 9)
LEARNING = ("train.steps=300", "train.batch_tokens=800", "train.warmup=30", "train.rate=0.01", "text.kind=word")
ROOM = ("system.context=40", "decode.max_tokens=12")


@pytest.fixture(scope="module")
def run(place: Place) -> Path:
    """A decoder that was trained to write German after English; long sources lose their end."""
    out = place.folder / "continuer"
    data = (f"data.train={quoted(*place.pair('a'))}", f"data.valid={quoted(*place.pair('v'))}")
    fine("train", "transformer-d", "--out", out, "--quiet", *settings(*data, *LEARNING, *ROOM, "system.depth=2"))
    return out


@pytest.fixture(scope="module")
def strict(place: Place) -> Path:
    """One with local and compressed attention that was not trained to read the beginning of a long source."""
    out = place.folder / "strict"
    data = (f"data.train={quoted(*place.pair('a'))}", f"data.valid={quoted(*place.pair('v'))}")
    more = ("train.steps=2", "data.too_long=drop", "system.depth=2", "system.block=8")
    fine("train", "dmca", "--out", out, "--quiet", *settings(*data, *LEARNING, *ROOM, *more))
    return out


def greedy(run: Run, source: str) -> str:
    """What follows the source and its end symbol in a row."""
    prompt = [*run.tokenizer.encode(source), run.tokenizer.end]
    (row,) = generate(run.model, run.tokenizer, Decode(max_tokens=12), prompts=[prompt])
    return run.tokenizer.decode(row[0].tokens)


def test_a_translation_is_what_follows_the_source_in_a_row(run: Path) -> None:
    told = fine("translate", run, stdin="".join(f"{line}\n" for line in [*ENGLISH, ""])).lines
    assert told == [*GERMAN, ""]
    assert [greedy(load(run), line) for line in ENGLISH] == GERMAN
    assert fine("translate", run, "--beam", "3", "--text", ENGLISH[0]).lines == GERMAN[:1]


def test_a_score_is_the_probability_of_the_target_alone(run: Path) -> None:
    pair = ("--text", GERMAN[0], "--source", ENGLISH[0])
    (found,) = fine("score", run, *pair, "--json").json
    assert [token["token"] for token in found["tokens"]] == [*GERMAN[0].split(), "</s>"]
    assert found["log_probability"] == pytest.approx(sum(token["log_probability"] for token in found["tokens"]))
    assert -0.5 < found["log_probability"] < 0
    (other,) = fine("score", run, "--text", GERMAN[1], "--source", ENGLISH[0], "--json").json
    assert other["log_probability"] < -5
    assert fine("score", run, stdin=f"{ENGLISH[0]}\t{GERMAN[0]}\n").out == fine("score", run, *pair).out


def test_the_loss_of_an_evaluation_is_the_mean_of_the_scores(run: Path, tmp_path: Path) -> None:
    rows = [*zip(ENGLISH, GERMAN, strict=True), (LONG, GERMAN[0])]
    (tmp_path / "t.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in rows))
    found = fine("evaluate", run, "--data", tmp_path / "t.tsv", "--json").json
    scores = [fine("score", run, "--text", text, "--source", source, "--json").json[0] for source, text in rows]
    assert found["tokens"] == sum(len(text.split()) + 1 for _, text in rows)
    assert found["loss"] == pytest.approx(-sum(each["log_probability"] for each in scores) / found["tokens"], rel=1e-3)
    assert found["perplexity"]["token"] == pytest.approx(math.exp(found["loss"]))
    assert "after its source in the same row" in found["policy"]
    assert (found["shortened"], found["cut"], found["too_long"]) == (1, 0, 0)
    assert found["rouge_l"] > 60 and found["bleu"] > 40


def test_of_a_long_source_the_beginning_is_read_as_in_training(run: Path) -> None:
    done = fine("translate", run, "--text", LONG)
    assert done.err == "1 of 1 sources had no room: their beginning was read alone, as in training\n"
    assert done.lines == [greedy(load(run), " ".join(LONG.split()[: 40 - 1 - 12]))]
    done = fine("score", run, "--text", GERMAN[0], "--source", LONG)
    assert "1 of 1 sources had no room" in done.err
    beginning = " ".join(LONG.split()[: 40 - 2 - 7])
    assert done.out == fine("score", run, "--text", GERMAN[0], "--source", beginning).out
    refused("score", run, "--text", LONG, "--source", ENGLISH[0], because="tokens and the context holds 40")


def test_a_run_that_was_trained_on_whole_sources_refuses_longer_ones(strict: Path, tmp_path: Path) -> None:
    refused(
        *("translate", strict, "--text", LONG),
        because="the source text has 126 tokens and the context holds 27, beside 12 that may be written",
    )
    refused("score", strict, "--text", GERMAN[0], "--source", LONG, because="tokens and the context holds 40")
    (tmp_path / "t.tsv").write_text(f"{ENGLISH[0]}\t{GERMAN[0]}\n{LONG}\t{GERMAN[0]}\n")
    done = fine("evaluate", strict, "--data", tmp_path / "t.tsv", "--json")
    assert "1 of 2 pairs have an empty side, or together more than 38 tokens: not in the loss" in done.err
    assert done.json["too_long"] == 1 and "shortened" not in done.json and done.json["tokens"] == 8


def test_commands_that_do_not_fit_say_which_does(run: Path) -> None:
    refused("generate", run, "--prompt", "the", because="writes what follows a source; use 'regard translate'")
    refused("classify", run, "--text", "a", because="writes what follows a source and knows no labels")
    refused("score", run, "--text", "a", because="1 texts and 0 sources: each --text needs its own --source")
    refused("explain", run, "--text", "a", because="translates: give it --source")
    refused("translate", run, "--text", "the", "--max-tokens", "40", because="leaves no room for a source in a")
    refused("evaluate", run, "--stride", "3", because="--stride is for language models: a translation is scored whole")


def test_what_a_row_of_both_looks_at_is_told(run: Path) -> None:
    done = fine("explain", run, "--source", ENGLISH[0])
    assert done.err.splitlines()[0] == f"target, as the model translates: {GERMAN[0]}"
    labels = [token["label"] for token in done.json["target"]["tokens"]]
    assert labels == ["<s>", *ENGLISH[0].split(), "</s>", *GERMAN[0].split(), "</s>"]
    assert done.json["source"] is None
    given = fine("explain", run, "--source", ENGLISH[0], "--target", "die", "--steps", "--word", "die").out
    assert "What 'die' looks at" in given


@pytest.mark.parametrize("name", ["run", "strict"])
def test_the_certificate_holds(name: str, request: pytest.FixtureRequest) -> None:
    lines = [line for line in LINES if line != "compiled = eager"]  # which takes long
    found = fine("verify", request.getfixturevalue(name), "--json", "--only", *lines).json
    assert found["passed"] is True
    others = {line["name"] for line in found["lines"] if line["state"] != "holds"}
    packed = ["packed = unpacked"] if name == "strict" else []
    assert others == {"exported = native", "fast = readable recurrence", *packed}


def test_evaluating_alone_equals_evaluating_together(run: Path, strict: Path, place: Place) -> None:
    """An ensemble of a run with itself writes and costs the same."""
    data = tuple(str(path) for path in place.pair("b"))
    once, twice = evaluate([load(run)], data), evaluate([load(run), load(run)], data)
    assert once["loss"] == pytest.approx(twice["loss"], rel=1e-5) and once["rouge_l"] == twice["rouge_l"]
    assert json.dumps(once["perplexity"]) != json.dumps(evaluate([load(strict)], data)["perplexity"])
