"""`regard evaluate`: scores by their fixed names."""

import json
import math
import shutil
from pathlib import Path

import pytest
import sacrebleu

from regard.checkpoint import STATE, read_tensors, write_tensors
from regard.cli.showing import show_scores
from tests.cli.conftest import Place
from tests.cli.shell import fine, quoted, refused, settings
from tests.helpers import lines_file

UNITS = {"token", "word", "character", "byte"}


def test_a_translator_has_the_scores_of_its_task(here: Place) -> None:
    found = fine("evaluate", "translator", "--data", "b.en", "b.de", "--json").json
    names = {"bleu", "chrf", "signature", "loss", "perplexity", "tokens", "seconds", "exact_match"}
    assert names <= found.keys()
    assert found["perplexity"].keys() == UNITS
    assert found["perplexity"]["token"] == pytest.approx(math.exp(found["loss"]))
    assert found["tokens"] == sum(len(line.split()) + 1 for line in Path("b.de").read_text().splitlines())
    assert found["bleu"] > 50
    assert 0 <= found["exact_match"] <= 1


def test_bleu_is_that_of_the_printed_translations(here: Place) -> None:
    found = fine("evaluate", "translator", "--data", "b.en", "b.de", "--json").json
    printed = fine("translate", "translator", stdin=Path("b.en").read_text()).lines
    wanted = Path("b.de").read_text().splitlines()
    assert found["bleu"] == pytest.approx(sacrebleu.corpus_bleu(printed, [wanted]).score)
    assert found["chrf"] == pytest.approx(sacrebleu.corpus_chrf(printed, [wanted]).score)
    assert found["exact_match"] == sum(map(str.__eq__, printed, wanted)) / len(wanted)


def test_case_and_tokenizer_stand_in_the_signature(here: Place) -> None:
    plain = fine("evaluate", "translator", "--data", "b.en", "b.de", "--json").json["signature"]
    options = ("--lowercase", "--tokenize", "intl")
    other = fine("evaluate", "translator", "--data", "b.en", "b.de", *options, "--json").json["signature"]
    assert "case:mixed" in plain and "tok:13a" in plain
    assert "case:lc" in other and "tok:intl" in other


def test_the_text_for_people_has_the_same_numbers(here: Place) -> None:
    done = fine("evaluate", "translator", "--data", "b.en", "b.de")
    table = {line[:26].strip(): line[26:] for line in done.lines}
    found = fine("evaluate", "translator", "--data", "b.en", "b.de", "--json").json
    assert float(table["bleu"]) == pytest.approx(found["bleu"], abs=1e-4)
    assert float(table["perplexity per character"]) == pytest.approx(found["perplexity"]["character"], abs=1e-4)


def test_columns_of_other_names_are_read_as_told(here: Place, tmp_path: Path) -> None:
    """Also in three columns, for which the message names the way."""
    pairs = zip(Path("b.en").read_text().splitlines(), Path("b.de").read_text().splitlines(), strict=True)
    rows = [f"{i}\t{german}\t{english}" for i, (english, german) in enumerate(pairs)]
    table = lines_file(tmp_path / "three.tsv", ["id\tde\ten", *rows])
    plain = lines_file(tmp_path / "plain.tsv", rows)
    refused("evaluate", "translator", "--data", table, because="as in --set data.fields.source=NAME")
    wanted = fine("evaluate", "translator", "--data", "b.en", "b.de", "--json").json
    for file, names in ((table, ("en", "de")), (plain, ("2", "1"))):
        named = settings(f"data.fields.source={names[0]}", f"data.fields.target={names[1]}", tiny=False)
        found = fine("evaluate", "translator", "--data", file, *named, "--json").json
        assert {**found, "seconds": 0} == {**wanted, "seconds": 0}


@pytest.mark.parametrize(
    ("setting", "because"),
    [
        ("data.fields.sorce=en", "data.fields names 'sorce', which is not read; did you mean 'source'?"),
        ("data.train=b.en", "--set data.train=b.en: here it says how files are read, with data.fields, data.document"),
        ("system.width=3", "--set system.width=3: here it says how files are read"),
        ("data.document=line", "it is for one file of lines"),
        ("data.tags=xpos", "is for the tags of .conllu files"),
    ],
)
def test_what_does_not_say_how_files_are_read_is_refused(here: Place, setting: str, because: str) -> None:
    refused("evaluate", "translator", "--data", "b.en", "b.de", "--set", setting, because=because)
    refused("evaluate", "translator", "--set", setting, because=f"--set {setting}: * give them with --data")


def test_lines_are_documents_where_told(here: Place) -> None:
    whole = fine("evaluate", "model", "--data", "play.txt", "--json").json
    lines = fine("evaluate", "model", "--data", "play.txt", "--set", "data.document=line", "--json").json
    assert lines["loss"] != whole["loss"]


def test_a_run_that_was_stopped_says_that_it_can_go_on(here: Place, tmp_path: Path) -> None:
    run = Path(shutil.copytree("model", tmp_path / "run"))
    assert "was not trained to its end" not in fine("evaluate", run).err
    tensors, notes = read_tensors(run / STATE)
    progress = {**json.loads(notes["progress"]), "finished": False, "step": 60}
    write_tensors(run / STATE, tensors, {**notes, "progress": json.dumps(progress)})
    done = fine("evaluate", run, "--json")
    told = f"{run} was not trained to its end (step 60 of 150): 'regard resume {run}' goes on"
    assert done.err.splitlines().count(told) == 1
    for damaged in (b"{", b""):
        (run / STATE).write_bytes(damaged)
        assert fine("evaluate", run, "--json").json["loss"] == done.json["loss"]


def test_parts_of_a_model_are_rows_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    """Also of a part that stands at the top, as the experts of `moe-lstm` do; units are no parts."""
    loads = {name: [0.25, 0.75] for name in ("decoder.blocks.1.feed_forward", "encoder_experts")}
    show_scores(
        {"loss": 1.5, "perplexity": {"token": 4.5}, "expert_load": loads, "expert_load_cv": dict.fromkeys(loads, 0.5)}
    )
    assert capsys.readouterr().out.splitlines() == [
        "loss                                             1.5000",
        "perplexity per token                             4.5000",
        "expert load of decoder blocks 1 feed forward     0.25 0.75",
        "expert load of encoder experts                   0.25 0.75",
        "expert load cv of decoder blocks 1 feed forward  0.5000",
        "expert load cv of encoder experts                0.5000",
    ]


def test_without_files_the_run_s_own_data_are_taken_and_named(here: Place) -> None:
    """This translator was given validation files and no test files; the model held lines out for its test."""
    assert "v.en" in fine("evaluate", "translator").err
    assert "the run has no test data" in fine("evaluate", "translator").err
    assert "evaluating on" in fine("evaluate", "model").err
    assert "play.txt" in fine("evaluate", "model").err


def test_a_language_model_has_loss_and_perplexities(here: Place) -> None:
    found = fine("evaluate", "model", "--data", "play.txt", "--json").json
    assert found["perplexity"].keys() == UNITS
    assert found["tokens"] == len(Path("play.txt").read_text()) + 1
    assert not {"bleu", "chrf", "exact_match"} & found.keys()
    assert found["perplexity"]["character"] != found["perplexity"]["byte"]  # there is more than ASCII


def test_overlapping_windows_count_each_token_once_and_are_printed(here: Place) -> None:
    plain = fine("evaluate", "model", "--data", "play.txt", "--json").json
    overlapping = fine("evaluate", "model", "--data", "play.txt", "--stride", "16", "--json").json
    assert overlapping["tokens"] == plain["tokens"]
    assert overlapping["loss"] != plain["loss"]
    assert "stride 64" in plain["policy"] and "stride 16" in overlapping["policy"]


def test_longer_texts_than_those_of_training_can_be_read_where_places_are_not_learned(here: Place) -> None:
    """A translator with sinusoids reads a source that its own context does not hold; learned places do not."""
    for language in ("en", "de"):
        short = Path(f"b.{language}").read_text().splitlines()
        lines_file(Path(f"long.{language}"), [*short, " ".join(20 * short)])
    plain = fine("evaluate", "translator", "--data", "long.en", "long.de", "--json").json
    longer = fine("evaluate", "translator", "--data", "long.en", "long.de", "--context", "2000", "--json").json
    assert (plain["too_long"], longer["too_long"]) == (1, 0)
    refused(
        "evaluate",
        "model",
        "--context",
        "2000",
        because="(system.position = 'learned'): its context cannot become 2000; train with system.context = 2000, or",
    )


def test_an_ensemble_is_measured_as_one_model(here: Place, second: Place) -> None:
    one, both = (
        fine("evaluate", *runs, "--data", "b.en", "b.de", "--json").json["loss"]
        for runs in ((second.translator,), (here.translator, second.translator))
    )
    assert both < one


def test_a_number_too_large_for_json_is_null(place: Place, tmp_path: Path) -> None:
    """One word of thousands of letters has a perplexity beyond any float."""
    text = lines_file(tmp_path / "dna.txt", ["ACGT" * 3000])
    found = fine("evaluate", place.model, "--data", text, "--json").json
    assert found["perplexity"]["word"] is None
    assert math.isfinite(found["perplexity"]["character"])


def test_pairs_may_stand_in_one_file(place: Place, tmp_path: Path) -> None:
    english, german = (path.read_text().splitlines() for path in place.pair("b"))
    rows = [f"{source}\t{target}" for source, target in zip(english, german, strict=True)]
    table = lines_file(tmp_path / "b.tsv", rows)
    one = fine("evaluate", place.translator, "--data", table, "--json").json
    two = fine("evaluate", place.translator, "--data", *place.pair("b"), "--json").json
    assert (one["loss"], one["bleu"]) == (two["loss"], two["bleu"])


def test_sentences_longer_than_the_context_are_said_to_be_left_out(place: Place, tmp_path: Path) -> None:
    data = settings(f"data.train={quoted(*place.pair('a'))}", "system.context=16", "train.steps=2")
    fine("train", "transformer-tiny", "--out", tmp_path / "run", "--quiet", *data)
    english = lines_file(tmp_path / "x.en", ["the cat", "the cat"])
    german = lines_file(tmp_path / "x.de", ["die Katze", "die " * 20])
    done = fine("evaluate", tmp_path / "run", "--data", english, german, "--json")
    assert done.json["tokens"] == 3
    assert "1 of 2 pairs have an empty side, or one longer than 15 tokens: not in the loss" in done.err
