"""BigBird as Hugging Face has it (S12; Zaheer et al., 2020): BERT that looks at blocks.

Both look at the first block, at the neighbours and at some blocks by chance, but not the same: theirs draws them by
numpy, and has the last block beside the first for all. So only with full attention are the two the same.
"""

from typing import Any

from regard.interop.families.bert import FOLLOWS, GUESSES, SPARE, TIED
from regard.interop.families.encoders import ACTIVATIONS, COUNTED, ONLY, SIZES, WORDS, Encoders, Marks, body
from regard.interop.family import Config, Spelling
from regard.interop.names import Line, Table
from regard.interop.tokens import Symbols

FULL, BLOCKS = "original_full", "block_sparse"
SPELLING = Spelling(
    {
        **SIZES,
        "context": ("max_position_embeddings", 4096),
        "block": ("block_size", 64),
        "random": ("num_random_blocks", 3),
    },
    words={
        "feedforward": ("hidden_act", "gelu_new", ACTIVATIONS),
        "attention": ("attention_type", BLOCKS, {FULL: "full", BLOCKS: "bigbird"}),
    },
    only={**ONLY, "use_bias": (True,), "rescale_embeddings": (False,)},
)
POOL = Line("bert.pooler", "head.pool.dense")
HEADS = {
    "pooled": (POOL,),
    "next": (POOL, FOLLOWS),
    "labels": (Line("classifier.dense", "head.pool.dense"), Line("classifier.out_proj", "head.rows")),
    "tags": (Line("classifier", "head.rows"),),
}
FIRST, NEAR = 1, 1  # blocks that all see, and on either side


class Blocked(Encoders):
    def values(self, config: Config, where: str) -> dict[str, Any]:
        values = super().values(config, where)
        if values["attention"] == "bigbird":
            return {**values, "first": FIRST, "near": NEAR}
        return {name: value for name, value in values.items() if name not in ("block", "random")}

    def remarks(self, config: Config) -> list[str]:
        found = super().remarks(config)
        if config.get("attention_type", BLOCKS) == BLOCKS:
            block, random = config.get("block_size", 64), config.get("num_random_blocks", 3)
            theirs, ours = (5 + 2 * random) * block, (FIRST + 2 * NEAR + 1 + random) * block
            found.append(
                f"attention_type = '{BLOCKS}': the blocks that are seen by chance are others here, and the last one is "
                f"not seen by all; texts of up to {ours} tokens are read with full attention here, of {theirs} there"
            )
        return found


FAMILY = Blocked(
    kind="big_bird",
    name="BigBird",
    table=Table((*body("bert."), *GUESSES), WORDS, tied=TIED, idle=COUNTED, spare=SPARE, prefix="bert."),
    marks=Marks(
        words="cls.predictions.bias",
        labels="classifier.out_proj.bias",
        tags="classifier.bias",
        pool="bert.pooler.bias",
        next="cls.seq_relationship.bias",
    ),
    spelling=SPELLING,
    symbols=Symbols(start=("cls_token", "[CLS]"), end=("sep_token", "[SEP]"), mask=("mask_token", "[MASK]")),
    heads=HEADS,
    idly=("own", "labels", "tags", "vectors"),
    pool=lambda system: f"first-{system.feedforward}",
).family
