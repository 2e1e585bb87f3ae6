"""BERT as Hugging Face has it (S8). Theirs scores "follows" first and ours "does not": the two rows change places."""

from regard.interop.families.encoders import WORDS, Marks, body, encoder
from regard.interop.names import FLIPPED, Line, Table

HEADS = (
    Line("bert.pooler.dense", "head.pool.dense"),
    Line("cls.predictions", "head"),
    Line("cls.predictions.transform.dense", "head.dense"),
    Line("cls.predictions.transform.LayerNorm", "head.norm"),
    Line("cls.seq_relationship", "head.next", FLIPPED),
    Line("classifier", "head.rows"),
)
TIED = {
    "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}
TABLE = Table(
    (*body("bert."), *HEADS),
    WORDS,
    tied=TIED,
    idle=("*embeddings.position_ids", "*embeddings.token_type_ids"),  # 0, 1, 2, ...
    spare=("*pooler.*", "cls.seq_relationship.*"),
    prefix="bert.",
    old={"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"},
)
FAMILY = encoder(
    "bert",
    "Bert",
    TABLE,
    Marks("cls.predictions.bias", "classifier.bias", "bert.pooler.dense.bias", "cls.seq_relationship.bias"),
)
