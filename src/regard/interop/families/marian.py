"""Marian as Hugging Face has it (S7). Its sinusoids are all sines, then all cosines; ours take turns.

No number knows where in a vector it stands but those of the sinusoids, so every matrix is given in our order.
"""

from collections.abc import Mapping

import torch

from regard.errors import UserError
from regard.interop.families.translators import HEAD, TIED, WORDS, body, model_of, remarks, written
from regard.interop.family import Config, Family, Model
from regard.interop.names import Table
from regard.interop.tokens import Symbols
from regard.shapes import Int, Tensor
from regard.systems.transformer import Transformer

LINES = (*HEAD, *body("model."))
IDLE = ("*embed_positions.weight",)  # the sinusoids
SHARED = "share_encoder_decoder_embeddings"


def read(config: Config, tensors: Mapping[str, Tensor], where: str) -> Model:
    sizes = {str(config[name]) for name in ("vocab_size", "decoder_vocab_size") if config.get(name) is not None}
    if config.get(SHARED) is False or len(sizes) > 1:
        raise UserError(f"{where}: {SHARED} = false, two vocabularies in one model, is not supported")
    fixed = {"norm": "post", "position": "sinusoidal", "epsilon": 1e-5, "embedding_norm": False, "tied": "all"}
    return model_of(config, tensors, where, **fixed)


def write(model: Model, vocabulary: int) -> Config:
    return {**written(model, vocabulary), "decoder_vocab_size": vocabulary, SHARED: True}


def table(system: Transformer) -> Table:
    return Table(LINES, WORDS, tied=TIED, idle=IDLE, prefix="model.", order=halves(system.width))


def halves(width: int) -> Int[Tensor, "w"]:
    """Where a vector of sines, then cosines, has what one of pairs has at each place."""
    half = (width + 1) // 2
    return torch.arange(2 * half).view(2, half).T.flatten()[:width]


FAMILY = Family(
    kind="marian",
    system=Transformer,
    read=read,
    write=write,
    table=table,
    class_of=lambda objective: "MarianMTModel",
    symbols=Symbols(start=("decoder_start_token_id", "<pad>")),
    remarks=remarks,
)
