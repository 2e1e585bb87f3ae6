"""A Llama or Qwen2 in a GGUF file (S9): one file with settings, vocabulary and tensors, often in few bits.

Queries and keys of a Llama stand there as here, neighbours that turn together; those of Qwen2 as Hugging Face has them.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from regard.attention.positions import Turns
from regard.data.sources import file_hash
from regard.errors import UserError
from regard.interop import tokens
from regard.interop.families import llama
from regard.interop.family import Model, explicit, settings
from regard.interop.files.gguf import MAGIC, Gguf
from regard.interop.files.hugging_face import CONFIG
from regard.interop.imported import Imported, Origin, imported, rows_of
from regard.interop.tokens import SETTINGS
from regard.interop.tokens import gguf as vocabulary
from regard.objectives import NextToken
from regard.shapes import Tensor
from regard.systems.gpt import Gpt
from regard.systems.layers import BIASED

HALVES = {"llama": False, "qwen2": True}  # whether the halves of a head turn together, or neighbours
SIZES = {  # each with what holds where it is not written down
    "width": ("embedding_length", None),
    "heads": ("attention.head_count", None),
    "groups": ("attention.head_count_kv", 0),
    "head_width": ("attention.key_length", 0),
    "depth": ("block_count", None),
    "hidden": ("feed_forward_length", None),
    "context": ("context_length", None),
    "epsilon": ("attention.layer_norm_rms_epsilon", None),
    "rotary_base": ("rope.freq_base", 10_000.0),
}
ONLY: dict[str, tuple[Any, ...]] = {
    "rope.scaling.type": ("none", "linear"),
    "expert_count": (0,),
    "attention.sliding_window": (0,),
    "attention.causal": (True,),
    "attention.scale": (),
    "logit_scale": (),
    "embedding_scale": (),
    "residual_scale": (),
}
NAMES = {
    "words": "token_embd",
    "attention_norm": "blk.{}.attn_norm",
    "query": "blk.{}.attn_q",
    "key": "blk.{}.attn_k",
    "value": "blk.{}.attn_v",
    "output": "blk.{}.attn_output",
    "feedforward_norm": "blk.{}.ffn_norm",
    "gate": "blk.{}.ffn_gate",
    "up": "blk.{}.ffn_up",
    "down": "blk.{}.ffn_down",
    "norm": "output_norm",
    "head": "output",
}
DIVIDED = "rope_freqs.weight"  # what each angle is divided by, in Llama 3
LLAMA_3 = 8192  # tokens that it first learnt from


def fits(path: Path) -> bool:
    if path.is_dir():
        return not (path / CONFIG).exists() and len(list(path.glob("*.gguf"))) == 1
    with path.open("rb") as file:
        return path.suffix == ".gguf" or file.read(len(MAGIC)) == MAGIC


def read(path: Path, allow: tuple[str, ...] = ()) -> Imported:
    """The model of a file, or of the only one in a folder."""
    path = next(path.glob("*.gguf")) if path.is_dir() else path
    file, where = Gguf.open(path), str(path)
    kind = file.word("general.architecture")
    if kind not in HALVES:
        raise UserError(f"{where}: general.architecture = '{kind}' is not supported; known: {', '.join(HALVES)}")
    tree, symbols, given, remarks = vocabulary.read(file)
    system = system_of(file, kind, where)
    theirs = dict(file.tensors())
    system = slowed(system, theirs.get(DIVIDED), where)
    table = llama.table(NAMES, system.each if HALVES[kind] else 0, idle=(DIVIDED,))
    words = tokens.adopted(tree, symbols, given, rows_of(table, theirs, where), where)
    origin = Origin(
        path=path,
        kind=kind,
        files={path.name: file_hash(path)},
        remarks=[*remarks, *stored_as(file)],
        kept=kept(file, kind),
    )
    return imported(Model(system, NextToken()), table, theirs, words, where=where, origin=origin, allow=allow)


def system_of(file: Gguf, kind: str, where: str) -> Gpt:
    """The settings, of which a few follow from what tensors there are."""
    given = {name.removeprefix(f"{kind}."): value for name, value in file.settings.items()}
    if (parts := given.get("split.count", 0)) not in (0, 1):
        raise UserError(f"{where} is one of {parts} parts of a model; join them first")
    for name, fine in ONLY.items():
        if (value := given.get(name)) is not None and value not in fine:
            raise UserError(f"{where}: {kind}.{name} = {value!r} is not supported")
    values = {ours: given.get(theirs, usual) for ours, (theirs, usual) in SIZES.items()}
    for ours, value in values.items():
        if value is None:
            raise UserError(f"{where} has no {kind}.{SIZES[ours][0]}")
    values |= {"rotary_factor": factor_of(given), "tied": "output.weight" not in file.stored, "dropout": 0.0}
    values |= {**biases(file, where), **llama.ALWAYS, "feedforward": "swiglu"}
    system = explicit(settings(Gpt, values, where))
    for name in ("attention.value_length", "rope.dimension_count"):
        if given.get(name, system.each) != system.each:
            raise UserError(f"{where}: {kind}.{name} = {given[name]} and heads of width {system.each}: not supported")
    return system


def factor_of(given: Mapping[str, Any]) -> Any:
    """What all angles are divided by."""
    old = given.get("rope.scale_linear", 1.0)
    return given.get("rope.scaling.factor", old) if given.get("rope.scaling.type", "linear") == "linear" else 1.0


def biases(file: Gguf, where: str) -> dict[str, Any]:
    """In which layers there are biases."""
    there = tuple(f"blk.0.{name}.bias" in file.stored for name in ("attn_q", "attn_output", "ffn_gate"))
    if not any(there):
        return {"bias": False}
    for name, wanted in BIASED.items():
        if wanted == there:
            return {"bias": True, "bias_at": name}
    raise UserError(f"{where}: biases of the output of attention alone are not supported")


def slowed(system: Gpt, divided: Tensor | None, where: str) -> Gpt:
    """The system with the angles of Llama 3, if these are what they are divided by."""
    if divided is None or bool((divided == 1).all()):
        return system
    values = {"rotary_factor": round(float(divided.max()), 4), "rotary_context": LLAMA_3}
    turns = Turns(system.rotary_base, values["rotary_factor"], LLAMA_3)
    plain = Turns(system.rotary_base).rates(system.each)
    wanted = plain / turns.rates(system.each)
    if system.rotary_factor != 1 or wanted.shape != divided.shape or not torch.allclose(wanted, divided, rtol=1e-4):
        raise UserError(f"{where}: '{DIVIDED}' divides angles otherwise than Llama 3 does: not supported")
    return settings(Gpt, {**vars(system), **values}, where)


def kept(file: Gguf, kind: str) -> dict[str, Any]:
    """What is written back when the run is exported: how the turns of a chat become one text."""
    template = file.settings.get("tokenizer.chat_template")
    return {"kind": kind, SETTINGS: {"chat_template": template}} if isinstance(template, str) else {}


def stored_as(file: Gguf) -> list[str]:
    """How the numbers are kept, where that is not as here."""
    counts = Counter(stored.kind.name for stored in file.stored.values())
    if set(counts) == {"F32"}:
        return []
    told = ", ".join(f"{count} of {name}" for name, count in counts.most_common())
    return [f"tensors there: {told}; here all are float32"]
