"""GPT-2 as Hugging Face has it (S9). Its matrices are turned, and one of them makes queries, keys and values."""

from collections.abc import Mapping
from dataclasses import replace

from regard.interop.family import Config, Family, Model, Spelling, dropouts, settings
from regard.interop.names import FUSED, TURNED, Line, Table
from regard.interop.tokens import Symbols
from regard.objectives import NextToken
from regard.shapes import Tensor
from regard.systems.gpt import Gpt

SPELLING = Spelling(
    sizes={
        "width": ("n_embd", 768),
        "heads": ("n_head", 12),
        "depth": ("n_layer", 12),
        "hidden": ("n_inner", None),
        "context": ("n_positions", 1024),
        "epsilon": ("layer_norm_epsilon", 1e-5),
        "dropout": ("resid_pdrop", 0.1),
        "tied": ("tie_word_embeddings", True),
    },
    words={
        "feedforward": (
            "activation_function",
            "gelu_new",
            {"gelu_new": "gelu-tanh", "gelu_pytorch_tanh": "gelu-tanh", "gelu": "gelu", "relu": "relu", "silu": "silu"},
        ),
    },
    only={
        "scale_attn_weights": (True,),
        "scale_attn_by_inverse_layer_idx": (False,),
        "reorder_and_upcast_attn": (False, True),  # the same numbers, more exactly
        "add_cross_attention": (False,),
    },
)
BLOCK = "decoder.blocks.{}."
LINES = (
    Line("transformer.wte", "decoder.embedding.rows"),
    Line("transformer.wpe", "decoder.embedding.position.table.rows"),
    Line("transformer.h.{}.ln_1", BLOCK + "around_attention.norm"),
    Line(
        "transformer.h.{}.attn.c_attn",
        (BLOCK + "attention.to_query", BLOCK + "attention.to_key", BLOCK + "attention.to_value"),
        TURNED.then(FUSED),
    ),
    Line("transformer.h.{}.attn.c_proj", BLOCK + "attention.output", TURNED),
    Line("transformer.h.{}.ln_2", BLOCK + "around_feedforward.norm"),
    Line("transformer.h.{}.mlp.c_fc", BLOCK + "feedforward.widen", TURNED),
    Line("transformer.h.{}.mlp.c_proj", BLOCK + "feedforward.output", TURNED),
    Line("transformer.ln_f", "decoder.norm"),
    Line("lm_head", "output.rows"),
)
END = "<|endoftext|>"
TIED = {"lm_head.weight": "transformer.wte.weight"}
IDLE = ("*h.*.attn.bias", "*h.*.attn.masked_bias")  # the causal mask
TABLE = Table(LINES, "decoder.embedding.rows.weight", tied=TIED, idle=IDLE, prefix="transformer.")


def read(config: Config, tensors: Mapping[str, Tensor], where: str) -> Model:
    values = SPELLING.read(config, where)
    system = settings(Gpt, {**values, "hidden": values["hidden"] or 0}, where)
    return Model(replace(system, hidden=system.hidden or 4 * system.width), NextToken())


def write(model: Model, vocabulary: int) -> Config:
    p = model.system.dropout
    return {**SPELLING.write(model.system), "vocab_size": vocabulary, "embd_pdrop": p, "attn_pdrop": p}


FAMILY = Family(
    kind="gpt2",
    system=Gpt,
    read=read,
    write=write,
    table=lambda system: TABLE,
    class_of=lambda objective: "GPT2LMHeadModel",
    symbols=Symbols(
        start=("bos_token", END), end=("eos_token", END), unknown=("unk_token", ""), opens=False, merges=True
    ),
    remarks=lambda config: dropouts(config, config.get("resid_pdrop", 0.1), "embd_pdrop", "attn_pdrop"),
)
