"""What families of translators share (S7): fairseq's names of their tensors, which others have taken over."""

from collections.abc import Mapping
from typing import Any

from regard.errors import UserError
from regard.interop.family import Config, Model, Spelling, as_deep, dropouts, settings
from regard.interop.names import ROW, Change, Line
from regard.objectives import Translation
from regard.shapes import Tensor
from regard.systems.transformer import Transformer

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "gelu_new": "gelu-tanh", "swish": "silu", "silu": "silu"}
SIZES: dict[str, tuple[str, Any]] = {
    "width": ("d_model", 1024),
    "heads": ("encoder_attention_heads", 16),
    "depth": ("encoder_layers", 12),
    "decoder_depth": ("decoder_layers", 12),
    "hidden": ("encoder_ffn_dim", 4096),
    "context": ("max_position_embeddings", 1024),
    "dropout": ("dropout", 0.1),
    "scaled": ("scale_embedding", False),
    "output_bias": ("output_bias", None),  # ours: there it is always there, and may be nothing but zeros
}
SPELLING = Spelling(
    SIZES,
    words={"feedforward": ("activation_function", "gelu", ACTIVATIONS)},
    only={"tie_word_embeddings": (True,), "normalize_before": (False,), "add_final_layer_norm": (False,)},
)
WORDS = "decoder.embedding.rows.weight"
BIAS = "final_logits_bias"
TIED = dict.fromkeys(
    ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"), "model.shared.weight"
)
HEAD = (Line("model.shared", "decoder.embedding.rows"), Line(BIAS, "output.rows.bias", ROW))


def body(prefix: str) -> tuple[Line, ...]:
    """The tensors of the layers."""
    return (*stack(f"{prefix}encoder", "encoder"), *stack(f"{prefix}decoder", "decoder"))


def stack(theirs: str, ours: str) -> tuple[Line, ...]:
    layer, block = theirs + ".layers.{}.", ours + ".blocks.{}."
    return (
        *looks(layer + "self_attn", block + "attention", block + "around_attention"),
        *looks(layer + "encoder_attn", block + "cross", block + "around_cross"),
        Line(layer + "fc1", block + "feedforward.widen"),
        Line(layer + "fc2", block + "feedforward.output"),
        Line(layer + "final_layer_norm", block + "around_feedforward.norm"),
        Line(theirs + ".layernorm_embedding", ours + ".embedding.norm"),
    )


def looks(theirs: str, ours: str, around: str) -> tuple[Line, ...]:
    return (
        Line(theirs + ".q_proj", ours + ".to_query"),
        Line(theirs + ".k_proj", ours + ".to_key"),
        Line(theirs + ".v_proj", ours + ".to_value"),
        Line(theirs + ".out_proj", ours + ".output"),
        Line(theirs + "_layer_norm", around + ".norm"),
    )


def places(prefix: str, change: Change) -> tuple[Line, ...]:
    """Learned positions, of which the first rows may be of no use."""
    return tuple(
        Line(f"{prefix}{side}.embed_positions", f"{side}.embedding.position.table.rows", change)
        for side in ("encoder", "decoder")
    )


def model_of(config: Config, tensors: Mapping[str, Tensor], where: str, **fixed: Any) -> Model:
    """A translator all of whose settings but the `fixed` ones are sizes or words."""
    values = {**SPELLING.read(config, where), **fixed}
    alike(config, {"decoder_attention_heads": values["heads"], "decoder_ffn_dim": values["hidden"]}, where)
    if values["output_bias"] is None:
        values["output_bias"] = BIAS in tensors
    values["decoder_depth"] = as_deep(values["decoder_depth"], values["depth"])
    return Model(settings(Transformer, values, where), Translation())


def alike(config: Config, wanted: Mapping[str, Any], where: str) -> None:
    """Settings of the decoder that must be those of the encoder here."""
    for name, value in wanted.items():
        if config.get(name, value) != value:
            raise UserError(f"{where}: {name} = {config[name]!r} and the encoder has {value!r}: not supported")


def written(model: Model, vocabulary: int) -> Config:
    system = model.system
    sizes = {"decoder_attention_heads": system.heads, "decoder_ffn_dim": system.hidden, "vocab_size": vocabulary}
    drops = dict.fromkeys(("attention_dropout", "activation_dropout"), system.dropout)
    return {**SPELLING.write(system), **sizes, **drops}


def remarks(config: Config) -> list[str]:
    return dropouts(config, config.get("dropout", 0.1), "attention_dropout", "activation_dropout")
