"""BERT's vocabulary as a tokenizer of ours (B1): every token keeps its number, and the special symbols get our names.

No text can spell a special symbol: marks such as "<" and "[" are cut off words before anything is looked up.
"""

import json
from dataclasses import dataclass
from typing import Any

from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, normalizers, pre_tokenizers

from regard.errors import UserError
from regard.interop.hugging_face import Folder
from regard.text import Text, Tokenizer
from regard.text.tokenizer import END, MASK, PAD, START, UNKNOWN

TOKENIZER, VOCABULARY, SETTINGS, SYMBOLS = (
    "tokenizer.json",
    "vocab.txt",
    "tokenizer_config.json",
    "special_tokens_map.json",
)
FILES = (TOKENIZER, VOCABULARY, SETTINGS, SYMBOLS)
ROLES = {  # what a symbol is for, its usual name there, and ours
    "pad_token": ("[PAD]", PAD),
    "unk_token": ("[UNK]", UNKNOWN),
    "cls_token": ("[CLS]", START),
    "sep_token": ("[SEP]", END),
    "mask_token": ("[MASK]", MASK),
}
BESIDE = {
    "lowercase": "do_lower_case",
    "strip_accents": "strip_accents",
    "handle_chinese_chars": "tokenize_chinese_chars",
}
LONGEST = 100  # characters of a word; a longer one is unknown


@dataclass(frozen=True)
class Cutting:
    """How text becomes words before they are looked up. `accents` None strips them where case goes too."""

    lowercase: bool = True
    accents: bool | None = None
    chinese: bool = True
    clean: bool = True

    def normalizer(self) -> normalizers.Normalizer:
        return normalizers.BertNormalizer(
            clean_text=self.clean,
            handle_chinese_chars=self.chinese,
            strip_accents=self.accents,
            lowercase=self.lowercase,
        )


def read(folder: Folder, rows: int) -> tuple[Tokenizer, Text]:
    """The tokenizer of a folder whose model has a row for so many tokens, and the settings that describe it."""
    path = folder.first(TOKENIZER, VOCABULARY)
    numbers, cutting = from_json(folder) if path.name == TOKENIZER else from_lines(folder)
    if sorted(numbers.values()) != list(range(len(numbers))):
        raise UserError(f"{path}: the {len(numbers)} tokens are not numbered from 0 to {len(numbers) - 1}")
    if len(numbers) > rows:
        raise UserError(f"{path} has {len(numbers)} tokens, the model has a vector for {rows}")
    numbers |= {f"<empty {number}>": number for number in range(len(numbers), rows)}  # rows that no text reaches
    tokenizer = made(renamed(numbers, folder), cutting)
    return tokenizer, Text(kind="wordpiece", vocabulary=len(tokenizer), lowercase=cutting.lowercase)


def made(numbers: dict[str, int], cutting: Cutting) -> Tokenizer:
    backend = Backend(models.WordPiece(numbers, unk_token=UNKNOWN, max_input_chars_per_word=LONGEST))
    backend.normalizer = cutting.normalizer()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    backend.add_special_tokens([symbol for _, symbol in ROLES.values()])
    return Tokenizer(backend.to_str(pretty=False))


def renamed(numbers: dict[str, int], folder: Folder) -> dict[str, int]:
    """The vocabulary with our names for the special symbols, in the order of the numbers."""
    given = {**folder.json(SYMBOLS), **folder.json(SETTINGS)}
    names = {content(given.get(role) or usual): ours for role, (usual, ours) in ROLES.items()}
    if len(names) < len(ROLES):
        raise UserError(f"{folder.path}: two special symbols have one name; they are {', '.join(names)}")
    for theirs, ours in names.items():
        if theirs not in numbers:
            raise UserError(f"{folder.path}: the vocabulary has no {theirs}")
        if ours in numbers and ours != theirs:
            raise UserError(f"{folder.path}: the vocabulary has {ours} beside {theirs}, which is to be called so here")
    return {names.get(token, token): number for token, number in sorted(numbers.items(), key=lambda item: item[1])}


def content(symbol: Any) -> str:
    """A symbol is written as it is, or as a record of it and how it is cut."""
    return str(symbol["content"] if isinstance(symbol, dict) else symbol)


def from_lines(folder: Folder) -> tuple[dict[str, int], Cutting]:
    """A token in each line; how words are cut stands beside it, where it is not as usual."""
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
    case, chinese = given.get("do_lower_case", True), given.get("tokenize_chinese_chars", True)
    return numbers, Cutting(case, given.get("strip_accents"), chinese)


def from_json(folder: Folder) -> tuple[dict[str, int], Cutting]:
    """A tokenizer of the library `tokenizers`, if it cuts as BERT does."""
    path, tree = folder.path / TOKENIZER, folder.json(TOKENIZER)
    model, cut = tree.get("model") or {}, tree.get("normalizer") or {}
    for part, found, wanted in (
        ("model", model, "WordPiece"),
        ("normalizer", cut, "BertNormalizer"),
        ("pre_tokenizer", tree.get("pre_tokenizer") or {}, "BertPreTokenizer"),
    ):
        if found.get("type", "nothing") != wanted:
            raise UserError(f"{path}: {part} {found.get('type', 'nothing')} is not supported; BERT has {wanted}")
    usual = {"continuing_subword_prefix": "##", "max_input_chars_per_word": LONGEST}
    for name, value in usual.items():
        if model.get(name, value) != value:
            raise UserError(f"{path}: {name} = {json.dumps(model[name])} is not supported; BERT has {value}")
    numbers = dict(model.get("vocab") or {})
    if more := [token["content"] for token in tree.get("added_tokens", []) if token["content"] not in numbers]:
        raise UserError(f"{path}: added tokens are not supported: {' '.join(more[:5])}")
    return numbers, agreed(cut, folder.json(SETTINGS), str(path))


def agreed(cut: dict[str, Any], given: dict[str, Any], where: str) -> Cutting:
    """How words are cut, if the settings beside the tokenizer do not say otherwise."""
    usual: dict[str, Any] = {"lowercase": True, "strip_accents": None, "handle_chinese_chars": True, "clean_text": True}
    found = {name: cut.get(name, value) for name, value in usual.items()}
    for name, theirs in BESIDE.items():
        if given.get(theirs, found[name]) != found[name]:
            raise UserError(f"{where} has {name} = {found[name]}, {SETTINGS} {theirs} = {given[theirs]}: which is it?")
    return Cutting(*found.values())
