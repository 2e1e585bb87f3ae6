"""Models of llama2.c: files that are written here, byte by byte, with the numbers of a Llama of `transformers`."""

import struct
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM

from regard.checkpoint import load
from regard.cli.app import app
from regard.interop import export_model, import_model
from regard.interop.formats.llama2c import fits
from tests.helpers import refused, same
from tests.interop.cases import pieces

SIZES = {"width": 24, "hidden": 37, "depth": 2, "heads": 4, "groups": 2, "context": 41}


def model(rows: int, *, tied: bool) -> LlamaForCausalLM:
    torch.manual_seed(7)
    made = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=rows,
            hidden_size=24,
            intermediate_size=37,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=41,
            rms_norm_eps=1e-5,
            tie_word_embeddings=tied,
        )
    ).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter += 0.2 * torch.randn_like(parameter)
    return made


def neighbours(weight: Tensor, heads: int) -> Tensor:
    """Row i of a head and the one half a head further on, side by side."""
    each, rows = len(weight) // heads, []
    for head in range(heads):
        for i in range(each // 2):
            rows += [weight[head * each + i], weight[head * each + each // 2 + i]]
    return torch.stack(rows)


def content(made: LlamaForCausalLM, version: int) -> bytes:
    """The file of a model, as the program that wrote llama2.c's own has it."""
    layers, own = made.model.layers, not made.config.tie_word_embeddings
    rows = made.config.vocab_size
    parts = {
        "norms": [layer.input_layernorm.weight for layer in layers],
        "query": [neighbours(layer.self_attn.q_proj.weight, 4) for layer in layers],
        "key": [neighbours(layer.self_attn.k_proj.weight, 2) for layer in layers],
        "value": [layer.self_attn.v_proj.weight for layer in layers],
        "output": [layer.self_attn.o_proj.weight for layer in layers],
        "later": [layer.post_attention_layernorm.weight for layer in layers],
        "w1": [layer.mlp.gate_proj.weight for layer in layers],
        "w2": [layer.mlp.down_proj.weight for layer in layers],
        "w3": [layer.mlp.up_proj.weight for layer in layers],
        "words": [made.model.embed_tokens.weight],
        "last": [made.model.norm.weight],
        "angles": [torch.full((2, 41, 3), 77.0)],
        "head": [made.lm_head.weight] if own else [],
    }
    matrices = ["query", "key", "value", "output"]
    if version == 0:
        order = ["words", "norms", *matrices, "later", "w1", "w2", "w3", "last", "angles", "head"]
        header = struct.pack("<7i", 24, 37, 2, 4, 2, -rows if own else rows, 41)
    else:
        order = ["norms", "later", "last", "words", *matrices, "w1", "w2", "w3", "head"]
        header = struct.pack("<Ii7iB", 0x616B3432, 1, 24, 37, 2, 4, 2, rows, 41, not own).ljust(256, b"\0")
    numbers = [tensor.detach().numpy().astype("<f4").tobytes() for part in order for tensor in parts[part]]
    return header + b"".join(numbers)


def vocabulary(folder: Path, name: str = "tokenizer.bin") -> sentencepiece.SentencePieceProcessor:
    """Pieces and scores as llama2.c keeps them, and what they were taken from."""
    pieces(folder)
    cutter = sentencepiece.SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))
    (folder / "tokenizer.model").unlink()
    written = [struct.pack("<i", 27)]
    for number in range(cutter.get_piece_size()):
        piece = cutter.id_to_piece(number)
        spelt = f"\n{piece}\n" if number in (1, 2) else piece.replace("▁", " ")
        written.append(struct.pack("<fi", cutter.get_score(number), len(spelt.encode())) + spelt.encode())
    (folder / name).write_bytes(b"".join(written))
    return cutter


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
@pytest.mark.parametrize("version", [0, 1])
@torch.no_grad()
def test_it_says_what_the_same_numbers_say_in_transformers(tmp_path: Path, version: int, tied: bool) -> None:
    cutter = vocabulary(tmp_path)
    theirs = model(cutter.get_piece_size(), tied=tied)
    (tmp_path / "small.bin").write_bytes(content(theirs, version))
    found = import_model(tmp_path / "small.bin", tmp_path / "run")
    run = load(tmp_path / "run")
    assert found.about["left_out"] == []
    assert {name: getattr(run.recipe.system, name) for name in SIZES} == SIZES
    assert run.recipe.system.tied is tied
    tokens = torch.randint(len(run.tokenizer), (3, 17), generator=torch.Generator().manual_seed(3))
    same(run.model.decode(tokens), theirs(tokens).logits, rtol=0, atol=1e-4)
    cache = run.model.start(3, 17)
    steps = [run.model.decode(tokens[:, i : i + 1], None, cache) for i in range(17)]
    same(torch.cat(steps, 1), theirs(tokens).logits, rtol=0, atol=1e-4)
    exported = export_model(run.path, tmp_path / "there")
    assert exported.kind == "llama"
    again = LlamaForCausalLM.from_pretrained(tmp_path / "there")
    same(again(tokens).logits, theirs(tokens).logits, rtol=0, atol=1e-5)


def test_text_is_cut_as_sentencepiece_cuts_it_and_ends_with_the_start_symbol(tmp_path: Path) -> None:
    cutter = vocabulary(tmp_path)
    (tmp_path / "small.bin").write_bytes(content(model(cutter.get_piece_size(), tied=True), 0))
    tokenizer = import_model(tmp_path, tmp_path / "run").tokenizer
    for text in ("The chicken", " two  blanks ", "it\nwas <s> too 東京", "", "é</s>"):
        assert tokenizer.encode(text) == cutter.encode(text), text
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert (tokenizer.start, tokenizer.end, tokenizer.pad, tokenizer.unknown) == (1, 1, 1, 0)
    assert tokenizer.begun([7]) == [1, 7]


@pytest.mark.parametrize("name", ["tokenizer.bin", "tok330.bin", "tok9.bin", "words.bin", "tokenizer.model"])
def test_the_vocabulary_beside_it(tmp_path: Path, name: str) -> None:
    cutter = pieces(tmp_path) if name.endswith("model") else vocabulary(tmp_path, name).get_piece_size()
    (tmp_path / "small.bin").write_bytes(content(model(cutter, tied=True), 0))
    found = import_model(tmp_path / "small.bin", tmp_path / "run")
    assert set(found.about["files"]) == {"small.bin", name}


def test_without_a_vocabulary_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "small.bin").write_bytes(content(model(330, tied=True), 0))
    with refused("has no vocabulary for small.bin: put tokenizer.bin or tokenizer.model there"):
        import_model(tmp_path / "small.bin", tmp_path / "run")


def test_a_folder_with_tensors_of_hugging_face_is_none_of_its(tmp_path: Path) -> None:
    for name in ("pytorch_model.bin", "pytorch_model-00001-of-00001.bin"):
        (tmp_path / "there").mkdir(exist_ok=True)
        (tmp_path / "there" / name).write_bytes(b"\x00" * 300)
        assert not fits(tmp_path / "there")
        with refused("has no config.json: it is no model to import"):
            import_model(tmp_path / "there", tmp_path / "run")
        (tmp_path / "there" / name).rename(tmp_path / "there" / "stories15M.bin")
        assert fits(tmp_path / "there")
        (tmp_path / "there" / "stories15M.bin").unlink()


def test_damaged_files_end_in_one_line(tmp_path: Path) -> None:
    rows = vocabulary(tmp_path).get_piece_size()
    path, good = tmp_path / "small.bin", content(model(rows, tied=True), 0)
    huge = struct.pack("<7i", *[2**31 - 1] * 7)
    for bad, words in (
        (good[:20], "small.bin ends in its header"),
        (good[:-4], f"small.bin has {len(good) - 4} bytes and a header of width 24, hidden 37, depth 2, heads 4"),
        (good + b"\0\0\0\0", "it is damaged, or no model of llama2.c"),
        (huge + good[28:], "and a header of width 2147483647"),
        (struct.pack("<7i", 24, 37, 2, 0, 2, rows, 41) + good[28:], "heads 0"),
        (struct.pack("<7i", 24, 37, -2, 4, 2, rows, 41) + good[28:], "depth -2"),
        (struct.pack("<Ii", 0x616B3432, 2) + good, "is of version 2 of llama2.c; 0 and 1, without quantisation"),
    ):
        path.write_bytes(bad)
        with refused(words):
            import_model(path, tmp_path / "run")
    path.write_bytes(good)
    spelt = (tmp_path / "tokenizer.bin").read_bytes()
    for bad, words in (
        (spelt[:-1], "tokenizer.bin is no vocabulary of llama2.c"),
        (spelt[:4] + struct.pack("<fi", 0.0, 2**31 - 1) + spelt[12:], "piece 0 has 2147483647 bytes"),
        (spelt[:4], "it has 0 pieces"),
        (spelt + struct.pack("<fi", 0.0, 1) + b"~", f"has {rows + 1} tokens, the model has a vector for {rows}"),
    ):
        (tmp_path / "tokenizer.bin").write_bytes(bad)
        with refused(words):
            import_model(path, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_there_is_nothing_to_check_it_against(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "small.bin").write_bytes(np.zeros(9, dtype="<f4").tobytes())
    with refused("has no config.json with a model_type; import it without"):
        app(["import", str(tmp_path / "small.bin"), "--out", str(tmp_path / "run"), "--check"])
