"""GGUF files, written here by the package `gguf` with the numbers of models of `transformers`."""

import inspect
import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import sentencepiece
import torch
from tokenizers import Tokenizer as Backend
from torch import nn
from transformers import Qwen2Tokenizer
from transformers.convert_slow_tokenizer import TikTokenConverter

from regard.checkpoint import load
from regard.interop import export_model, import_model
from regard.interop.files.gguf import Gguf
from tests.helpers import refused, same
from tests.interop.cases import CASES
from tests.interop.ggufs import finished, llama, put, put_pairs, put_pieces, started


def check(run: Any, theirs: nn.Module, near: float = 1e-4) -> None:
    tokens = torch.randint(len(run.tokenizer), (3, 17), generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        same(run.model.decode(tokens), theirs(tokens).logits, rtol=0, atol=near)


def test_a_llama_of_pieces(tmp_path: Path) -> None:
    theirs = llama(tmp_path)
    found = import_model(tmp_path / "small.gguf", tmp_path / "run")
    run = load(tmp_path / "run")
    assert (found.about["kind"], found.about["remarks"], found.about["left_out"]) == ("llama", [], [])
    assert (run.recipe.system.epsilon, run.recipe.system.tied) == (1e-6, False)
    check(run, theirs)
    cutter = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "tokenizer.model"))
    for text in ("The chicken", " two  blanks ", "it\nwas <s> too 東京", "é</s>"):
        assert run.tokenizer.encode(text) == cutter.encode(text)
    assert (run.tokenizer.start, run.tokenizer.end, run.tokenizer.unknown) == (1, 2, 0)
    assert run.tokenizer.begun([7]) == [1, 7]
    assert export_model(run.path, tmp_path / "out").kind == "llama"


@pytest.mark.parametrize("case", ["llama-biased", "llama-mlp", "mistral"])
def test_other_llamas(case: str, tmp_path: Path) -> None:
    """Biases, heads of a width of their own, an output that is that of the words."""
    theirs = CASES[case].write(tmp_path)
    writer = started(tmp_path / "small.gguf", theirs, "llama")
    if case == "llama-biased":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(2.5)
    put_pieces(writer, tmp_path)
    put(writer, theirs, "llama")
    finished(writer)
    import_model(tmp_path / "small.gguf", tmp_path / "run")
    check(load(tmp_path / "run"), theirs)


def test_a_qwen2_of_pairs(tmp_path: Path) -> None:
    theirs = CASES["qwen2"].write(tmp_path)
    writer = started(tmp_path / "small.gguf", theirs, "qwen2")
    put_pairs(writer, tmp_path, "qwen2", theirs.config.vocab_size)
    writer.add_eos_token_id(0)
    put(writer, theirs, "qwen2")
    finished(writer)
    found = import_model(tmp_path / "small.gguf", tmp_path / "run")
    run = load(tmp_path / "run")
    assert (found.about["kind"], run.recipe.system.bias_at) == ("qwen2", "heads")
    check(run, theirs)
    assert run.tokenizer.begun([7]) == [7]
    assert (run.tokenizer.start, run.tokenizer.end, run.tokenizer.unknown) == (0, 0, -1)
    assert export_model(run.path, tmp_path / "out").kind == "qwen2"


def test_llama_3_divides_its_angles(tmp_path: Path) -> None:
    """The file has what each angle is divided by, and not how that was found."""
    case = CASES["llama-3"]
    scaling = {"rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    settings = {**case.settings, "head_dim": 32}
    settings["rope_parameters"] = {**scaling, "original_max_position_embeddings": 8192}
    theirs = type(case)(case.kind, settings, case.tokenizer, case.more).write(tmp_path)
    plain = 5e5 ** (-torch.arange(0, 32, 2) / 32)
    divided = plain / theirs.model.rotary_emb.inv_freq
    assert 1 < len(set(divided.round(decimals=3).tolist())) <= 16

    def written(divided: torch.Tensor) -> Path:
        writer = started(tmp_path / "small.gguf", theirs, "llama")
        put_pairs(writer, tmp_path, "llama-bpe", theirs.config.vocab_size)
        writer.add_bos_token_id(0)
        writer.add_eos_token_id(1)
        writer.add_tensor("rope_freqs.weight", divided.float().numpy())
        put(writer, theirs, "llama")
        finished(writer)
        return tmp_path / "small.gguf"

    import_model(written(divided), tmp_path / "run")
    run = load(tmp_path / "run")
    assert (run.recipe.system.rotary_factor, run.recipe.system.rotary_context) == (8.0, 8192)
    check(run, theirs)
    assert run.tokenizer.begun([7]) == [0, 7]
    with refused("'rope_freqs.weight' divides angles otherwise than Llama 3 does: not supported"):
        import_model(written(divided + 0.1), tmp_path / "other")
    import_model(written(torch.ones(16)), tmp_path / "undivided")
    assert load(tmp_path / "undivided").recipe.system.rotary_factor == 1


@pytest.mark.parametrize("kind", ["F16", "BF16", "Q8_0", "Q4_0"])
def test_numbers_in_few_bits_are_made_float32(kind: str, tmp_path: Path) -> None:
    """The same as a model whose matrices were rounded by the package `gguf`."""
    case = CASES["llama"]
    sizes = {"hidden_size": 64, "intermediate_size": 96}
    theirs = type(case)(case.kind, {**case.settings, **sizes}, case.tokenizer).write(tmp_path)
    writer = started(tmp_path / "small.gguf", theirs, "llama")
    put_pieces(writer, tmp_path)
    put(writer, theirs, "llama", kind)
    finished(writer)
    found = import_model(tmp_path / "small.gguf", tmp_path / "run")
    assert found.about["remarks"] == [f"tensors there: 16 of {kind}, 5 of F32; here all are float32"]
    how = gguf.GGMLQuantizationType[kind]
    with torch.no_grad():
        for parameter in theirs.parameters():
            if parameter.ndim > 1:
                packed = gguf.quants.quantize(parameter.numpy(), how)
                parameter.copy_(torch.from_numpy(gguf.quants.dequantize(packed, how)))
    check(load(tmp_path / "run"), theirs)


WORDS = {
    "gpt-2": ["x", "Ġ12345", "ĠIT", "'", "S"],
    "llama-bpe": ["x", "Ġ", "123", "45", "ĠIT", "'S"],
    "default": ["x", "Ġ12345", "ĠIT", "'", "S"],
    "smollm": ["x", "Ġ", "1", "2", "3", "4", "5", "ĠIT", "'", "S"],
    "qwen2": ["x", "Ġ", "1", "2", "3", "4", "5", "ĠIT", "'S"],
}
TEXTS = (
    "Déjà vu: the café's naïve façade cost $1,234.50.",
    "it's 12345 IT'S  two\n\n three \t x\r\n",
    "東京 and Zürich <|endoftext|>",
    "chicken didn't CROSS'll",
)


def cut_there(pre: str, tree: dict[str, Any]) -> Backend:
    """The same byte pairs, cut by the rules that stand in `transformers`."""
    if pre == "qwen2":
        pairs = [tuple(pair) for pair in tree["model"]["merges"]]
        return Qwen2Tokenizer(vocab=tree["model"]["vocab"], merges=pairs)._tokenizer
    if pre == "llama-bpe":
        pattern = inspect.signature(TikTokenConverter).parameters["pattern"].default
        split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
        level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
        tree["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split, level]}
        tree["model"]["ignore_merges"] = True
    if pre == "smollm":
        digits = {"type": "Digits", "individual_digits": True}
        tree["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [digits, tree["pre_tokenizer"]]}
    return Backend.from_str(json.dumps(tree))


@pytest.mark.parametrize("pre", WORDS)
def test_text_is_cut_as_by_their_tokenizers(pre: str, tmp_path: Path) -> None:
    theirs = CASES["qwen2"].write(tmp_path)
    writer = started(tmp_path / "small.gguf", theirs, "qwen2")
    backend = put_pairs(writer, tmp_path, pre, theirs.config.vocab_size)
    writer.add_eos_token_id(0)
    put(writer, theirs, "qwen2")
    finished(writer)
    found = import_model(tmp_path / "small.gguf", tmp_path / "run")
    told = ["the file does not say how text is cut; here as GPT-2 does"]
    assert found.about["remarks"] == (told if pre == "default" else [])
    tokenizer = found.tokenizer
    backend = cut_there(pre, json.loads(backend.to_str()))
    backend.encode_special_tokens = True
    for text in TEXTS:
        assert tokenizer.encode(text) == backend.encode(text, add_special_tokens=False).ids, text
        assert tokenizer.decode(tokenizer.encode(text)) == text
    words = [piece for piece, _ in tokenizer.backend.pre_tokenizer.pre_tokenize_str("x 12345 IT'S")]
    assert words == WORDS[pre]


def test_settings_are_as_the_package_reads_them(tmp_path: Path) -> None:
    llama(tmp_path)
    file, theirs = Gguf.open(tmp_path / "small.gguf"), gguf.GGUFReader(tmp_path / "small.gguf")
    for name, field in theirs.fields.items():
        if not name.startswith("GGUF."):
            assert file.settings[name] == pytest.approx(field.contents()), name
    assert list(file.stored) == [tensor.name for tensor in theirs.tensors]
    for (_, mine), tensor in zip(file.tensors(), theirs.tensors, strict=True):
        assert np.array_equal(mine.numpy(), tensor.data)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"add_rope_scaling_type": gguf.RopeScalingType.YARN}, "llama.rope.scaling.type = 'yarn' is not supported"),
        ({"add_sliding_window": 7}, "llama.attention.sliding_window = 7 is not supported"),
        ({"add_expert_count": 8}, "llama.expert_count = 8 is not supported"),
        ({"add_logit_scale": 0.5}, "llama.logit_scale = 0.5 is not supported"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_what_ours_cannot_be_is_refused(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    llama(tmp_path, **changes)
    with refused(words):
        import_model(tmp_path / "small.gguf", tmp_path / "run")


def test_cut_short_anywhere_it_is_refused(tmp_path: Path) -> None:
    llama(tmp_path)
    path, bad = tmp_path / "small.gguf", tmp_path / "bad.gguf"
    content = path.read_bytes()
    for size in [*range(4, 900, 37), *range(900, len(content), 9973), len(content) - 1]:
        bad.write_bytes(content[:size])
        with refused("bad.gguf is damaged"):
            Gguf.open(bad)


def test_a_file_is_found_in_its_folder_and_by_its_first_bytes(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    llama(tmp_path / "made")
    content = (tmp_path / "made" / "small.gguf").read_bytes()
    (tmp_path / "there" / "other.gguf").write_bytes(content)
    (tmp_path / "without-ending").write_bytes(content)
    first = import_model(tmp_path / "there", tmp_path / "a").about["content"]
    assert import_model(tmp_path / "without-ending", tmp_path / "b").about["content"] == first
