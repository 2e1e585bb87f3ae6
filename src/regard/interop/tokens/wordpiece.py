"""BERT's vocabulary (B1), a token in each line."""

import json
from typing import Any

from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, normalizers, pre_tokenizers

from regard.errors import UserError
from regard.interop.files.hugging_face import Folder

VOCABULARY, SETTINGS = "vocab.txt", "tokenizer_config.json"
LONGEST = 100  # characters of a word; a longer one is unknown


def read(folder: Folder) -> dict[str, Any]:
    """As `tokenizer.json` has it; how words are cut stands beside the vocabulary, where it is not as usual."""
    path, given = folder.path / VOCABULARY, folder.json(SETTINGS)
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is damaged: {error}") from None
    if given.get("do_basic_tokenize") is False:
        raise UserError(f"{folder.path / SETTINGS}: do_basic_tokenize = false is not supported")
    numbers = {line.removesuffix("\r"): number for number, line in enumerate(lines)}
    if len(numbers) < len(lines):
        raise UserError(f"{path} is damaged: {len(lines) - len(numbers)} tokens stand there twice")
    unknown = given.get("unk_token") or "[UNK]"
    unknown = unknown["content"] if isinstance(unknown, dict) else unknown
    backend = Backend(models.WordPiece(numbers, unk_token=unknown, max_input_chars_per_word=LONGEST))
    backend.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=given.get("tokenize_chinese_chars", True),
        strip_accents=given.get("strip_accents"),
        lowercase=given.get("do_lower_case", True),
    )
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    return json.loads(backend.to_str())
