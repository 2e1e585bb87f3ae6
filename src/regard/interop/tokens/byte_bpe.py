"""GPT-2's vocabulary and merges (B1): two files, under the names of either of two libraries."""

import json
from typing import Any

from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, pre_tokenizers

from regard.errors import UserError
from regard.interop.files.hugging_face import Folder
from regard.interop.tokens.settings import SETTINGS, flag

VOCABULARIES, MERGES = ("vocab.json", "encoder.json"), ("merges.txt", "vocab.bpe")


def read(folder: Folder) -> dict[str, Any]:
    """As `tokenizer.json` has it."""
    numbers, path = folder.json(folder.first(*VOCABULARIES).name), folder.first(*MERGES)
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
        merges = [pair(line) for line in lines if line and not line.startswith("#version")]
    except (UnicodeDecodeError, ValueError) as error:
        raise UserError(f"{path} is damaged: {error}") from None
    blank = flag(folder.json(SETTINGS), "add_prefix_space", False, str(folder.path / SETTINGS))
    try:
        backend = Backend(models.BPE(numbers, merges))
    except Exception as error:  # the backend raises a bare Exception for merges that the vocabulary lacks
        raise UserError(f"{path} does not fit the vocabulary: {error}") from None
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=bool(blank))
    backend.decoder = decoders.ByteLevel()
    return json.loads(backend.to_str())


def pair(line: str) -> tuple[str, str]:
    left, blank, right = line.partition(" ")
    if not blank or " " in right:
        raise ValueError(f"{line!r} is no pair")
    return left, right
