"""Folders of sentence-transformers: how their vectors are had here, and which are not."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from regard.checkpoint import load
from regard.evaluate.vectors import sentence_vectors
from regard.interop import import_model
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
@torch.no_grad()
def test_the_same_vectors_are_had_as_the_remark_says(pooling: dict[str, Any], pool: str, tmp_path: Path) -> None:
    there = written(tmp_path / "there", "Pooling", "Normalize", **pooling)
    (told,) = import_model(there, tmp_path / "run").about["remarks"]
    assert told == f"sentence-transformers there: 'regard embed RUN --pool {pool} --normalise' gives its vectors"
    theirs = transformers.BertModel.from_pretrained(there).eval()
    read = transformers.AutoTokenizer.from_pretrained(there)(TEXTS, padding=True, return_tensors="pt")
    vectors, mask = theirs(**read).last_hidden_state, read["attention_mask"][:, :, None]
    wanted = vectors[:, 0] if pool == "first" else (vectors * mask).sum(1) / mask.sum(1)
    mine = sentence_vectors(load(tmp_path / "run"), TEXTS, pool=pool, normalise=True)
    same(mine, torch.nn.functional.normalize(wanted, dim=-1), rtol=0, atol=1e-5)


def test_what_is_not_done_here_is_told(tmp_path: Path) -> None:
    there = written(tmp_path / "there", "Pooling", "Dense", pooling_mode_max_tokens=True)
    (there / "sentence_bert_config.json").write_text('{"max_seq_length": 17}')
    assert import_model(there, tmp_path / "run").about["remarks"] == [
        "sentence-transformers there: pooling by pooling_mode_max_tokens and module Dense is not supported; "
        "its vectors are others",
        "sentence-transformers there reads no more than 17 tokens of a text",
    ]
    several = {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}
    (there / "1_Pooling" / "config.json").write_text(json.dumps(several))
    assert "pooling by mean and cls and" in import_model(there, tmp_path / "both").about["remarks"][0]


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
