"""Llama and its like: what a folder may spell otherwise, what ours cannot be, and how its tokenizers begin a text."""

import json
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from regard.checkpoint import load
from regard.interop import export_model, import_model
from regard.interop.checking import compare
from regard.interop.families import FAMILIES
from regard.interop.family import Model
from regard.objectives import NextToken
from regard.recipe import Recipe, read
from regard.systems.gpt import Gpt
from regard.text import Tokenizer
from regard.train import train
from tests.helpers import refused, same, steady
from tests.interop.cases import CASES
from tests.interop.folders import changed

TOKENS = torch.randint(200, (3, 11), generator=torch.Generator().manual_seed(3))
LLAMA_3 = {"factor": 5.0, "low_freq_factor": 0.5, "high_freq_factor": 2.5, "original_max_position_embeddings": 13}


def said(**config: Any) -> Gpt:
    return FAMILIES["llama"].read({"hidden_size": 64, "num_attention_heads": 4, **config}, {}, "here").system


def test_rotary_settings_are_read_from_all_their_places() -> None:
    """New folders have one table, older ones a number and another table; the kind was once called "type"."""
    assert said().rotary_base == 10_000
    assert said(rope_theta=5e5).rotary_base == 5e5
    assert said(rope_parameters={"rope_type": "default", "rope_theta": 77}).rotary_base == 77.0
    assert said(rope_theta=5e5, rope_scaling=None).rotary_factor == 1
    linear = said(rope_theta=5e5, rope_scaling={"type": "linear", "factor": 2.0})
    assert (linear.rotary_base, linear.rotary_factor, linear.rotary_context) == (5e5, 2.0, 0)
    assert said(rope_scaling={"type": "linear", "factor": 1.0}).rotary_factor == 1
    for key in ("rope_scaling", "rope_parameters"):
        found = said(rope_theta=50.0, **{key: {"rope_type": "llama3", **LLAMA_3}})
        assert (found.rotary_base, found.rotary_factor, found.rotary_context) == (50.0, 5.0, 13)
        assert (found.rotary_low, found.rotary_high) == (0.5, 2.5)


@pytest.mark.parametrize(
    ("kind", "changes", "words"),
    [
        ("llama", {"rope_scaling": {"type": "yarn"}}, "rope_type = 'yarn' is not supported; known: default, linear"),
        ("llama", {"rope_scaling": {"type": "dynamic", "factor": 2.0}}, "rope_type = 'dynamic' is not supported"),
        ("llama", {"rope_parameters": [1]}, "rope_parameters = [1] is not supported"),
        ("llama", {"rope_parameters": {"rope_type": "llama3"}}, "rotary_factor: None is not a number"),
        ("llama", {"rope_parameters": {"rope_theta": -1.0}}, "system.rotary_base = -1.0; it must be more than 1"),
        ("llama", {"partial_rotary_factor": 0.5}, "partial_rotary_factor = 0.5 is not supported"),
        ("llama", {"rope_parameters": {"partial_rotary_factor": 0.5}}, "partial_rotary_factor = 0.5 is not supported"),
        ("llama", {"hidden_act": "relu"}, "hidden_act = 'relu' is not supported; known: silu"),
        ("llama", {"num_key_value_heads": 5}, "cannot share 5 key-value heads evenly"),
        ("mistral", {}, "sliding_window = 4096 is not supported"),
        ("mistral", {"sliding_window": 7}, "sliding_window = 7 is not supported"),
        ("qwen2", {"use_sliding_window": True}, "use_sliding_window = True is not supported"),
    ],
)
def test_what_ours_cannot_be_is_refused(kind: str, changes: dict[str, Any], words: str) -> None:
    with refused(words):
        system = FAMILIES[kind].read({"hidden_size": 64, "num_attention_heads": 4, **changes}, {}, "here").system
        system.build(11)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"position": "alibi"}, "llama: system.position = 'alibi' cannot be said there, only 'rotary'"),
        ({"normalizer": "layer"}, "llama: system.normalizer = 'layer' cannot be said there, only 'rms'"),
        ({"feedforward": "relu"}, "system.feedforward = 'relu' cannot be said there"),
        ({"bias": True, "bias_at": "heads"}, "llama: system.bias_at = 'heads' cannot be said there, only 'attention'"),
        ({"width": 14, "heads": 4, "head_width": 6}, "llama: system.width = 14 does not split into 4 heads"),
    ],
)
def test_what_theirs_cannot_be_is_not_exported(settings: dict[str, Any], words: str) -> None:
    usual = {"position": "rotary", "normalizer": "rms", "feedforward": "swiglu", "bias": False, "dropout": 0.0}
    with refused(words):
        FAMILIES["llama"].config(Model(Gpt(**{**usual, **settings}), NextToken()), 11)


def test_tables_of_angles_are_left_alone_and_norms_of_queries_are_not(tmp_path: Path) -> None:
    theirs = CASES["llama"].write(tmp_path / "there")
    path = tmp_path / "there" / "model.safetensors"
    tensors = load_file(path)
    old = {f"model.layers.{layer}.self_attn.rotary_emb.inv_freq": torch.zeros(3) for layer in range(2)}
    save_file({**tensors, **old}, path)
    found = import_model(tmp_path / "there", tmp_path / "run")
    same(found.model.decode(TOKENS), theirs(TOKENS).logits, rtol=0, atol=1e-4)
    save_file({**tensors, "model.layers.0.self_attn.q_norm.weight": torch.zeros(6)}, path)
    with refused("tensor 'model.layers.0.self_attn.q_norm.weight' is unused"):
        import_model(tmp_path / "there", tmp_path / "other")


def test_beside_their_library(tmp_path: Path) -> None:
    """Which reads the same pieces by rules of its own."""
    CASES["llama"].write(tmp_path / "there")
    told = {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True}  # versions differ where it is not said
    (tmp_path / "there" / "tokenizer_config.json").write_text(json.dumps(told))
    import_model(tmp_path / "there", tmp_path / "run")
    found = compare(load(tmp_path / "run"), tmp_path / "there")
    assert found.passed, found.said


def template(*names: str) -> dict[str, Any]:
    single = [
        *({"SpecialToken": {"id": name, "type_id": 0}} for name in names),
        {"Sequence": {"id": "A", "type_id": 0}},
    ]
    ids = {name: {"id": name, "ids": [number], "tokens": [name]} for number, name in enumerate(names)}
    return {"type": "TemplateProcessing", "single": single, "pair": single, "special_tokens": ids}


@pytest.mark.parametrize(
    ("processor", "opens"),
    [
        (None, False),
        ({"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}, False),
        (template(), False),
        (template("<|begin_of_text|>"), True),
        ({"type": "Sequence", "processors": [template("<|begin_of_text|>")]}, True),
    ],
    ids=["none", "bytes", "nothing", "begin", "inside"],
)
def test_the_tokenizer_says_whether_texts_are_opened(processor: Any, opens: bool, tmp_path: Path) -> None:
    """Llama 3 opens them, SmolLM does not, and `add_bos_token` says nothing beside a whole tokenizer."""
    CASES["llama-3"].write(tmp_path / "there")
    changed(tmp_path / "there", "tokenizer.json", post_processor=processor)
    changed(tmp_path / "there", "tokenizer_config.json", add_bos_token=not opens)
    tokenizer = import_model(tmp_path / "there", tmp_path / "run").tokenizer
    assert (tokenizer.start, tokenizer.end, tokenizer.pad, tokenizer.unknown) == (0, 1, 1, -1)
    assert tokenizer.begun([7]) == ([0, 7] if opens else [7])
    for wrong in ([1], {"type": "TemplateProcessing"}, {"processors": 7}):
        changed(tmp_path / "there", "tokenizer.json", post_processor=wrong)
        with refused("tokenizer.json is damaged: its post_processor is none"):
            import_model(tmp_path / "there", tmp_path / "other")


@pytest.mark.parametrize(("said", "opens"), [({}, True), ({"add_bos_token": False}, False)])
def test_pieces_open_texts_unless_told(said: dict[str, Any], opens: bool, tmp_path: Path) -> None:
    CASES["llama"].write(tmp_path / "there")
    (tmp_path / "there" / "tokenizer_config.json").write_text(json.dumps(said))
    tokenizer = import_model(tmp_path / "there", tmp_path / "run").tokenizer
    assert tokenizer.begun([7]) == ([1, 7] if opens else [7])


@pytest.fixture(scope="module")
def cutters(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tokenizer, sentencepiece.SentencePieceProcessor]:
    folder = tmp_path_factory.mktemp("pieces")
    CASES["llama"].write(folder / "there")
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(folder / "there" / "tokenizer.model"))
    return import_model(folder / "there", folder / "run").tokenizer, theirs


PARTS = [
    "The",
    "chick",
    "cross",
    "apple",
    "to",
    "o",
    "ooo",
    " ",
    "  ",
    "\n",
    "\t",
    "'",
    "é",
    "東",
    "<s>",
    "<0x41>",
    "▁",
    ".",
]


@steady
@given(st.lists(st.sampled_from(PARTS), max_size=17).map("".join))
def test_any_text_is_cut_as_by_sentencepiece(cutters: tuple[Tokenizer, Any], text: str) -> None:
    """Byte pairs with scores; what is not in the vocabulary is written as its bytes."""
    mine, theirs = cutters
    ids = mine.encode(text)
    assert ids == theirs.encode(text)
    assert mine.decode(ids) == theirs.decode(ids)


def test_the_preset_is_one_of_them(tmp_path: Path) -> None:
    tree = read("llama").to_dict()
    (tmp_path / "notes.txt").write_text("The dog sees the cat, and the cat sees the dog.\n" * 60)
    tree["data"] = {"train": str(tmp_path / "notes.txt")}
    tree["text"]["vocabulary"] = 270
    tree["system"] |= {"width": 24, "hidden": 37, "depth": 2}
    tree["train"] |= {"steps": 2, "warmup": 1, "batch_tokens": 256, "threads": 1, "device": "cpu"}
    run = load(train(Recipe.parse(tree, where="llama"), tmp_path / "run", quiet=True))
    found = export_model(run.path, tmp_path / "out")
    assert (found.kind, found.compared.passed) == ("llama", True)
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path / "out").eval()
    same(run.model.decode(TOKENS), theirs(TOKENS).logits, rtol=0, atol=1e-4)
