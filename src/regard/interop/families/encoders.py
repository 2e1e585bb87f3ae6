"""What families of encoders share (S8): the heads that are in a file decide the task."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from regard.errors import UserError
from regard.interop.family import Config, Family, Model, Spelling, dropouts, settings
from regard.interop.names import Line, Table
from regard.interop.tokens import Symbols
from regard.objectives import Classification, Masked, MaskedPairs, Tagging, Vectors
from regard.shapes import Tensor
from regard.systems.bert import Bert

ACTIVATIONS = {"gelu": "gelu", "gelu_new": "gelu-tanh", "gelu_pytorch_tanh": "gelu-tanh", "relu": "relu"}
SIZES = {
    "width": ("hidden_size", 768),
    "heads": ("num_attention_heads", 12),
    "depth": ("num_hidden_layers", 12),
    "hidden": ("intermediate_size", 3072),
    "context": ("max_position_embeddings", 512),
    "segments": ("type_vocab_size", 2),
    "epsilon": ("layer_norm_eps", 1e-12),
    "dropout": ("hidden_dropout_prob", 0.1),
}
ONLY: dict[str, tuple[Any, ...]] = {
    "position_embedding_type": ("absolute",),
    "is_decoder": (False,),
    "add_cross_attention": (False,),
    "pruned_heads": (None, {}),
}
SPELLING = Spelling(SIZES, words={"feedforward": ("hidden_act", "gelu", ACTIVATIONS)}, only=ONLY)
WORDS = "encoder.embedding.rows.weight"
SYMBOLS = Symbols(
    start=("cls_token", "[CLS]"),
    end=("sep_token", "[SEP]"),
    pad=("pad_token", "[PAD]"),
    unknown=("unk_token", "[UNK]"),
    mask=("mask_token", "[MASK]"),
)
LABELLED = {"ForSequenceClassification": Classification, "ForTokenClassification": Tagging}
CLASSES: dict[type, str] = {
    Masked: "ForMaskedLM",
    MaskedPairs: "ForPreTraining",
    **{objective: ending for ending, objective in LABELLED.items()},
    Vectors: "Model",
}


@dataclass(frozen=True)
class Marks:
    """Tensors, under their whole names, that tell which heads a file has; "" where there is no such head."""

    words: str
    rows: str
    pool: str = ""
    next: str = ""


def body(prefix: str) -> tuple[Line, ...]:
    """The tensors of BERT's own layers, whose names several families have taken over."""
    layer, block = prefix + "encoder.layer.{}.", "encoder.blocks.{}."
    return (
        Line(prefix + "embeddings.word_embeddings", "encoder.embedding.rows"),
        Line(prefix + "embeddings.position_embeddings", "encoder.embedding.position.table.rows"),
        Line(prefix + "embeddings.token_type_embeddings", "encoder.embedding.segments"),
        Line(prefix + "embeddings.LayerNorm", "encoder.embedding.norm"),
        Line(layer + "attention.self.query", block + "attention.to_query"),
        Line(layer + "attention.self.key", block + "attention.to_key"),
        Line(layer + "attention.self.value", block + "attention.to_value"),
        Line(layer + "attention.output.dense", block + "attention.output"),
        Line(layer + "attention.output.LayerNorm", block + "around_attention.norm"),
        Line(layer + "intermediate.dense", block + "feedforward.widen"),
        Line(layer + "output.dense", block + "feedforward.output"),
        Line(layer + "output.LayerNorm", block + "around_feedforward.norm"),
    )


def encoder(
    kind: str, name: str, table: Table, marks: Marks, spelling: Spelling = SPELLING, symbols: Symbols = SYMBOLS
) -> Family:
    """A family of which every setting is a size or a word; `name` is what its classes begin with."""

    def read(config: Config, tensors: Mapping[str, Tensor], where: str) -> Model:
        system = settings(Bert, spelling.read(config, where), where)
        return Model(system, *task(config, table.whole(tensors, (marks.pool, marks.words)), name, marks))

    def write(model: Model, vocabulary: int) -> Config:
        p = model.system.dropout
        said = {**spelling.write(model.system), "vocab_size": vocabulary, "attention_probs_dropout_prob": p}
        return said | named(model.labels)

    def class_of(objective: Any) -> str:
        if type(objective) not in CLASSES:
            raise UserError(f"{kind}: there is no class for the objective of this run")
        return name + CLASSES[type(objective)]

    return Family(kind, Bert, read, write, lambda system: table, class_of, symbols, remarks)


def remarks(config: Config) -> list[str]:
    usual = config.get("hidden_dropout_prob", 0.1)
    return dropouts(config, usual, "attention_probs_dropout_prob", "classifier_dropout")


def task(config: Config, names: Iterable[str], family: str, marks: Marks) -> tuple[Any, tuple[str, ...]]:
    """What the heads that are there were trained for, and the labels that are told apart."""
    there, made_for = {*names}, (config.get("architectures") or [""])[0].removeprefix(family)
    if marks.rows in there and made_for in LABELLED:
        labels = labels_of(config)
        one_of_them = config.get("problem_type") in (None, "single_label_classification")
        if one_of_them and len(set(labels)) == len(labels) > 1:
            return LABELLED[made_for](), labels
    pairs = config.get("type_vocab_size", 2) > 1  # with one segment two texts cannot be told apart
    if pairs and {marks.words, marks.next, marks.pool} <= there:
        return MaskedPairs(), ()
    return (Masked() if marks.words in there else Vectors(pooled=marks.pool in there)), ()


def labels_of(config: Config) -> tuple[str, ...]:
    """By their numbers; where they have no names there are two."""
    names = config.get("id2label") or {"0": "LABEL_0", "1": "LABEL_1"}
    return tuple(str(names[key]) for key in sorted(names, key=int))


def named(labels: tuple[str, ...]) -> Config:
    if not labels:
        return {}
    return {"id2label": dict(enumerate(labels)), "label2id": {label: i for i, label in enumerate(labels)}}
