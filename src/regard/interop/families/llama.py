"""Llama and its like as Hugging Face has them (S9): Llama 2 and 3, SmolLM, Mistral, Qwen2.

Theirs turn the first half of a head with the second, ours neighbours, so rows of queries and keys change places.
"""

from collections.abc import Mapping
from typing import Any

from regard.errors import UserError
from regard.interop.family import Config, Family, Model, Spelling, explicit, settings
from regard.interop.names import SAME, Line, Table, paired
from regard.interop.tokens import Symbols
from regard.objectives import NextToken
from regard.shapes import Tensor
from regard.systems.gpt import Gpt

SIZES = {
    "width": ("hidden_size", 4096),
    "heads": ("num_attention_heads", 32),
    "groups": ("num_key_value_heads", None),
    "head_width": ("head_dim", None),
    "depth": ("num_hidden_layers", 32),
    "hidden": ("intermediate_size", 11008),
    "context": ("max_position_embeddings", 2048),
    "epsilon": ("rms_norm_eps", 1e-6),
    "dropout": ("attention_dropout", 0.0),
    "tied": ("tie_word_embeddings", False),
}
GATES = {"silu": "swiglu", "swish": "swiglu", "gelu_pytorch_tanh": "geglu", "gelu_new": "geglu"}
PARTLY: dict[str, tuple[Any, ...]] = {"partial_rotary_factor": (None, 1, 1.0)}
BIASES: dict[tuple[bool, bool], dict[str, Any]] = {  # of attention and of feed-forward layers
    (False, False): {"bias": False},
    (True, True): {"bias": True, "bias_at": "all"},
    (True, False): {"bias": True, "bias_at": "attention"},
    (False, True): {"bias": True, "bias_at": "feedforward"},
}
ALWAYS = {"position": "rotary", "normalizer": "rms"}
ROPE = {  # Llama 3's
    "rotary_context": "original_max_position_embeddings",
    "rotary_low": "low_freq_factor",
    "rotary_high": "high_freq_factor",
}
BLOCK = "decoder.blocks.{}."
SHARED = {  # where each layer's tensors stand in ours, by what they do
    "attention_norm": BLOCK + "around_attention.norm",
    "query": BLOCK + "attention.to_query",
    "key": BLOCK + "attention.to_key",
    "value": BLOCK + "attention.to_value",
    "output": BLOCK + "attention.output",
    "feedforward_norm": BLOCK + "around_feedforward.norm",
    "gate": BLOCK + "feedforward.gate",
    "up": BLOCK + "feedforward.widen",
    "down": BLOCK + "feedforward.output",
    "words": "decoder.embedding.rows",
    "norm": "decoder.norm",
    "head": "output.rows",
}
NAMES = {
    "attention_norm": "model.layers.{}.input_layernorm",
    "query": "model.layers.{}.self_attn.q_proj",
    "key": "model.layers.{}.self_attn.k_proj",
    "value": "model.layers.{}.self_attn.v_proj",
    "output": "model.layers.{}.self_attn.o_proj",
    "feedforward_norm": "model.layers.{}.post_attention_layernorm",
    "gate": "model.layers.{}.mlp.gate_proj",
    "up": "model.layers.{}.mlp.up_proj",
    "down": "model.layers.{}.mlp.down_proj",
    "words": "model.embed_tokens",
    "norm": "model.norm",
    "head": "lm_head",
}


def table(names: Mapping[str, str], each: int = 0, **rest: Any) -> Table:
    """A table of these names; `each` is the width of heads whose halves turn."""
    changes = {"query": paired(each), "key": paired(each)} if each else {}
    lines = [Line(name, SHARED[part], changes.get(part, SAME)) for part, name in names.items()]
    tied = {f"{names['head']}.weight": f"{names['words']}.weight"}
    return Table(tuple(lines), f"{SHARED['words']}.weight", tied=tied, **rest)


def table_of(system: Gpt) -> Table:
    return table(NAMES, system.each, idle=("*rotary_emb.inv_freq",), prefix="model.")


def turning(config: Config, where: str) -> dict[str, Any]:
    """How fast positions turn. New folders have it in `rope_parameters`, older ones in two other places."""
    given = config.get("rope_scaling") or config.get("rope_parameters") or {}
    if not isinstance(given, dict):
        raise UserError(f"{where}: rope_parameters = {given!r} is not supported")
    Spelling(only=PARTLY).read(given, where)
    kind = given.get("rope_type", given.get("type", "default"))
    found = {"rotary_base": given.get("rope_theta") or config.get("rope_theta") or 10_000.0}
    if kind == "default" or (factor := given.get("factor")) == 1:
        return found
    if kind == "linear":
        return {**found, "rotary_factor": factor}
    if kind != "llama3":
        raise UserError(f"{where}: rope_type = {kind!r} is not supported; known: default, linear, llama3")
    longest = config.get("original_max_position_embeddings", config.get("max_position_embeddings", 2048))
    given = {"original_max_position_embeddings": longest, **given}
    return {**found, "rotary_factor": factor, **{ours: given.get(theirs) for ours, theirs in ROPE.items()}}


def said_turning(system: Gpt) -> Config:
    """The same in their words, as old and new versions of the library read them."""
    found: Config = {"rope_theta": system.rotary_base}
    if system.rotary_factor == 1:
        return found
    scaling: Config = {"rope_type": "linear", "factor": system.rotary_factor}
    if system.rotary_context:
        scaling |= {"rope_type": "llama3", **{theirs: getattr(system, ours) for ours, theirs in ROPE.items()}}
    return {**found, "rope_scaling": scaling}


def family(
    kind: str,
    name: str,
    *,
    usual: Config,
    only: dict[str, tuple[Any, ...]],
    biases: dict[str, Any] | None = None,
    symbols: Symbols = Symbols(opens=None),
) -> Family:
    """One of them: `usual` is what holds where a folder does not say it, `biases` those it always has."""
    spelling = Spelling(SIZES, {"feedforward": ("hidden_act", "silu", GATES)}, {**PARTLY, **only})

    def read(config: Config, tensors: Mapping[str, Tensor], where: str) -> Model:
        config = {**usual, **config}
        values = spelling.read(config, where)
        values |= {name: values[name] or 0 for name in ("groups", "head_width")}
        values |= BIASES[biased(config)] if biases is None else biases
        return Model(explicit(settings(Gpt, {**values, **turning(config, where), **ALWAYS}, where)), NextToken())

    def write(model: Model, vocabulary: int) -> Config:
        system = model.system
        if system.width % system.heads:
            raise UserError(f"{kind}: system.width = {system.width} does not split into {system.heads} heads")
        said: Config = {name: fine[0] for name, fine in only.items()}
        said |= {**spelling.write(system), **said_turning(system), "vocab_size": vocabulary}
        if biases is None:
            made, _, forwards = system.biased
            said |= {"attention_bias": made, "mlp_bias": forwards}
        return said

    def remarks(config: Config) -> list[str]:
        p = config.get("attention_dropout", 0.0)
        return [f"attention_dropout = {p} there; here it acts on the feed-forward layers too"] if p else []

    return Family(
        kind=kind,
        system=Gpt,
        read=read,
        write=write,
        table=table_of,
        class_of=lambda objective: name,
        symbols=symbols,
        remarks=remarks,
    )


def biased(config: Config) -> tuple[bool, bool]:
    return bool(config.get("attention_bias", False)), bool(config.get("mlp_bias", False))


LLAMA = family("llama", "LlamaForCausalLM", usual={}, only={})
MISTRAL = family(
    "mistral",
    "MistralForCausalLM",
    usual={"sliding_window": 4096, "num_key_value_heads": 8},
    only={"sliding_window": (None,)},
    biases={"bias": False},
)
END = "<|endoftext|>"
QWEN2 = family(
    "qwen2",
    "Qwen2ForCausalLM",
    usual={},
    only={"use_sliding_window": (False,)},
    biases={"bias": True, "bias_at": "heads"},
    symbols=Symbols(start=("bos_token", ""), end=("eos_token", END), unknown=("unk_token", ""), opens=None),
)
