"""The sections of a recipe, there and back, and every setting that cannot be."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.decode.settings import Decode
from regard.recipe import Recipe, Train, fitting, fresh, read
from tests.helpers import recipe, refused

TREE = {"system": {"kind": "gpt"}, "objective": {"kind": "next-token"}}


@pytest.mark.parametrize("kind", ["gpt", "transformer"])
def test_a_recipe_there_and_back_is_the_same(kind: str) -> None:
    made = recipe(kind, data={"train": ["a.en", "a.de"], "fields": {"source": 1}}, train={"compile": True})
    assert Recipe.parse(made.to_dict(), where="again") == made
    assert made.to_dict()["system"]["kind"] == kind


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({**TREE, "trian": {}}, "demo.toml: no section 'trian'; did you mean 'train'?"),
        (
            {"system": {"kind": "gpt"}},
            "demo.toml: section [objective] is missing; with system.kind = 'gpt' its kind is one of next-token, "
            "continuation, classification, tagging",
        ),
        ({"system": {"kind": "word2vec"}}, "with system.kind = 'word2vec' its kind is one of skip-gram"),
        ({"objective": {"kind": "masked"}}, "demo.toml: section [system] is missing"),
        ({**TREE, "system": {"kind": "gtp"}}, "demo.toml [system]: no kind 'gtp'; did you mean 'gpt'?"),
        ({**TREE, "system": {"width": 5}}, "demo.toml [system]: setting 'kind' is missing; known: rnn-lm, seq2seq"),
        (
            {**TREE, "system": {"kind": "gpt", "widht": 5}},
            "demo.toml [system]: no setting 'widht'; did you mean 'width'?",
        ),
        ({**TREE, "system": "gpt"}, "demo.toml [system]: setting 'kind' is missing"),
        ({**TREE, "objective": {"kind": 5}}, "demo.toml [objective]: no kind '5'"),
        ({**TREE, "seed": -1}, "demo.toml: seed = -1 is not a whole number from 0 to 2^63 - 1"),
        ({**TREE, "seed": 2**63}, "demo.toml: seed = 9223372036854775808 is not a whole number from 0 to 2^63 - 1"),
        ({**TREE, "seed": True}, "demo.toml: seed = True is not a whole number from 0 to 2^63 - 1"),
        ({**TREE, "seed": "x"}, "demo.toml: seed = 'x' is not a whole number from 0 to 2^63 - 1"),
        ({**TREE, "train": {"stepps": 5}}, "demo.toml [train]: no setting 'stepps'; did you mean 'steps'?"),
        ({**TREE, "text": {"kind": "chars"}}, "demo.toml [text]: no kind of tokens 'chars'; did you mean 'char'?"),
        ({**TREE, "train": 5}, "demo.toml [train]: expected a table of settings, found 5"),
    ],
)
def test_a_mistake_in_a_section_is_named(tree: dict, message: str) -> None:
    with refused(message):
        Recipe.parse(tree, where="demo.toml")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 0}, "train.steps, max_tokens and max_seconds are all 0: training would never end"),
        ({"steps": -5, "max_tokens": 10}, "train.steps = -5; it must be 0 or more"),
        ({"accumulate": 0}, "train.accumulate = 0; it must be at least 1"),
        ({"save_every": 0}, "train.save_every = 0; it must be at least 1"),
        ({"rate": 0.0}, "train.rate = 0.0; it must be more than 0"),
        ({"rate": float("nan")}, "train.rate = nan; it must be more than 0"),
        ({"clip": -1.0}, "train.clip = -1.0; it must be 0 or more"),
        ({"warmup": -1}, "train.warmup = -1; it must be 0 or more"),
        ({"patience": -1}, "train.patience = -1; it must be 0 or more"),
        ({"beta2": 1.0}, "train.beta2 = 1.0; it must be at least 0 and less than 1"),
        ({"average_decay": 1.5}, "train.average_decay = 1.5; it must be at least 0 and less than 1"),
        ({"floor": 2.0}, "train.floor = 2.0; it must lie between 0 and 1"),
        ({"decay": -0.1}, "train.decay = -0.1; it must lie between 0 and 1"),
        ({"schedule": "cosin"}, "train.schedule = 'cosin' is not known; did you mean 'cosine'?"),
        ({"average": "mean"}, "train.average = 'mean' is not known"),
        ({"precision": "float16"}, "train.precision = 'float16' is not known"),
        ({"compile": "yes"}, "train.compile = 'yes' is not known"),
    ],
    ids=lambda value: None if isinstance(value, str) else ",".join(f"{k}={v}" for k, v in value.items()),
)
def test_a_way_to_train_that_cannot_be_is_refused(settings: dict, message: str) -> None:
    with refused(message):
        Train(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beam": 0}, "decode.beam = 0; it must be at least 1"),
        ({"max_tokens": 0}, "decode.max_tokens = 0; it must be at least 1"),
        ({"top_k": -1}, "decode.top_k = -1; it must be at least 0"),
        ({"min_p": 1.0}, "decode.min_p = 1.0; it must be at least 0 and less than 1"),
        ({"temperature": -0.1}, "decode.temperature = -0.1"),
        ({"top_p": 0.0}, "decode.top_p = 0.0; it must be more than 0 and at most 1"),
        ({"beam": 3, "temperature": 1.0}, "a beam does not sample"),
        ({"length_penalty": "gnmt:x"}, "decode.length_penalty = 'gnmt:x'; only gnmt takes a number"),
        ({"length_penalty": "gmnt"}, "decode.length_penalty = 'gmnt' is not known; did you mean 'gnmt'?"),
        ({"repetition_penalty": 0.0}, "decode.repetition_penalty = 0.0"),
    ],
    ids=lambda value: None if isinstance(value, str) else ",".join(f"{k}={v}" for k, v in value.items()),
)
def test_a_way_to_decode_that_cannot_be_is_refused(settings: dict, message: str) -> None:
    with refused(message):
        Decode(**settings)


@pytest.mark.parametrize("name", ["gpt", "transformer-tiny", "bert", "rnn-classifier", "t5", "word2vec"])
def test_the_objective_of_a_preset_is_among_those_that_fit(name: str) -> None:
    made = read(name)
    assert made.to_dict()["objective"]["kind"] in fitting(made.system)


def test_a_file_is_read_with_settings_put_in(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('seed = 5\n[system]\nkind = "gpt"\nwidth = 24\n[objective]\nkind = "next-token"\n')
    made = read(str(path), ["system.heads=3", "train.steps=7"])
    assert (made.seed, made.system.width, made.system.heads, made.train.steps) == (5, 24, 3, 7)
    with refused("mine.toml [system]: width 24 does not split into 5 heads; 20 and 25 do"):
        read(str(path), ["system.heads=5"])


def test_what_a_preset_has_for_a_part_that_gave_way_goes_with_it() -> None:
    made, gone = fresh("bigbird", ["system.attention=full", "system.depth=2"])
    blank = type(made.system)()
    assert (made.system.attention, made.system.block, made.system.depth) == ("full", blank.block, 2)
    assert gone == {"system.block": 16, "system.first": 1, "system.random": 2}, "and near, which is as it was"
    made, gone = fresh("linformer", ["system.kind=gpt", "objective.kind=next-token", "system.width=24"])
    assert made.system == replace(type(made.system)(), width=24)
    assert {"system.attention": "linformer", "system.context": 512}.items() <= gone.items()
    assert not {"system.kind", "system.width", "objective.kind"} & gone.keys()
    assert fresh("bigbird", ["system.block=32"])[1] == {}


def test_what_was_asked_for_or_stands_in_a_file_of_ones_own_does_not(tmp_path: Path) -> None:
    with refused("system.block = 32 changes nothing: system.attention is 'full'"):
        read("bigbird", ["system.attention=full", "system.block=32"])
    path = tmp_path / "mine.toml"
    path.write_text('[system]\nkind = "bert"\nattention = "local"\nblock = 8\n[objective]\nkind = "masked"\n')
    with refused("mine.toml [system]: system.block = 8 changes nothing: system.attention is 'full'"):
        read(str(path), ["system.attention=full"])


def test_a_preset_that_is_not_there_is_suggested() -> None:
    with refused("no preset 'gtp'; did you mean 'gpt'?"):
        read("gtp")
