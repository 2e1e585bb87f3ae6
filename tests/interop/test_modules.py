"""Folders of sentence-transformers: their vectors are had here and written back, but for those that are told."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from sentence_transformers import SentenceTransformer

from regard.checkpoint import load, write_setup
from regard.evaluate.vectors import sentence_vectors
from regard.interop import export_model, import_model
from regard.recipe import Embed
from tests.helpers import refused, same
from tests.interop.cases import CASES

TEXTS = ["the dog crossed the road", "the cafe"]


def written(folder: Path, *modules: str, **pooling: Any) -> Path:
    """A model with these modules behind it."""
    CASES["bert-vectors"].write(folder)
    named = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    for number, kind in enumerate(modules, 1):
        path = f"{number}_{kind}"
        (folder / path).mkdir()
        (folder / path / "config.json").write_text(json.dumps(pooling if kind == "Pooling" else {}))
        named.append({"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"})
    (folder / "modules.json").write_text(json.dumps(named))
    return folder


@pytest.mark.parametrize(
    ("pooling", "pool"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, "all"),
        ({"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}, "first"),
        ({"pooling_mode": "cls"}, "first"),
        ({}, "all"),
    ],
)
def test_the_vectors_are_those_of_their_library_and_again_after_exporting(
    pooling: dict[str, Any], pool: str, tmp_path: Path
) -> None:
    there = written(tmp_path / "there", "Pooling", "Normalize", **{"word_embedding_dimension": 12, **pooling})
    (told,) = import_model(there, tmp_path / "run").about["remarks"]
    assert told == (
        f"sentence-transformers there: 'regard embed' gives its vectors (embed.pool = \"{pool}\", "
        "embed.normalise = true)"
    )
    wanted = torch.from_numpy(SentenceTransformer(str(there), device="cpu").encode(TEXTS))
    same(sentence_vectors(load(tmp_path / "run"), TEXTS), wanted, rtol=0, atol=1e-5)
    export_model(tmp_path / "run", tmp_path / "back")
    again = SentenceTransformer(str(tmp_path / "back"), device="cpu")
    same(torch.from_numpy(again.encode(TEXTS)), wanted, rtol=0, atol=1e-5)
    assert import_model(tmp_path / "back", tmp_path / "again").recipe.embed == load(tmp_path / "run").recipe.embed


def test_long_texts_are_cut_there_and_here_if_asked_and_prompts_come_back(tmp_path: Path) -> None:
    there = written(tmp_path / "there", "Pooling", word_embedding_dimension=12)
    (there / "sentence_bert_config.json").write_text('{"max_seq_length": 5, "do_lower_case": true}')
    more = {"prompts": {"asked": "the "}, "default_prompt_name": "asked", "similarity_fn_name": "dot"}
    (there / "config_sentence_transformers.json").write_text(json.dumps(more))
    found = import_model(there, tmp_path / "run")
    assert found.about["remarks"] == [
        "sentence-transformers there: 'regard embed' gives its vectors (embed.pool = \"all\", embed.max_tokens = 5)",
        "sentence-transformers there puts 'the ' before every text; here it must be given with it",
    ]
    assert "config_sentence_transformers.json" in found.about["files"]
    run = load(tmp_path / "run")
    with refused("has 9 tokens and 5 are read (--max-tokens); --truncate reads"):
        sentence_vectors(run, [f"the {TEXTS[0]}"])
    wanted = torch.from_numpy(SentenceTransformer(str(there), device="cpu").encode(TEXTS))
    asked = [f"the {text}" for text in TEXTS]
    same(sentence_vectors(run, asked, truncate=True), wanted, rtol=0, atol=1e-5)
    export_model(tmp_path / "run", tmp_path / "back")
    again = SentenceTransformer(str(tmp_path / "back"), device="cpu")
    same(torch.from_numpy(again.encode(TEXTS)), wanted, rtol=0, atol=1e-5)
    assert again.max_seq_length == 5 and again.similarity_fn_name == "dot"


def test_what_is_not_done_here_is_told_and_not_written_back(tmp_path: Path) -> None:
    there = written(tmp_path / "there", "Pooling", "Dense", pooling_mode_max_tokens=True)
    found = import_model(there, tmp_path / "run")
    assert found.about["remarks"] == [
        "sentence-transformers there: pooling by pooling_mode_max_tokens and module Dense is not supported; "
        "its vectors are others",
    ]
    assert found.recipe.embed == Embed()
    export_model(tmp_path / "run", tmp_path / "back")
    assert not (tmp_path / "back" / "modules.json").exists()
    several = {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}
    (there / "1_Pooling" / "config.json").write_text(json.dumps(several))
    assert "pooling by mean and cls and" in import_model(there, tmp_path / "both").about["remarks"][0]


def test_modules_in_another_order_of_another_library_or_behind_a_writer_are_others(tmp_path: Path) -> None:
    there = written(tmp_path / "there", "Normalize", "Pooling")
    assert "module Normalize is not supported" in import_model(there, tmp_path / "a").about["remarks"][0]
    modules = (there / "modules.json").read_text()
    (there / "modules.json").write_text(modules.replace("sentence_transformers.models.P", "another.P"))
    assert "module another.Pooling is not supported" in import_model(there, tmp_path / "b").about["remarks"][0]
    (there / "modules.json").write_text(json.dumps(json.loads(modules)[:1]))
    assert "a model without a module Pooling is not" in import_model(there, tmp_path / "c").about["remarks"][0]
    CASES["gpt2"].write(tmp_path / "gpt2")
    (tmp_path / "gpt2" / "modules.json").write_text(modules)
    assert "a model that writes" in import_model(tmp_path / "gpt2", tmp_path / "d").about["remarks"][-1]


def test_a_run_of_ours_that_pools_as_theirs_can_is_read_there(tmp_path: Path) -> None:
    """One whose mean leaves out start and end has no modules there."""
    CASES["roberta-vectors"].write(tmp_path / "there")
    import_model(tmp_path / "there", tmp_path / "run")
    run = load(tmp_path / "run")
    export_model(run.path, tmp_path / "plain")
    assert not (tmp_path / "plain" / "modules.json").exists()
    first = replace(run.recipe, embed=Embed(pool="first"))
    write_setup(run.path, first, run.tokenizer)
    export_model(run.path, tmp_path / "first")
    found = torch.from_numpy(SentenceTransformer(str(tmp_path / "first"), device="cpu").encode(TEXTS))
    same(found, sentence_vectors(run, TEXTS, pool="first"), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("modules", "words"),
    [
        ("{", "modules.json is damaged"),
        ("7", "modules.json is damaged: it is no list of modules"),
        ("[7]", "modules.json is damaged: it is no list of modules"),
        ('{"a": 1}', "modules.json is damaged: it is no list of modules"),
        ('[{"type": "Pooling", "path": "../secret"}]', "names '../secret', which is no folder in this one"),
        ('[{"type": "Pooling", "path": ".."}]', "names '..', which is no folder in this one"),
        ('[{"type": "Pooling", "path": "/etc"}]', "names '/etc', which is no folder in this one"),
    ],
)
def test_damaged_lists_of_modules_end_in_one_line(modules: str, words: str, tmp_path: Path) -> None:
    there = written(tmp_path / "there", "Pooling")
    (there / "modules.json").write_text(modules)
    with refused(words):
        import_model(there, tmp_path / "run")
