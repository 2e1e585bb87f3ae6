"""What `evaluate` reports, against sums written out."""

import math
from dataclasses import replace
from itertools import islice

import pytest
import torch

from regard.checkpoint import Run, load
from regard.decode import score
from regard.decode.settings import Decode
from regard.evaluate import evaluate, translations
from regard.systems.gpt import Gpt
from regard.train import train
from tests.helpers import lines_file, recipe, refused
from tests.train.runs import language_model, translator


@pytest.fixture(scope="module")
def speaker(tmp_path_factory) -> Run:
    folder = tmp_path_factory.mktemp("speaker")
    return load(train(language_model(folder, steps=9), folder / "run", quiet=True))


@pytest.fixture(scope="module")
def reader(tmp_path_factory) -> Run:
    """It carries its state through a text; the longest are read first."""
    folder = tmp_path_factory.mktemp("reader")
    data = language_model(folder).data
    made = recipe("rnn-lm", train={"steps": 9, "threads": 1})
    return load(train(replace(made, data=data), folder / "run", quiet=True))


@pytest.fixture(scope="module")
def pupil(tmp_path_factory) -> Run:
    folder = tmp_path_factory.mktemp("pupil")
    return load(train(translator(folder, steps=9), folder / "run", quiet=True))


def test_loss_and_perplexities_are_the_sums_over_the_text(speaker: Run, tmp_path) -> None:
    lines = ["abc de", "fed", "a b c d"]
    path = lines_file(tmp_path / "new.txt", lines)
    found = evaluate([speaker], (str(path),))
    tokens = [speaker.tokenizer.encode(line) for line in lines]
    nats = -sum(sum(values) for values in score(speaker.model, speaker.tokenizer, tokens))
    assert found["tokens"] == sum(len(ids) + 1 for ids in tokens)
    assert found["loss"] == pytest.approx(nats / found["tokens"], rel=1e-5)
    units = {"token": found["tokens"], "word": 7, "character": sum(map(len, lines)), "byte": sum(map(len, lines))}
    assert found["perplexity"] == {unit: pytest.approx(math.exp(nats / n), rel=1e-4) for unit, n in units.items()}


def test_that_bleu_says_nothing_of_three_words_is_said(pupil: Run, tmp_path) -> None:
    def said(target: str) -> str:
        path = lines_file(tmp_path / f"{len(target)}.tsv", ["abc de\t" + target, "fed\tfed"])
        told: list[str] = []
        evaluate([pupil], (str(path),), say=told.append)
        return " ".join(told)

    assert "BLEU says nothing here" in said("abc de fed") and "read exact_match" in said("abc de fed")
    assert "BLEU" not in said("abc de fed cba")


def test_bytes_and_characters_are_told_apart(speaker: Run, tmp_path) -> None:
    perplexity = evaluate([speaker], (str(lines_file(tmp_path / "new.txt", ["äöü abc"])),))["perplexity"]
    assert math.log(perplexity["character"]) * 7 == pytest.approx(math.log(perplexity["byte"]) * 10)


def test_overlapping_windows_predict_every_token_once_and_see_more(speaker: Run, tmp_path) -> None:
    path = str(lines_file(tmp_path / "long.txt", ["abc def fed cba " * 20]))
    whole, overlapping = evaluate([speaker], (path,)), evaluate([speaker], (path,), stride=1)
    assert whole["tokens"] == overlapping["tokens"] == 16 * 20 + 1
    assert "stride 1," in overlapping["policy"] and whole["loss"] != overlapping["loss"]
    with refused("must lie between 1 and the context"):
        evaluate([speaker], (path,), stride=10_000)


def test_one_that_keeps_documents_apart_has_windows_too(speaker: Run, tmp_path) -> None:
    system = Gpt(width=16, heads=2, depth=1, hidden=16, context=32, attention="local", block=4)
    apart = replace(speaker, model=system.build(len(speaker.tokenizer)).eval())
    path = str(lines_file(tmp_path / "long.txt", ["abc def fed cba " * 20]))
    whole, overlapping = evaluate([apart], (path,)), evaluate([apart], (path,), stride=7)
    assert whole["tokens"] == overlapping["tokens"] == 16 * 20 + 1
    assert "stride 32," in whole["policy"] and "stride 7," in overlapping["policy"]


def test_pairs_that_do_not_fit_are_left_out_of_the_loss_and_count_against_the_score(pupil: Run, tmp_path) -> None:
    said: list[str] = []
    short, long = "abc\tcba", "abcdef" * 40 + "\t" + "fedcba" * 40
    alone = evaluate([pupil], (str(lines_file(tmp_path / "a.tsv", [short])),))
    both = evaluate([pupil], (str(lines_file(tmp_path / "b.tsv", [short, long])),), say=said.append)
    assert both["loss"] == pytest.approx(alone["loss"]) and both["tokens"] == alone["tokens"]
    assert both["perplexity"] == alone["perplexity"]
    assert any("1 of 2 pairs" in line for line in said)
    assert translations(pupil, ["abc", "abcdef" * 40], None)[1] == ""


def test_translations_that_were_cut_are_counted_and_said(pupil: Run) -> None:
    said: list[str] = []
    found = evaluate([pupil], decode=Decode(max_tokens=1), say=said.append)
    assert found["cut"] > 0 and found["too_long"] == 0
    assert any(f"{found['cut']} cut" in line for line in said)


def test_a_held_out_part_of_a_file_that_changed_is_not_measured(tmp_path) -> None:
    run = load(train(language_model(tmp_path, steps=2), tmp_path / "run", quiet=True))
    evaluate([run])
    with (tmp_path / "text.txt").open("a") as file:
        file.write("abc\n" * 50)
    with refused("is not what it was when the run was trained"):
        evaluate([run])


def test_a_perfect_translator_scores_a_hundred(pupil: Run, tmp_path, monkeypatch) -> None:
    lines = ["abc def fed a", "fed cba abc d", "a b c d e f"]
    perfect = ({"cut": 0, "too_long": 0},)
    monkeypatch.setattr(
        "regard.evaluate.translating.translated", lambda run, sources, *_: ([s[::-1] for s in sources], *perfect)
    )
    path = lines_file(tmp_path / "perfect.tsv", [f"{line}\t{line[::-1]}" for line in lines])
    found = evaluate([pupil], (str(path),))
    assert found["bleu"] == pytest.approx(100) and found["chrf"] == pytest.approx(100) and found["exact_match"] == 1
    assert "tok:13a" in found["signature"] and "version:" in found["signature"]


def test_an_ensemble_of_a_run_with_itself_changes_nothing(pupil: Run, speaker: Run) -> None:
    once, twice = evaluate([pupil]), evaluate([pupil, pupil])
    assert once["loss"] == pytest.approx(twice["loss"], rel=1e-5) and once["bleu"] == twice["bleu"]
    with refused("have different tokenizers"):
        evaluate([pupil, speaker])


def test_without_data_the_held_out_test_split_is_taken(speaker: Run) -> None:
    said: list[str] = []
    evaluate([speaker], say=said.append)
    assert any("[" in line and "evaluating on" in line for line in said)


def test_measuring_leaves_the_model_as_it_was(pupil: Run) -> None:
    before = {name: tensor.clone() for name, tensor in pupil.model.state_dict().items()}
    evaluate([pupil])
    assert all(torch.equal(before[name], tensor) for name, tensor in pupil.model.state_dict().items())
    assert not pupil.model.training


@pytest.mark.parametrize("name", ["speaker", "reader"])
@pytest.mark.parametrize("lines", [["f", "abc de" * 3, "a b c d"], ["abc", "de f" * 5] * 53], ids=["few", "many"])
def test_the_nats_that_are_kept_are_those_of_each_text_or_of_its_parts(
    name: str, lines: list[str], tmp_path, request: pytest.FixtureRequest
) -> None:
    """In the order of the texts, whatever order they are read in; as if each were scored alone."""
    run: Run = request.getfixturevalue(name)
    lines = lines + ["cab fed" * 11] * (name == "reader")  # longer than the context
    kept: dict[str, list] = {}
    found = evaluate([run], (str(lines_file(tmp_path / "new.txt", lines)),), keep=kept.__setitem__)
    nats, sizes = zip(*kept["nats"], strict=True)
    assert sum(sizes) == found["tokens"] and len(sizes) >= min(100, sum(sizes))
    assert sum(nats) / sum(sizes) == pytest.approx(found["loss"])
    alone = score(run.model, run.tokenizer, [run.tokenizer.encode(line) for line in lines])
    each = iter([-value for values in alone for value in values])
    assert nats == pytest.approx([sum(islice(each, size)) for size in sizes], rel=1e-4)
