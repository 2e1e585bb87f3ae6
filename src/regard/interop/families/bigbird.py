"""BigBird as Hugging Face has it (S12; Zaheer et al., 2020): BERT that looks at blocks.

Both look at the first block, at the neighbours and at some blocks by chance, but not the same: theirs draws them by
numpy, and has the last block beside the first for all. So only with full attention are the two the same: blocks are
read, with a remark, and never written. Texts so short that both see everything need no blocks, and ours has none then.
"""

from dataclasses import replace
from typing import Any

from regard.interop.families.bert import FOLLOWS, GUESSES, IN_VAIN, TIED
from regard.interop.families.encoders import (
    ACTIVATIONS,
    COUNTED,
    OLD,
    ONLY,
    POOLER,
    SIZES,
    WORDS,
    Encoders,
    Marks,
    body,
)
from regard.interop.family import Config, MeansOtherwise, Model, Spelling, assignments
from regard.interop.names import Line, Table
from regard.interop.tokens import Symbols
from regard.systems.bert import Bert

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
OF_BLOCKS = ("block", "first", "near", "random")
FIRST, NEAR = 1, 1  # blocks that all see, and on either side


class Blocked(Encoders):
    """Encoders that may look at blocks."""

    def values(self, config: Config, where: str) -> dict[str, Any]:
        values = super().values(config, where)
        if values["attention"] == "bigbird":
            return {**values, "first": FIRST, "near": NEAR}
        return {name: value for name, value in values.items() if name not in OF_BLOCKS}

    def settled(self, system: Bert) -> Bert:
        """Theirs reads short texts with full attention: where all are short, so does ours."""
        if system.attention != "bigbird" or system.context > turns(system.block, system.random):
            return system
        return replace(system, attention="full", **usual())

    def write(self, model: Model, vocabulary: int) -> Config:
        if model.system.attention == "bigbird":
            raise MeansOtherwise(
                "system.attention = 'bigbird' cannot be said there: BigBird of 'transformers' sees other blocks by "
                f"chance, and the last one beside the first; {self.way(model, vocabulary)}"
            )
        return super().write(model, vocabulary)

    def way(self, model: Model, vocabulary: int) -> str:
        """How a run with blocks becomes one that can be exported: with its own weights where all else can be said."""
        without = {name: value for name, value in usual().items() if getattr(model.system, name) != value}
        full = replace(model, system=replace(model.system, attention="full", **without))
        more = self.family.nearest(full, vocabulary)
        asked = assignments({"attention": "full"} | without | more)
        if more:
            return f"a run that is trained with {asked} can be exported, as {self.kind}"
        return f"train on with --from and {asked}, and export that"

    def remarks(self, config: Config) -> list[str]:
        found, system = super().remarks(config), self.read(config, {}, self.kind).system
        if system.attention == "bigbird":
            here = (FIRST + 2 * NEAR + 1 + system.random) * system.block
            found.append(
                f"attention_type = '{BLOCKS}': the blocks that are seen by chance are others here, and the last one is "
                f"not seen by all; full attention is for texts of up to {turns(system.block, system.random)} tokens "
                f"there, of {here} here"
            )
        return found


def usual() -> dict[str, Any]:
    """The settings of blocks as they are where there are none."""
    return {name: getattr(Bert, name) for name in OF_BLOCKS}


def turns(block: int, random: int) -> int:
    """The longest text that theirs reads with full attention, in tokens."""
    return (5 + 2 * random) * block


FAMILY = Blocked(
    kind="big_bird",
    name="BigBird",
    table=Table((*body("bert."), *GUESSES), WORDS, tied=TIED, idle=COUNTED, spare=POOLER, prefix="bert.", old=OLD),
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
    spare=IN_VAIN,
    idly=("own", "labels", "tags", "vectors"),
    pool=lambda system: f"first-{system.feedforward}",
).family
