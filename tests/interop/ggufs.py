"""Tiny GGUF files, written by the package `gguf` with the numbers of models of `transformers`."""

import json
from pathlib import Path
from typing import Any

import gguf
import sentencepiece
from tokenizers import Tokenizer as Backend
from torch import nn

from tests.interop.cases import CASES
from tests.interop.test_llama2c import neighbours

NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "model.layers": "blk",
}


def spelt(name: str) -> str:
    for theirs, there in NAMES.items():
        name = name.replace(theirs, there)
    return name


def started(path: Path, model: nn.Module, arch: str) -> gguf.GGUFWriter:
    """A file with the sizes of a model."""
    config, writer = model.config, gguf.GGUFWriter(path, arch)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    each = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_key_length(each)
    writer.add_value_length(each)
    writer.add_rope_dimension_count(each)
    return writer


def finished(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def put(writer: gguf.GGUFWriter, model: nn.Module, arch: str, kind: str = "F32") -> None:
    """The tensors; matrices in blocks of this kind."""
    config, state = model.config, model.state_dict()
    if config.tie_word_embeddings:
        state.pop("lm_head.weight")
    for name, tensor in state.items():
        if arch == "llama" and ("q_proj" in name or "k_proj" in name):
            tensor = neighbours(tensor, config.num_attention_heads if "q_proj" in name else config.num_key_value_heads)
        how = gguf.GGMLQuantizationType[kind if tensor.ndim > 1 else "F32"]
        packed = gguf.quants.quantize(tensor.numpy(), how)
        writer.add_tensor(spelt(name), packed, raw_dtype=how)


def put_pieces(writer: gguf.GGUFWriter, folder: Path) -> sentencepiece.SentencePieceProcessor:
    cutter = sentencepiece.SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))
    numbers = range(cutter.get_piece_size())
    kinds = [
        2 if cutter.is_unknown(i) else 3 if cutter.is_control(i) else 6 if cutter.is_byte(i) else 1 for i in numbers
    ]
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([cutter.id_to_piece(i) for i in numbers])
    writer.add_token_scores([cutter.get_score(i) for i in numbers])
    writer.add_token_types(kinds)
    writer.add_bos_token_id(cutter.bos_id())
    writer.add_eos_token_id(cutter.eos_id())
    writer.add_unk_token_id(cutter.unk_id())
    return cutter


def put_pairs(writer: gguf.GGUFWriter, folder: Path, pre: str, rows: int) -> Backend:
    """The byte pairs of a folder; rows without a token are filled up, as converters do."""
    tree = json.loads((folder / "tokenizer.json").read_text())
    special = {token["content"] for token in tree["added_tokens"]}
    tokens = sorted(tree["model"]["vocab"], key=tree["model"]["vocab"].get)
    more = [f"[PAD{number}]" for number in range(len(tokens), rows)]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list([*tokens, *more])
    writer.add_token_types([3 if token in special else 1 for token in tokens] + [5] * len(more))
    writer.add_token_merges([" ".join(pair) for pair in tree["model"]["merges"]])
    return Backend.from_file(str(folder / "tokenizer.json"))


def llama(folder: Path, kind: str = "F32", **more: Any) -> nn.Module:
    """A file of Llama 2's kind."""
    model = CASES["llama"].write(folder)
    writer = started(folder / "small.gguf", model, "llama")
    for name, value in more.items():
        getattr(writer, name)(value)
    put_pieces(writer, folder)
    put(writer, model, "llama", kind)
    finished(writer)
    return model
