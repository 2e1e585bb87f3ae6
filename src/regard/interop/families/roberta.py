"""RoBERTa (Liu et al., 2019) and XLM-RoBERTa (Conneau et al., 2020) as Hugging Face has them: BERT with one segment.

Positions begin at 2, behind the number of the padding: the first two rows are nobody's. Words are always guessed with
GELU, and for labels a text has a pool of its own.
"""

from dataclasses import replace

from regard.interop.families.encoders import COUNTED, OLD, ONLY, POOLER, SIZES, WORDS, Encoders, Marks, body
from regard.interop.family import Family, Spelling
from regard.interop.names import Line, Table, after
from regard.interop.tokens import Symbols

BEFORE = 2
PLACES = Line("roberta.embeddings.position_embeddings", "encoder.embedding.position.table.rows", after(BEFORE))
GUESSES = (Line("lm_head", "head"), Line("lm_head.dense", "head.dense"), Line("lm_head.layer_norm", "head.norm"))
HEADS = {
    "pooled": (Line("roberta.pooler.dense", "head.pool.dense"),),
    "labels": (Line("classifier.dense", "head.pool.dense"), Line("classifier.out_proj", "head.rows")),
    "tags": (Line("classifier", "head.rows"),),
}
TIED = {
    "lm_head.decoder.weight": "roberta.embeddings.word_embeddings.weight",
    "lm_head.decoder.bias": "lm_head.bias",
}
TABLE = Table(
    (*body("roberta.", PLACES), *GUESSES),
    WORDS,
    tied=TIED,
    idle=COUNTED,
    spare=POOLER,
    prefix="roberta.",
    old=OLD,
)
SPELLING = Spelling(
    SIZES,
    words={"feedforward": ("hidden_act", "gelu", {"gelu": "gelu"})},
    only={**ONLY, "pad_token_id": (BEFORE - 1,)},
)
SYMBOLS = Symbols(
    start=("cls_token", "<s>"),
    end=("sep_token", "</s>"),
    mask=("mask_token", "<mask>"),
    parted=2,
    merges=True,
)
PIECES = replace(SYMBOLS, merges=False, behind=True)
MARKS = Marks(
    words="lm_head.bias",
    labels="classifier.out_proj.bias",
    tags="classifier.bias",
    pool="roberta.pooler.dense.bias",
)


def family(kind: str, name: str, symbols: Symbols) -> Family:
    return Encoders(
        kind=kind,
        name=name,
        table=TABLE,
        marks=MARKS,
        spelling=SPELLING,
        symbols=symbols,
        heads=HEADS,
        before=BEFORE,
    ).family


FAMILY = family("roberta", "Roberta", SYMBOLS)
OF_MANY_LANGUAGES = family("xlm-roberta", "XLMRoberta", PIECES)
