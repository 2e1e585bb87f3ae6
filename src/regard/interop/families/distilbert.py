"""DistilBERT as Hugging Face has it (Sanh et al., 2019): BERT without segments, and a pool with ReLU.

`sinusoidal_pos_embds` says how the rows of positions began, and nothing of the model.
"""

from regard.interop.families.encoders import ACTIVATIONS, COUNTED, OLD, WORDS, Encoders, Marks
from regard.interop.family import Spelling
from regard.interop.names import Line, Table

SIZES = {
    "width": ("dim", 768),
    "heads": ("n_heads", 12),
    "depth": ("n_layers", 6),
    "hidden": ("hidden_dim", 3072),
    "context": ("max_position_embeddings", 512),
    "dropout": ("dropout", 0.1),
}
THEIRS, OURS = "distilbert.transformer.layer.{}.", "encoder.blocks.{}."
LINES = (
    Line("distilbert.embeddings.word_embeddings", "encoder.embedding.rows"),
    Line("distilbert.embeddings.position_embeddings", "encoder.embedding.position.table.rows"),
    Line("distilbert.embeddings.LayerNorm", "encoder.embedding.norm"),
    Line(THEIRS + "attention.q_lin", OURS + "attention.to_query"),
    Line(THEIRS + "attention.k_lin", OURS + "attention.to_key"),
    Line(THEIRS + "attention.v_lin", OURS + "attention.to_value"),
    Line(THEIRS + "attention.out_lin", OURS + "attention.output"),
    Line(THEIRS + "sa_layer_norm", OURS + "around_attention.norm"),
    Line(THEIRS + "ffn.lin1", OURS + "feedforward.widen"),
    Line(THEIRS + "ffn.lin2", OURS + "feedforward.output"),
    Line(THEIRS + "output_layer_norm", OURS + "around_feedforward.norm"),
    Line("vocab_transform", "head.dense"),
    Line("vocab_layer_norm", "head.norm"),
    Line("vocab_projector", "head"),
    Line("pre_classifier", "head.pool.dense"),
    Line("classifier", "head.rows"),
)
TIED = {"vocab_projector.weight": "distilbert.embeddings.word_embeddings.weight"}
FAMILY = Encoders(
    kind="distilbert",
    name="DistilBert",
    table=Table(LINES, WORDS, tied=TIED, idle=COUNTED, prefix="distilbert.", old=OLD),
    marks=Marks(words="vocab_projector.bias", labels="classifier.bias", tags="classifier.bias"),
    spelling=Spelling(
        SIZES, words={"feedforward": ("activation", "gelu", ACTIVATIONS)}, only={"pruned_heads": (None, {})}
    ),
    fixed={"segments": 0, "epsilon": 1e-12, "pool": "first-relu"},
    dropouts=("attention_dropout", "seq_classif_dropout"),
).family
