"""A Transformer as fairseq keeps it (S7): a file of tensors and settings, with a dictionary beside it.

The file is a pickle: tensors, plain values and a `Namespace` of settings are taken, and nothing is executed.
"""

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.data.sources import file_hash
from regard.errors import UserError
from regard.interop.families.translators import WORDS, alike, body, places
from regard.interop.family import Model, Spelling, as_deep, dropouts, settings
from regard.interop.files.pickled import named, stored, unpickled
from regard.interop.imported import Imported, Origin, imported, rows_of
from regard.interop.names import Line, Table, after
from regard.interop.tokens import Symbols, adopted, fairseq
from regard.objectives import Translation
from regard.shapes import Tensor
from regard.systems.transformer import Transformer

SPELLING = Spelling(
    sizes={
        "width": ("encoder_embed_dim", 512),
        "heads": ("encoder_attention_heads", 8),
        "depth": ("encoder_layers", 6),
        "decoder_depth": ("decoder_layers", 6),
        "hidden": ("encoder_ffn_embed_dim", 2048),
        "context": ("max_source_positions", 1024),
        "dropout": ("dropout", 0.1),
        "embedding_norm": ("layernorm_embedding", False),
    },
    words={
        "feedforward": (
            "activation_fn",
            "relu",
            {"relu": "relu", "gelu": "gelu", "gelu_accurate": "gelu-tanh", "gelu_fast": "gelu-tanh", "swish": "silu"},
        ),
        "norm": ("encoder_normalize_before", False, {False: "post", True: "pre"}),
        "scaled": ("no_scale_embedding", False, {False: True, True: False}),
    },
    only={
        **dict.fromkeys(("cross_self_attention", "layer_wise_attention", "no_cross_attention"), (False,)),
        **dict.fromkeys(("no_decoder_final_norm", "adaptive_input", "character_embeddings"), (False,)),
        **dict.fromkeys(("adaptive_softmax_cutoff", "encoder_layers_to_keep", "decoder_layers_to_keep"), (None,)),
    },
)
TIES = {"share_all_embeddings": "all", "share_decoder_input_output_embed": "output"}
LINES = (
    Line("decoder.embed_tokens", "decoder.embedding.rows"),
    Line("encoder.embed_tokens", "encoder.embedding.rows"),
    Line("decoder.output_projection", "output.rows"),
    Line("encoder.layer_norm", "encoder.norm"),
    Line("decoder.layer_norm", "decoder.norm"),
    *body(""),
    *places("", after(2)),
)
IDLE = ("*.version", "*._float_tensor")
OLD = {"decoder.embed_out": "decoder.output_projection.weight"}
NORMS = {  # by side, as they were numbered once
    "encoder": ("self_attn_layer_norm", "final_layer_norm"),
    "decoder": ("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"),
}
SYMBOLS = Symbols(start=("", "</s>"), unknown=("unknown", "<unk>"))  # what is written begins with the end
PADDING = 1  # is never written
PLAIN = (bool, int, float, str, list, type(None))


def fits(path: Path) -> bool:
    return path.is_file() and path.suffix == ".pt"


def read(path: Path, allow: tuple[str, ...] = ()) -> Imported:
    """The model of a file, its dictionary and codes."""
    config, theirs = opened(path)
    made = model_of(config, str(path))
    table = table_of(made.system)
    rows = rows_of(table, theirs, str(path))
    tree, known, files = fairseq.read(dictionary_of(path, config))
    joined = tree["model"].get("unk_token") == fairseq.UNKNOWN
    given = {"bad_words_ids": [[PADDING]], "unknown": fairseq.UNKNOWN if joined else "<unk>"}
    words = adopted(tree, SYMBOLS, given, rows, str(files[0]), known=known)
    hashes = {each.name: file_hash(each) for each in (path, *files)}
    origin = Origin(path=path, kind="fairseq", files=hashes, remarks=remarks(config, joined))
    return imported(made, table, theirs, words, where=str(path), origin=origin, allow=allow)


def opened(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The settings and the tensors of a file."""
    found = unpickled(path, Namespace)
    tensors = found.get("model") if isinstance(found, dict) else None
    if not named(tensors):
        raise UserError(f"{path} has no tensors under 'model': it is no file of fairseq")
    stored(tensors, path)
    config = table_in(found.get("args")) or table_in(table_in(found.get("cfg")).get("model"))
    if not config:
        raise UserError(f"{path} has no settings under 'args' or 'cfg': it is no file of fairseq")
    for side in ("encoder", "decoder"):  # newer files have a table for each
        config |= {f"{side}_{name}": value for name, value in table_in(config.get(side)).items()}
    return {name: value for name, value in config.items() if isinstance(value, PLAIN)}, renewed(tensors)


def table_in(value: Any) -> dict[str, Any]:
    """The settings that a value holds."""
    found = vars(value) if isinstance(value, Namespace) else value
    return dict(found) if isinstance(found, dict) else {}


def renewed(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Under today's names: norms were numbered once, and queries, keys and values made by one matrix."""
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        for side, norms in NORMS.items():
            if name.startswith(side):
                for number, now in enumerate(norms):
                    name = name.replace(f".layer_norms.{number}.", f".{now}.")
        module, mark, kind = name.rpartition(".in_proj_")
        if mark and tensor.ndim and len(tensor) >= 3:
            parts = zip(("q_proj", "k_proj", "v_proj"), tensor.chunk(3), strict=True)
            found |= {f"{module}.{part}.{kind}": rows for part, rows in parts}
        else:
            found[name] = tensor
    return found


def model_of(config: dict[str, Any], where: str) -> Model:
    values, learned = SPELLING.read(config, where), bool(config.get("encoder_learned_pos"))
    places = "learned" if learned else "sinusoidal-fairseq"
    values["position"] = "none" if config.get("no_token_positional_embeddings") else places
    values["tied"] = next((tied for name, tied in TIES.items() if config.get(name)), "none")
    alike(
        config,
        {
            **dict.fromkeys(("decoder_embed_dim", "decoder_input_dim", "decoder_output_dim"), values["width"]),
            "decoder_attention_heads": values["heads"],
            "decoder_ffn_embed_dim": values["hidden"],
            "decoder_normalize_before": values["norm"] == "pre",
            "decoder_learned_pos": learned,
            **({"max_target_positions": values["context"]} if learned else {}),
        },
        where,
    )
    values["decoder_depth"] = as_deep(values["decoder_depth"], values["depth"])
    return Model(settings(Transformer, values, where), Translation())


def table_of(system: Transformer) -> Table:
    ties = {"none": (), "output": ("decoder.output_projection",)}
    names = ties.get(system.tied, ("decoder.output_projection", "encoder.embed_tokens"))
    tied = {f"{name}.weight": "decoder.embed_tokens.weight" for name in names}
    return Table(LINES, WORDS, tied=tied, idle=IDLE, old=OLD)


def dictionary_of(path: Path, config: Mapping[str, Any]) -> Path:
    """The dictionary beside a file; of two, which must be one and the same, that of sources."""
    named = [config.get(name) for name in ("source_lang", "target_lang")]
    called = [path.parent / f"dict.{name}.txt" for name in named if isinstance(name, str) and Path(name).name == name]
    found = [each for each in called if each.is_file()] or sorted(path.parent.glob("dict.*.txt"))
    if not found:
        raise UserError(f"{path.parent} has no dictionary for {path.name}: put its dict.LANGUAGE.txt there")
    first = found[0].read_bytes()
    for other in found[1:]:
        if other.read_bytes() != first:
            raise UserError(
                f"{found[0]} and {other.name} differ: a model with two dictionaries, one for sources and one for "
                "targets, is not supported; train it with --joined-dictionary"
            )
    return found[0]


def remarks(config: dict[str, Any], joined: bool) -> list[str]:
    cut = ["texts are cut at blanks and by the codes: what parted words from commas there is not in the file"]
    usual = config.get("dropout", 0.1)
    return dropouts(config, usual, "attention_dropout", "activation_dropout") + (cut if joined else [])
