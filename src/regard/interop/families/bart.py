"""BART as Hugging Face has it (S7; Lewis et al., 2020): learned places from row 2 on, and a norm on the words.

A text stands between <s> and </s>, in a source as in a target, and what is written begins with </s>.
"""

from collections.abc import Mapping

from regard.interop.families.translators import HEAD, TIED, WORDS, body, model_of, places, remarks, written
from regard.interop.family import Config, Family, Model
from regard.interop.names import Table, after
from regard.interop.tokens import Symbols
from regard.shapes import Tensor
from regard.systems.transformer import Transformer
from regard.text.tokenizer import FIRST

LINES = (*HEAD, *body("model."), *places("model.", after(2)))
IDLE = ("*encoder.version", "*decoder.version")


def read(config: Config, tensors: Mapping[str, Tensor], where: str) -> Model:
    fixed = {"norm": "post", "position": "learned", "epsilon": 1e-5, "embedding_norm": True, "tied": "all"}
    return model_of(config, tensors, where, **fixed)


FAMILY = Family(
    kind="bart",
    system=Transformer,
    read=read,
    write=written,
    table=lambda system: Table(LINES, WORDS, tied=TIED, idle=IDLE, prefix="model."),
    class_of=lambda objective: "BartForConditionalGeneration",
    symbols=Symbols(
        start=("decoder_start_token_id", "</s>"),
        first=("bos_token", "<s>"),
        mask=("mask_token", "<mask>"),
        lead=(FIRST,),
        parted=2,
        merges=True,
    ),
    remarks=remarks,
)
