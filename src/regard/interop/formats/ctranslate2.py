"""A folder as CTranslate2 keeps it: `model.bin` with tensors and settings, `config.json`, and a vocabulary."""

import math
from pathlib import Path
from typing import Any

from regard.errors import UserError
from regard.interop.ct2 import tokens
from regard.interop.ct2.names import GATED, table
from regard.interop.ct2.settings import CONTEXT, There
from regard.interop.family import Model, as_deep, settings
from regard.interop.files.ctranslate2 import MODEL
from regard.interop.files.ctranslate2 import read as read_binary
from regard.interop.files.hugging_face import CONFIG, Folder
from regard.interop.imported import Imported, Origin, imported, rows_of
from regard.interop.names import Table
from regard.objectives import NextToken, Translation, Vectors
from regard.systems.bert import Bert
from regard.systems.gpt import Gpt
from regard.systems.transformer import Transformer

SIDES = {
    "TransformerSpec": ("encoder", "decoder"),
    "TransformerDecoderSpec": ("decoder",),
    "TransformerEncoderSpec": ("encoder",),
}


def fits(path: Path) -> bool:
    return (path / MODEL).is_file()


def read(path: Path, allow: tuple[str, ...] = ()) -> Imported:
    """A translator, a language model, or an encoder."""
    folder, file = Folder(path), path / MODEL
    found, config = read_binary(file), folder.json(CONFIG)
    if found.kind not in SIDES:
        raise UserError(f"{file}: a model of kind '{found.kind}' is not supported; known: {', '.join(SIDES)}")
    there = There(found, config, SIDES[found.kind], str(file))
    made = model_of(there)
    names = table_of(there, made.system)
    rows = rows_of(names, there.tensors, str(file))
    tokenizer, text, remarks = tokens.read(folder, config, rows, writes="decoder" in there.sides)
    origin = Origin(
        path=path,
        kind=found.kind,
        files=folder.hashes((MODEL, CONFIG, *tokens.ALL)),
        remarks=[*remarks_on(there, made.system), *remarks],
    )
    return imported(made, names, there.tensors, (tokenizer, text), where=str(file), origin=origin, allow=allow)


def model_of(there: There) -> Model:
    """The settings that the file has, each checked, and what the model is for."""
    there.check()
    values = there.shape()
    system: Any = Gpt
    objective: Any = NextToken()
    if there.sides == ("decoder",):
        there.scaled(1.0)
        values["tied"] = there.tied != "none"
    elif there.sides == ("encoder",):
        there.scaled(1.0)
        system, objective = Bert, Vectors(pooled="pooler_dense.weight" in there.tensors)
        values["segments"] = len(there.tensors.get("encoder.embeddings_1.weight", ()))
    else:
        system, objective = Transformer, Translation()
        values |= translator(there)
    return Model(settings(system, values, there.where), objective)


def translator(there: There) -> dict[str, Any]:
    """What a translator has beside."""
    if there.config.get("add_source_bos"):
        raise UserError(f"{CONFIG}: add_source_bos = true is not supported: here no source begins with a symbol")
    return {
        "tied": there.tied,
        "decoder_depth": as_deep(there.depth("decoder"), there.depth("encoder")),
        "scaled": there.scaled(1.0, math.sqrt(there.words.shape[1])) != 1,
        "embedding_norm": "decoder.layernorm_embedding.weight" in there.tensors,
        "output_bias": "decoder.projection.bias" in there.tensors,
    }


def table_of(there: There, system: Any) -> Table:
    apart = system.position == "rotary" and not there.each("rotary_interleave", 1)
    return table(
        translates=len(there.sides) == 2,
        encodes=there.sides == ("encoder",),
        gated=system.feedforward in GATED,
        tied=there.tied,
        halves=system.each if apart else 0,
    )


def remarks_on(there: There, system: Any) -> list[str]:
    """What is otherwise than there."""
    said = []
    if not there.places:
        said.append(f"the file names no longest text; here a text has at most {CONTEXT} tokens")
    if there.config.get("add_source_eos") is False and len(there.sides) == 2:
        end = there.config.get("eos_token", "</s>")
        said.append(f"{CONFIG} leaves the end of a source to its user; here every source ends with {end}")
    return said
