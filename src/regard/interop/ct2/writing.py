"""A run as CTranslate2 reads it: its own specification is filled, so that its own checks are made."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from torch import nn

from regard.attention.positions import Added
from regard.attention.schemes import TABLES
from regard.blocks.block import Stack
from regard.checkpoint import Run, weights, write_json
from regard.errors import NotInstalled, UserError
from regard.interop.ct2.names import ACTIVATIONS, GATED, slashed, table
from regard.interop.names import spelled
from regard.interop.tokens import GENERATION
from regard.interop.tokens.writing import write_tokenizer
from regard.shapes import Float, Tensor
from regard.systems.bert import BidirectionalTransformer
from regard.systems.heads import First
from regard.systems.layers import StackSystem
from regard.systems.transformer import EncoderDecoder
from regard.text.tokenizer import END, START, UNKNOWN

SCORES = {"scaled-dot": None, "dot": 1.0}  # what a query is multiplied by, where that is not usual
ONLY: dict[str, tuple[str, ...]] = {  # of these settings, the values that can be said
    "attention": ("full",),
    "position_at": ("input",),
    "position": (*TABLES, "none", "rotary", "alibi"),
    "feedforward": (*ACTIVATIONS, *GATED),
    "score": tuple(SCORES),
}
ANY = (  # of these, every value
    *("width", "heads", "head_width", "groups", "depth", "decoder_depth", "hidden", "context", "bias", "bias_at"),
    *("norm", "normalizer", "epsilon", "embedding_norm", "scaled", "tied", "output_bias", "dropout"),
    *("rotary_base", "rotary_factor", "segments", "pool"),
)
POSITIONS = "embedding.position."


def theirs() -> Any:
    """The library, where it is installed."""
    try:
        import ctranslate2
    except ImportError:
        raise NotInstalled(
            "this needs the package 'ctranslate2', which is not installed: pip install 'regard[export]'"
        ) from None
    return ctranslate2


def ctranslate2(run: Run, folder: Path) -> str:
    """Write the model, its vocabulary and its tokenizer."""
    library, make = theirs(), maker(run)
    sayable(run)
    spec = make(run, library.specs)
    fill(spec, run)
    tokens = [run.tokenizer.piece(token) for token in range(len(run.tokenizer))]
    if hasattr(spec, "register_vocabulary"):
        spec.register_vocabulary(tokens)
    else:
        spec.register_source_vocabulary(tokens)
        spec.register_target_vocabulary(tokens)
    frame(spec.config, run)
    spec.validate()
    spec.optimize()
    spec.save(str(folder))
    write_tokenizer(run.tokenizer, folder, source=run.model.reads_source, ends=not run.model.writes_text)
    if said := generation(run):
        write_json(folder / GENERATION, said)
    return spec.name


def maker(run: Run) -> Callable[[Run, Any], Any]:
    """What makes the specification of such a model, still empty."""
    kinds = {StackSystem: decoder, EncoderDecoder: translator, BidirectionalTransformer: encoder}
    if type(run.model) not in kinds:
        kind = run.recipe.to_dict()["system"]["kind"]
        raise UserError(f"no model of CTranslate2 is like system.kind = '{kind}' with the objective of this run")
    return kinds[type(run.model)]


def sayable(run: Run) -> None:
    """Stop at a setting that CTranslate2 has no word for."""
    system = run.recipe.system
    for field in fields(system):
        name, value = field.name, getattr(system, field.name)
        if name in ONLY and value not in ONLY[name]:
            raise UserError(f"system.{name} = {value!r} cannot be said there, only {', '.join(ONLY[name])}")
        if name not in ONLY and name not in ANY and value != field.default:
            raise UserError(f"system.{name} = {value!r} cannot be said there, only {field.default!r}")
    if system.position == "alibi" and hasattr(run.model, "encoder"):
        raise UserError("system.position = 'alibi' cannot be said there of an encoder")


def translator(run: Run, specs: Any) -> Any:
    return specs.TransformerSpec(read_by(run, specs), written_by(run, specs, with_encoder_attention=True))


def decoder(run: Run, specs: Any) -> Any:
    return specs.TransformerDecoderModelSpec(written_by(run, specs, with_encoder_attention=False))


def encoder(run: Run, specs: Any) -> Any:
    """Of a BERT its vectors, and its pool where it has one; other heads are not for CTranslate2."""
    segments = 2 if run.recipe.system.segments else 1
    more = {"num_source_embeddings": segments, "embeddings_merge": specs.EmbeddingsMerge.ADD}
    return specs.TransformerEncoderModelSpec(read_by(run, specs, **more), pooling_layer=pooled(run))


def pooled(run: Run) -> bool:
    pool = getattr(getattr(run.model, "head", None), "pool", None)
    return isinstance(pool, First) and run.recipe.system.pool == "first"


def read_by(run: Run, specs: Any, **more: Any) -> Any:
    depth = len(stacks(run)["encoder"].blocks)
    return specs.TransformerEncoderSpec(depth, run.recipe.system.heads, **shape(run, specs), **more)


def written_by(run: Run, specs: Any, **more: Any) -> Any:
    depth, alibi = len(stacks(run)["decoder"].blocks), run.recipe.system.position == "alibi"
    return specs.TransformerDecoderSpec(depth, run.recipe.system.heads, **shape(run, specs), alibi=alibi, **more)


def shape(run: Run, specs: Any) -> dict[str, Any]:
    """What both sides are told of their layers."""
    system = run.recipe.system
    bend = ACTIVATIONS[GATED.get(system.feedforward, system.feedforward)]
    return {
        "pre_norm": system.norm == "pre",
        "activation": specs.Activation(bend),
        "ffn_glu": system.feedforward in GATED,
        "rms_norm": system.normalizer == "rms",
        "num_heads_kv": system.groups if system.groups not in (0, system.heads) else None,
        "head_dim": system.each if system.each * system.heads != system.width else None,
        "layernorm_embedding": not isinstance(next(iter(stacks(run).values())).embedding.norm, nn.Identity),
        **(rotation(system, specs) if system.position == "rotary" else {}),
    }


def rotation(system: Any, specs: Any) -> dict[str, Any]:
    """Neighbours turn, in all of a head."""
    found = {"rotary_dim": 0, "rotary_interleave": True, "rotary_base": system.rotary_base}
    if system.rotary_factor == 1:
        return found
    slowed = specs.RotaryScalingType.Linear
    return found | {"rotary_scaling_type": slowed, "rotary_scaling_factor": system.rotary_factor}


def stacks(run: Run) -> dict[str, Any]:
    """The sides that a model has."""
    return {side: stack for side in ("encoder", "decoder") if (stack := getattr(run.model, side, None)) is not None}


def fill(spec: Any, run: Run) -> None:
    """Put every tensor where it belongs; a head that CTranslate2 does not have is left out."""
    model, system = run.model, run.recipe.system
    alone = not model.writes_text
    names = table(translates=model.reads_source, encodes=alone, gated=system.feedforward in GATED, tied="none")
    kept = {name: x.detach() for name, x in weights(model).items() if POSITIONS not in name}
    if alone:
        kept = {n: x for n, x in kept.items() if not n.startswith("head.") or (pooled(run) and "head.pool" in n)}
    given = {**spelled(names, kept), **tied(run, kept)}
    for side, stack in stacks(run).items():
        part = getattr(spec, side)
        part.scale_embeddings = float(stack.embedding.scale)
        if (rows := places(stack, system)) is not None:
            given[f"{side}.position_encodings.weight"] = rows
        if (by := SCORES[system.score]) is not None:
            scaled(part, by)
    for name, tensor in given.items():
        scope, attribute = slashed(name)
        setattr(at(spec, scope), attribute, tensor.clone())  # what is quantised there is changed in place


def tied(run: Run, kept: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors that have one name here and several there."""
    found: dict[str, Tensor] = {}
    model: Any = run.model
    if model.writes_text and "output.rows.weight" not in kept:
        found["decoder.projection.weight"] = model.output.rows.weight.detach()
    if model.reads_source and "encoder.embedding.rows.weight" not in kept:
        found["encoder.embeddings_0.weight"] = model.encoder.embedding.rows.weight.detach()
    return found


def places(stack: Stack, system: Any) -> Float[Tensor, "t w"] | None:
    """What is added to the words of a text, place by place; without it they would be other sinusoids."""
    where = stack.embedding.position
    if isinstance(where, Added):
        return where.table(torch.arange(system.context)[None])[0].detach().float()
    return torch.zeros(system.context, system.width) if system.position == "none" else None


def scaled(part: Any, by: float) -> None:
    for layer in part.layer:
        for attention in (layer.self_attention, getattr(layer, "attention", None)):
            if attention is not None:
                attention.queries_scale = by


def at(spec: Any, scope: str) -> Any:
    """The part of a specification that has this name."""
    for key in scope.split("/"):
        if hasattr(spec, key):
            spec = getattr(spec, key)
        else:
            name, _, number = key.rpartition("_")
            spec = getattr(spec, name)[int(number)]
    return spec


def generation(run: Run) -> dict[str, Any]:
    """What whoever decodes with CTranslate2 must tell it: all that ends a text where several do, and what is never
    written."""
    habits = run.tokenizer.habits
    found: dict[str, Any] = {"eos_token_id": [run.tokenizer.end, *habits.ends]} if habits.ends else {}
    return found | ({"bad_words_ids": [[token] for token in habits.never]} if habits.never else {})


def frame(config: Any, run: Run) -> None:
    """How a text is begun and ended, and what norms add."""
    symbols = run.tokenizer
    config.bos_token, config.eos_token = symbols.called(START), symbols.called(END)
    config.unk_token = symbols.called(UNKNOWN) or config.eos_token
    config.layer_norm_epsilon = run.recipe.system.epsilon
    if run.model.reads_source:
        config.decoder_start_token, config.add_source_eos = config.bos_token, True
