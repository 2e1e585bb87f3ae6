"""BERT as Hugging Face has it (S8): its settings, its tensors and its heads in our words.

Theirs scores "follows" first and ours "does not", so the two rows change places.
"""

import re
from typing import Any

import torch
from torch import Tensor

from regard.config import build
from regard.errors import UserError
from regard.objectives import Classification, Masked, MaskedPairs, Tagging, Vectors
from regard.systems.bert import Bert

SIZES = {  # our setting, theirs, and what holds where it is not written down
    "width": ("hidden_size", 768),
    "heads": ("num_attention_heads", 12),
    "depth": ("num_hidden_layers", 12),
    "hidden": ("intermediate_size", 3072),
    "context": ("max_position_embeddings", 512),
    "segments": ("type_vocab_size", 2),
    "epsilon": ("layer_norm_eps", 1e-12),
    "dropout": ("hidden_dropout_prob", 0.1),
}
ACTIVATIONS = {"gelu": "gelu", "gelu_new": "gelu-tanh", "gelu_pytorch_tanh": "gelu-tanh", "relu": "relu"}
NEITHER: dict[str, tuple[Any, ...]] = {  # what a BERT may be that ours is not, and the values that are no trouble
    "position_embedding_type": (None, "absolute"),
    "is_decoder": (None, False),
    "add_cross_attention": (None, False),
    "pruned_heads": (None, {}),
}
LAYERS = {
    "embeddings.word_embeddings": "encoder.embedding.rows",
    "embeddings.position_embeddings": "encoder.embedding.position.table.rows",
    "embeddings.token_type_embeddings": "encoder.embedding.segments",
    "embeddings.LayerNorm": "encoder.embedding.norm",
    "pooler.dense": "head.pool.dense",
    "cls.predictions": "head",
    "cls.predictions.decoder": "head",
    "cls.predictions.transform.dense": "head.dense",
    "cls.predictions.transform.LayerNorm": "head.norm",
    "cls.seq_relationship": "head.next",
    "classifier": "head.rows",
}
IN_BLOCK = {
    "attention.self.query": "attention.to_query",
    "attention.self.key": "attention.to_key",
    "attention.self.value": "attention.to_value",
    "attention.output.dense": "attention.output",
    "attention.output.LayerNorm": "around_attention.norm",
    "intermediate.dense": "feedforward.widen",
    "output.dense": "feedforward.output",
    "output.LayerNorm": "around_feedforward.norm",
}
BLOCK = re.compile(r"encoder\.layer\.(\d+)\.(.+)")
OLD = {"gamma": "weight", "beta": "bias"}  # of a norm, as the first files call them
TIED = "cls.predictions.decoder.weight"
WORDS, NEXT, POOL, ROWS = "head.dense.weight", "head.next.weight", "head.pool.dense.weight", "head.rows.weight"
TASKS = {"BertForSequenceClassification": Classification, "BertForTokenClassification": Tagging}


def settings(config: dict[str, Any], where: str) -> Bert:
    for name, fine in NEITHER.items():
        if config.get(name) not in fine:
            raise UserError(f"{where}: {name} = {config[name]!r} is not supported")
    if (activation := config.get("hidden_act", "gelu")) not in ACTIVATIONS:
        raise UserError(f"{where}: hidden_act = {activation!r} is not supported; known: {', '.join(ACTIVATIONS)}")
    values = {ours: config.get(theirs, usual) for ours, (theirs, usual) in SIZES.items()}
    return build(Bert, {**values, "feedforward": ACTIVATIONS[activation]}, where=where)


def remarks(config: dict[str, Any]) -> list[str]:
    """What will be otherwise when it is trained on."""
    usual = config.get("hidden_dropout_prob", 0.1)
    others = {name: config.get(name) for name in ("attention_probs_dropout_prob", "classifier_dropout")}
    return [
        f"{name} = {p} there; here dropout is {usual} everywhere"
        for name, p in others.items()
        if p not in (None, usual)
    ]


def name_of(theirs: str) -> str:
    """The name that a tensor of theirs has here, "" where it has none."""
    name = theirs.removeprefix("bert.")
    if name == TIED:
        return "encoder.embedding.rows.weight"
    layer, _, kind = name.rpartition(".")
    if found := BLOCK.fullmatch(layer):
        ours = f"encoder.blocks.{found[1]}.{IN_BLOCK[found[2]]}" if found[2] in IN_BLOCK else ""
    else:
        ours = LAYERS.get(layer, "")
    return f"{ours}.{OLD.get(kind, kind)}" if ours else ""


def translated(theirs: dict[str, Tensor], where: str) -> dict[str, Tensor]:
    """The tensors under our names. One of the body that has none stops: without it the model would be another."""
    found: dict[str, Tensor] = {}
    for name, tensor in theirs.items():
        ours = name_of(name)
        if ours in found and not torch.equal(found[ours], tensor):
            raise UserError(f"{where}: '{name}' is not what it is tied to here: not supported")
        if ours:
            found[ours] = tensor.flip(0) if ours.startswith("head.next.") else tensor
        elif name.removeprefix("bert.").startswith(("embeddings.", "encoder.")) and not counted(name):
            raise UserError(f"{where}: tensor '{name}' is not supported")
    return found


def counted(name: str) -> bool:
    """Whether a tensor holds 0, 1, 2, ... and nothing that was learnt."""
    return name.endswith(("embeddings.position_ids", "embeddings.token_type_ids"))


def task(tensors: dict[str, Tensor], config: dict[str, Any]) -> tuple[Any, tuple[str, ...]]:
    """What the heads that are there were trained for, and the labels that are told apart."""
    if ROWS in tensors and (made_for := (config.get("architectures") or [""])[0]) in TASKS:
        names = config.get("id2label") or {}
        labels = tuple(str(names.get(str(i), f"LABEL_{i}")) for i in range(len(tensors[ROWS])))
        one_of_them = config.get("problem_type") in (None, "single_label_classification")
        if one_of_them and len(set(labels)) == len(labels) > 1:
            return TASKS[made_for](), labels
    pairs = config.get("type_vocab_size", 2) > 1  # with one segment two texts cannot be told apart
    if pairs and WORDS in tensors and NEXT in tensors and POOL in tensors:
        return MaskedPairs(), ()
    return (Masked() if WORDS in tensors else Vectors(pooled=POOL in tensors)), ()
