"""What families of encoders share (S8): the heads that are in a file decide the task."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import Any

from regard.errors import UserError
from regard.interop.family import Config, Family, Model, Spelling, dropouts, settings
from regard.interop.names import Line, Shape, Table
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
COUNTED = ("*embeddings.position_ids", "*embeddings.token_type_ids")  # 0, 1, 2, ...
POOLER = ("*pooler.*",)  # which a class may have and not use
OLD = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
LABELLED = {"ForSequenceClassification": Classification, "ForTokenClassification": Tagging}
CLASSES = {  # by the head that our objectives ask for
    "own": "ForMaskedLM",
    "next": "ForPreTraining",
    "labels": "ForSequenceClassification",
    "tags": "ForTokenClassification",
    "vectors": "Model",
    "pooled": "Model",
}


@dataclass(frozen=True)
class Marks:
    """Tensors, under their whole names, that tell which heads a file has; "" where there is no such head."""

    words: str
    labels: str
    tags: str
    pool: str = ""
    next: str = ""


def body(prefix: str, positions: Line | None = None) -> tuple[Line, ...]:
    """The tensors of BERT's own layers, whose names several families have taken over."""
    layer, block = prefix + "encoder.layer.{}.", "encoder.blocks.{}."
    return (
        Line(prefix + "embeddings.word_embeddings", "encoder.embedding.rows"),
        positions or Line(prefix + "embeddings.position_embeddings", "encoder.embedding.position.table.rows"),
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


@dataclass(frozen=True, kw_only=True)
class Encoders:
    """One family; `name` is what its classes begin with.

    `heads` are the lines of one head alone, and `spare` what may be there beside it in vain. `fixed` are settings that
    the family does not leave open, `before` rows for positions that nothing uses, `idly` the heads whose classes have
    the pool without using it. `pool` is what a class for labels has for a pool. `dropouts` are names of other
    probabilities than that of layers.
    """

    kind: str
    name: str
    table: Table
    marks: Marks
    spelling: Spelling = SPELLING
    symbols: Symbols = SYMBOLS
    heads: Mapping[str, tuple[Line, ...]] = field(default_factory=dict)
    spare: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    before: int = 0
    idly: tuple[str, ...] = ("vectors",)
    pool: Callable[[Bert], str] = lambda system: system.pool
    dropouts: tuple[str, ...] = ("attention_probs_dropout_prob", "classifier_dropout")

    @property
    def family(self) -> Family:
        return Family(
            kind=self.kind,
            system=Bert,
            read=self.read,
            write=self.write,
            table=lambda system: self.table,
            class_of=self.class_of,
            symbols=self.symbols,
            remarks=self.remarks,
            heads=lambda objective: self.heads.get(objective.head, ()),
            spare=lambda objective: self.spare.get(objective.head, ()),
            idle=self.idle,
        )

    def values(self, config: Config, where: str) -> dict[str, Any]:
        """Our settings, not yet checked."""
        return {**self.fixed, **self.spelling.read(config, where)}

    def settled(self, system: Bert) -> Bert:
        """The settings as they act."""
        return system

    def read(self, config: Config, tensors: Mapping[str, Tensor], where: str) -> Model:
        system: Bert = settings(Bert, self.values(config, where), where)
        if system.segments < 1 and "segments" not in self.fixed:
            raise UserError(f"{where}: type_vocab_size = {system.segments} is not supported")
        system = self.settled(replace(system, context=system.context - self.before) if self.before else system)
        marks = astuple(self.marks)
        names = {*self.table.whole(tensors, marks, where)} or {*marks}  # not seen: all may be there
        objective, labels, why = self.task(config, names - {""}, where, pairs=system.segments > 1)
        if objective.head == "labels":
            system = replace(system, pool=self.pool(system))
        return Model(system, objective, labels, why)

    def task(
        self, config: Config, there: Iterable[str], where: str, *, pairs: bool
    ) -> tuple[Any, tuple[str, ...], str]:
        """What the heads that are there were trained for, the labels that are told apart, and why others are unused."""
        names, marks, made_for = {*there}, self.marks, class_there(config).removeprefix(self.name)
        why = (
            "" if made_for in CLASSES.values() else f"architectures = {config.get('architectures')!r} has no task here"
        )
        if made_for in LABELLED and (marks.labels if LABELLED[made_for] is Classification else marks.tags) in names:
            labels = labels_of(config, where)
            if not (why := unsupported(config, labels)):
                return LABELLED[made_for](), labels, ""
        if pairs and {marks.words, marks.next, marks.pool} <= names:  # with one segment two texts are not told apart
            return MaskedPairs(), (), why
        return (Masked() if marks.words in names else Vectors(pooled=marks.pool in names)), (), why

    def write(self, model: Model, vocabulary: int) -> Config:
        p, context = model.system.dropout, self.spelling.sizes["context"][0]
        said = {**self.spelling.write(model.system), "vocab_size": vocabulary, **dict.fromkeys(self.dropouts, p)}
        return said | {context: said[context] + self.before} | named(model.labels)

    def class_of(self, objective: Any) -> str:
        ending = CLASSES.get(objective.head)
        if ending is None or (ending == CLASSES["next"] and not self.marks.next):
            raise UserError(f"{self.kind}: there is no class for the objective of this run")
        return self.name + ending

    def idle(self, model: Model) -> Mapping[str, Shape]:
        width, pooler = model.system.width, self.marks.pool.removesuffix(".bias")
        if not pooler or model.objective.head not in self.idly:
            return {}
        return {f"{pooler}.weight": (width, width), f"{pooler}.bias": (width,)}

    def remarks(self, config: Config) -> list[str]:
        name, usual = self.spelling.sizes["dropout"]
        return dropouts(config, config.get(name, usual), *self.dropouts)


def class_there(config: Config) -> str:
    names = config.get("architectures")
    return str(names[0]) if isinstance(names, list) and names else ""


def labels_of(config: Config, where: str) -> tuple[str, ...]:
    """By their numbers; where they have no names there are two."""
    names = config.get("id2label") or {"0": "LABEL_0", "1": "LABEL_1"}
    try:
        return tuple(str(names[key]) for key in sorted(names, key=int))
    except (TypeError, ValueError):
        raise UserError(f"{where}: id2label = {names!r} has no numbers of labels") from None


def unsupported(config: Config, labels: tuple[str, ...]) -> str:
    """Why labels like these are not told apart here; "" where they are."""
    if (kind := config.get("problem_type")) not in (None, "single_label_classification"):
        return f"problem_type = {kind!r} is not supported, only one of several labels"
    if len(labels) < 2:
        return "id2label has one label: a number for each text is not supported, only one of several labels"
    if twice := next((label for label in labels if labels.count(label) > 1), ""):
        return f"id2label has '{twice}' twice, which is not supported; give each label a name of its own"
    return ""


def named(labels: tuple[str, ...]) -> Config:
    if not labels:
        return {}
    return {"id2label": dict(enumerate(labels)), "label2id": {label: i for i, label in enumerate(labels)}}
