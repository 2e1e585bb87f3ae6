"""BERT as Hugging Face has it (S8). Theirs scores "follows" first and ours "does not": the two rows change places."""

from regard.interop.families.encoders import COUNTED, OLD, POOLER, WORDS, Encoders, Marks, body
from regard.interop.names import FLIPPED, Line, Table

GUESSES = (
    Line("cls.predictions", "head"),
    Line("cls.predictions.transform.dense", "head.dense"),
    Line("cls.predictions.transform.LayerNorm", "head.norm"),
)
FOLLOWS = Line("cls.seq_relationship", "head.next", FLIPPED)
TIED = {
    "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}
HEADS = (*GUESSES, FOLLOWS, Line("bert.pooler.dense", "head.pool.dense"), Line("classifier", "head.rows"))
IN_VAIN = {"own": ("cls.seq_relationship.*",)}  # where words are guessed
FAMILY = Encoders(
    kind="bert",
    name="Bert",
    table=Table((*body("bert."), *HEADS), WORDS, tied=TIED, idle=COUNTED, spare=POOLER, prefix="bert.", old=OLD),
    marks=Marks(
        words="cls.predictions.bias",
        labels="classifier.bias",
        tags="classifier.bias",
        pool="bert.pooler.dense.bias",
        next="cls.seq_relationship.bias",
    ),
    spare=IN_VAIN,
).family
