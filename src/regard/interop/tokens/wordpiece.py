"""BERT's vocabulary (B1), a token in each line."""

import json
from typing import Any

from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, normalizers, pre_tokenizers

from regard.errors import UserError
from regard.interop.files.hugging_face import Folder
from regard.interop.tokens.settings import SETTINGS, flag
from regard.interop.tokens.trees import content

VOCABULARY = "vocab.txt"
LONGEST = 100  # characters of a word; a longer one is unknown


def read(folder: Folder) -> dict[str, Any]:
    """As `tokenizer.json` has it; how words are cut stands beside the vocabulary, where it is not as usual."""
    path, given, settings = folder.path / VOCABULARY, folder.json(SETTINGS), str(folder.path / SETTINGS)
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is damaged: {error}") from None
    if given.get("do_basic_tokenize") is False:
        raise UserError(f"{settings}: do_basic_tokenize = false is not supported")
    numbers = {line.removesuffix("\r"): number for number, line in enumerate(lines)}
    if len(numbers) < len(lines):
        raise UserError(f"{path} is damaged: {len(lines) - len(numbers)} tokens stand there twice")
    unknown = content(given.get("unk_token")) or "[UNK]"
    backend = Backend(models.WordPiece(numbers, unk_token=unknown, max_input_chars_per_word=LONGEST))
    backend.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=bool(flag(given, "tokenize_chinese_chars", True, settings)),
        strip_accents=flag(given, "strip_accents", None, settings),
        lowercase=bool(flag(given, "do_lower_case", True, settings)),
    )
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    return json.loads(backend.to_str())
