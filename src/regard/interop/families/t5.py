"""T5 as Hugging Face has it (S10), versions 1.0 and 1.1. What is written begins with the padding.

Every task is answered by writing text, so it is a translator; with its sentinels it fills gaps too. Version 1.1 has an
output of its own. A file may leave it out where it is the word vectors, not made smaller.
"""

from collections.abc import Mapping

from regard.interop.family import Config, Family, Model, Spelling, as_deep, settings
from regard.interop.names import Line, Table
from regard.interop.tokens import Symbols
from regard.objectives import Translation
from regard.shapes import Tensor
from regard.systems.t5 import T5

SPELLING = Spelling(
    sizes={
        "width": ("d_model", 512),
        "head_width": ("d_kv", 64),
        "hidden": ("d_ff", 2048),
        "heads": ("num_heads", 8),
        "depth": ("num_layers", 6),
        "decoder_depth": ("num_decoder_layers", None),
        "context": ("n_positions", 512),
        "epsilon": ("layer_norm_epsilon", 1e-6),
        "dropout": ("dropout_rate", 0.1),
    },
    words={
        "feedforward": (
            "feed_forward_proj",
            "relu",
            {
                "relu": "relu",
                "gated-gelu": "geglu",
                "gated-silu": "swiglu",
                "gelu": "gelu",
                "gelu_new": "gelu-tanh",
                "silu": "silu",
            },
        )
    },
    only={"relative_attention_num_buckets": (32,), "relative_attention_max_distance": (128,)},
)
OUTPUT, WORDS = "lm_head.weight", "shared.weight"
IDLE = ("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",)


def stack(side: str) -> tuple[Line, ...]:
    layer, block = side + ".block.{}.layer.", side + ".blocks.{}."
    last = 2 if side == "decoder" else 1
    across = looks(layer + "1.", "EncDecAttention", block + "cross", block + "around_cross")
    return (
        *looks(layer + "0.", "SelfAttention", block + "attention", block + "around_attention"),
        *(across if side == "decoder" else ()),
        Line(f"{layer}{last}.DenseReluDense.wo", block + "feedforward.output"),
        Line(f"{layer}{last}.layer_norm", block + "around_feedforward.norm"),
        Line(side + ".block.0.layer.0.SelfAttention.relative_attention_bias", side + ".embedding.position.rows"),
        Line(side + ".final_layer_norm", side + ".norm.{}"),
    )


def looks(layer: str, name: str, ours: str, around: str) -> tuple[Line, ...]:
    return (
        Line(f"{layer}{name}.q", ours + ".to_query"),
        Line(f"{layer}{name}.k", ours + ".to_key"),
        Line(f"{layer}{name}.v", ours + ".to_value"),
        Line(f"{layer}{name}.o", ours + ".output"),
        Line(f"{layer}layer_norm", around + ".norm"),
    )


def think(side: str, gated: bool) -> tuple[Line, ...]:
    theirs = f"{side}.block.{{}}.layer.{2 if side == 'decoder' else 1}.DenseReluDense."
    ours = side + ".blocks.{}.feedforward."
    if not gated:
        return (Line(theirs + "wi", ours + "widen"),)
    return Line(theirs + "wi_0", ours + "gate"), Line(theirs + "wi_1", ours + "widen")


def table(system: T5) -> Table:
    gated = system.feedforward in ("geglu", "swiglu")
    sides = [line for side in ("encoder", "decoder") for line in (*stack(side), *think(side, gated))]
    lines = (Line("shared", "decoder.embedding.rows"), Line("lm_head", "output.rows"), *sides)
    names = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", *((OUTPUT,) if system.tied else ()))
    same = {} if system.tied else {OUTPUT: WORDS}
    return Table(lines, "decoder.embedding.rows.weight", tied=dict.fromkeys(names, WORDS), idle=IDLE, same=same)


def read(config: Config, tensors: Mapping[str, Tensor], where: str) -> Model:
    values = SPELLING.read(config, where)
    values["tied"] = bool(config.get("scale_decoder_outputs", config.get("tie_word_embeddings") is not False))
    values["decoder_depth"] = as_deep(values["decoder_depth"], values["depth"])
    return Model(settings(T5, values, where), Translation(smoothing=0.0))


def write(model: Model, vocabulary: int) -> Config:
    tied = model.system.tied
    said = {**SPELLING.write(model.system), "vocab_size": vocabulary}
    return said | {"tie_word_embeddings": tied, "scale_decoder_outputs": tied}


FAMILY = Family(
    kind="t5",
    system=T5,
    read=read,
    write=write,
    table=table,
    class_of=lambda objective: "T5ForConditionalGeneration",
    symbols=Symbols(start=("decoder_start_token_id", "<pad>"), sentinels=100),
)
