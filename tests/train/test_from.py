"""A run that starts from another: its tokenizer and weights, step 0, and nothing left in the dark."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.checkpoint import REPORT, WEIGHTS, content_hash, load, read_json, read_recipe, read_tensors, read_tokenizer
from regard.cli.training import no_other_text
from regard.train import resume, train
from regard.train.origin import START
from tests.helpers import lines_file, recipe, refused
from tests.train.runs import identical, language_model, listen, progress, translator, weights

NEXT = {"steps": 5, "save_every": 2, "evaluate_every": 3}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("first")
    return train(translator(folder), folder / "run", quiet=True)


def other(folder: Path, letters: str = "fedcba", **sections: Any):
    """Data in which another vocabulary would be found, in another order."""
    lines = [letters[:i] + letters[i // 2 :] for i in range(2, len(letters) + 1)]
    data = {"train": lines_file(folder / "other.tsv", [f"{line}\t{line}" for line in lines])}
    return recipe("transformer", data=data, **{"train": {"threads": 1, **NEXT}, **sections})


class Lost(BaseException):
    """Nothing catches it, as nothing catches a power cut."""


def test_it_begins_with_the_weights_and_the_tokenizer_of_the_other(
    first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a rate of almost nothing the first checkpoint is the other run's model."""
    tiny = {"steps": 1, "rate": 1e-30, "weight_decay": 0.0, "threads": 1}
    folder = train(other(tmp_path, train=tiny), tmp_path / "run", start_from=first, quiet=True)
    assert read_tokenizer(folder).fingerprint == read_tokenizer(first).fingerprint
    before, after = weights(first), weights(folder)
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert progress(folder)["step"] == 1
    alone = train(other(tmp_path, train=tiny), tmp_path / "alone", quiet=True)
    assert read_tokenizer(alone).fingerprint != read_tokenizer(first).fingerprint


def test_the_report_says_where_it_came_from(first: Path, tmp_path: Path) -> None:
    folder = train(other(tmp_path), tmp_path / "run", start_from=str(first), quiet=True)
    tensors, notes = read_tensors(first / WEIGHTS)
    assert read_json(folder / REPORT)["from"] == {"run": str(first), "content": content_hash(tensors, notes)}
    assert not (folder / START).exists()
    assert "from" not in read_json(first / REPORT)
    load(folder)


def test_lost_before_its_first_checkpoint_it_starts_there_again(
    first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even when the other run is gone by then."""
    origin = Path(shutil.copytree(first, tmp_path / "origin"))
    given = other(tmp_path, system={"dropout": 0.1}, train={"threads": 1, **NEXT, "average": "ema"})
    whole = train(given, tmp_path / "whole", start_from=origin, quiet=True)

    def lose(event: dict[str, Any]) -> None:
        if event["step"] == 1:
            raise Lost

    with monkeypatch.context() as patch:
        listen(patch, lose)
        with pytest.raises(Lost):
            train(given, tmp_path / "lost", start_from=origin, quiet=True)
    assert (tmp_path / "lost" / START).exists()
    shutil.rmtree(origin)
    resume(tmp_path / "lost", quiet=True)
    identical(tmp_path / "lost", whole)


def test_what_differs_and_fits_is_said(first: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = other(tmp_path, system={"dropout": 0.2}, text={"kind": "word", "lowercase": True})
    folder = train(given, tmp_path / "run", start_from=first)
    said = capsys.readouterr().err.splitlines()
    assert f"starting from {first}, with its tokenizer and weights" in said
    assert "text.kind = 'char' there and 'word' here: the tokenizer stays" in said
    assert "text.lowercase = false there and true here: the tokenizer stays" in said
    assert "system.dropout = 0.0 there and 0.2 here: the new one holds" in said
    made = read_recipe(folder)
    assert made.text == read_recipe(first).text
    assert made.system == given.system


def test_a_reward_for_a_model_that_knows_nothing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train(other(tmp_path, objective={"kind": "reward", "samples": 2}), tmp_path / "run")
    assert "start from a trained run with --from" in capsys.readouterr().err


def test_what_does_not_fit_stops_before_anything_is_written(first: Path, tmp_path: Path) -> None:
    for system, words in [
        ({"width": 18}, f"{first} does not fit: system.width = 16 there and 18 here"),
        ({"width": 18, "depth": 2}, "system.width = 16 there and 18 here; system.depth = 1 there and 2 here"),
        ({"position": "learned"}, "system.position = 'sinusoidal' there and 'learned' here"),
    ]:
        with refused(words):
            train(other(tmp_path, system=system), tmp_path / "run", start_from=first, quiet=True)
    with refused("system.kind = 'transformer' there and 'gpt' here"):
        train(language_model(tmp_path), tmp_path / "run", start_from=first, quiet=True)
    assert not (tmp_path / "run").exists()


def test_a_run_that_is_not_there_or_not_trained_is_refused(first: Path, tmp_path: Path) -> None:
    with refused(f"no such run: {tmp_path / 'none'}"):
        train(other(tmp_path), tmp_path / "run", start_from=tmp_path / "none", quiet=True)
    untrained = Path(shutil.copytree(first, tmp_path / "untrained"))
    (untrained / WEIGHTS).unlink()
    with refused(f"{untrained} has no {WEIGHTS} yet"):
        train(other(tmp_path), tmp_path / "run", start_from=untrained, quiet=True)


STILL = {"steps": 1, "rate": 1e-30, "weight_decay": 0.0, "threads": 1}  # the first checkpoint is what it began with


def labelled(folder: Path, *labels: str, kind: str = "rnn-encoder"):
    lines = [f"{letter * 3}\t{labels[i % len(labels)]}" for i, letter in enumerate("abcdefabcdef")]
    data = {"train": lines_file(folder / f"{'-'.join(labels)}.tsv", lines)}
    return recipe(kind, data=data, objective={"kind": "classification"}, train=STILL)


def kept(run: Path, origin: Path, prefix: str = "") -> set[str]:
    """The tensors of a run that are the other's, where those of a body may have come under a prefix."""
    there, here = weights(origin), weights(run)
    both = {name: there[own] for name in here if (own := name.removeprefix(prefix)) in there}
    return {
        name
        for name, tensor in both.items()
        if tensor.shape == here[name].shape and torch.allclose(tensor, here[name], rtol=0, atol=1e-25)
    }


def test_a_classifier_keeps_its_head_for_the_same_labels_and_gets_a_new_one_for_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = train(labelled(tmp_path, "good", "bad"), tmp_path / "run", quiet=True)
    again = train(replace(labelled(tmp_path, "good", "bad"), seed=11), tmp_path / "again", start_from=run, quiet=True)
    assert kept(again, run) == weights(run).keys()
    third = train(labelled(tmp_path, "good", "bad", "fair"), tmp_path / "other", start_from=run)
    assert weights(run).keys() - kept(third, run) == {"head.rows.weight", "head.rows.bias"}
    assert "the head is new: head.rows.bias, head.rows.weight" in capsys.readouterr().err


def pretrained(folder: Path, kind: str = "masked-pairs") -> Path:
    pairs = lines_file(
        folder / "pairs.tsv", [f"{a * 3}\t{b * 2}" for a, b in zip("abcdef" * 3, "fedcba" * 3, strict=True)]
    )
    fields = {} if kind == "masked-pairs" else {"fields": {"text": 0}}
    made = recipe("bert", data={"train": pairs, **fields}, objective={"kind": kind}, train={"threads": 1, **NEXT})
    return train(made, folder / kind, quiet=True)


def test_a_pre_trained_body_and_its_pool_are_fine_tuned_under_a_new_head(tmp_path: Path) -> None:
    run = pretrained(tmp_path)
    tuned = train(labelled(tmp_path, "good", "bad", kind="bert"), tmp_path / "tuned", start_from=run, quiet=True)
    new = weights(tuned).keys() - kept(tuned, run)
    assert new == {"head.rows.weight", "head.rows.bias"}
    assert {"head.pool.dense.weight", "encoder.blocks.0.attention.to_query.weight"} <= kept(tuned, run)
    load(tuned)
    without = pretrained(tmp_path, "masked")
    tuned = train(labelled(tmp_path, "good", "bad", kind="bert"), tmp_path / "again", start_from=without, quiet=True)
    assert "head.pool.dense.weight" in weights(tuned).keys() - kept(tuned, without), "nobody trained a pool"


def test_pre_training_goes_on_with_its_head(tmp_path: Path) -> None:
    run = pretrained(tmp_path)
    again = recipe(
        "bert",
        data={"train": str(tmp_path / "pairs.tsv")},
        objective={"kind": "masked-pairs", "share": 0.3},
        train=STILL,
    )
    assert kept(train(again, tmp_path / "on", start_from=run, quiet=True), run) == weights(run).keys()


def test_hidden_words_are_guessed_by_the_head_that_learnt_it_with_one_sentence_or_two(tmp_path: Path) -> None:
    one, two = pretrained(tmp_path, "masked"), pretrained(tmp_path)
    data = {"train": str(tmp_path / "pairs.tsv")}
    given = recipe("bert", data={**data, "fields": {"text": 0}}, objective={"kind": "masked"}, train=STILL)
    fewer = train(given, tmp_path / "fewer", start_from=two, quiet=True)
    assert kept(fewer, two) == weights(fewer).keys() == weights(one).keys()
    given = recipe("bert", data=data, objective={"kind": "masked-pairs"}, train=STILL)
    more = train(given, tmp_path / "more", start_from=one, quiet=True)
    assert (
        kept(more, one)
        == weights(one).keys()
        == {name for name in weights(two) if not name.startswith(("head.next.", "head.pool."))}
    )


def test_a_language_model_becomes_a_classifier(tmp_path: Path) -> None:
    run = train(language_model(tmp_path), tmp_path / "run", quiet=True)
    tuned = train(labelled(tmp_path, "good", "bad", kind="gpt"), tmp_path / "tuned", start_from=run, quiet=True)
    assert weights(tuned).keys() - kept(tuned, run, "body.") == {"head.rows.weight", "head.rows.bias"}
    assert load(tuned).labels == ("bad", "good")
    lost = train(labelled(tmp_path, "so", "no", "if", kind="gpt"), tmp_path / "more", start_from=tuned, quiet=True)
    assert weights(lost).keys() - kept(lost, tuned) == {"head.rows.weight", "head.rows.bias"}


def test_a_tokenizer_without_the_symbols_of_the_task_does_not_fit(tmp_path: Path) -> None:
    run = train(labelled(tmp_path, "good", "bad", kind="bert"), tmp_path / "run", quiet=True)
    masked = recipe(
        "bert", data={"train": str(tmp_path / "good-bad.tsv"), "fields": {"text": 0}}, objective={"kind": "masked"}
    )
    with refused(f"{run} does not fit: its tokenizer has no <mask>, which the objective needs"):
        train(masked, tmp_path / "other", start_from=run, quiet=True)


def test_decoding_that_the_model_cannot_do_stops_a_training(tmp_path: Path) -> None:
    with refused("decode.replace_unknown copies whole words, and text.kind is 'char'"):
        train(other(tmp_path, decode={"replace_unknown": True}), tmp_path / "run", quiet=True)
    with refused("has no attention to a source"):
        blind = recipe("seq2seq", data={"train": "road"}, decode={"beam": 2, "coverage_penalty": 0.2})
        train(blind, tmp_path / "run", quiet=True)


def test_text_settings_given_by_hand_must_be_those_of_the_run(first: Path, tmp_path: Path) -> None:
    for kind, settings in (("char", ("text.kind=char", "train.steps=3")), ("word", ("train.steps=3",))):
        no_other_text(other(tmp_path, text={"kind": kind}), first, settings)
    with refused(f"--set text.kind=word: the tokenizer of {first} is taken, with text.kind = char"):
        no_other_text(other(tmp_path, text={"kind": "word"}), first, ("train.steps=3", "text.kind=word"))
    with refused("the tokenizer of"):
        no_other_text(other(tmp_path, text={"kind": "word"}), first, ('text={kind="word"}',))
    no_other_text(other(tmp_path, text={"kind": "char"}), first, ('text={kind="char"}', "seed=3"))
