"""The tokenizer of a folder of CTranslate2. Its vocabulary alone does not say how text is cut: a file beside it may."""

import json
import re
from collections.abc import Mapping
from typing import Any

from tokenizers import Tokenizer as Backend
from tokenizers import models, pre_tokenizers

from regard.errors import UserError
from regard.interop.files.hugging_face import Folder
from regard.interop.tokens import (
    FILES,
    GENERATION,
    JSON,
    SETTINGS,
    Symbols,
    Tree,
    adopted,
    content,
    marian,
    numbers_of,
    opened,
    sentencepiece,
)
from regard.text import Text, Tokenizer
from regard.text.tokenizer import cut_inside

VOCABULARIES = ("shared_vocabulary", "vocabulary", "source_vocabulary", "target_vocabulary")
PIECES = (marian.SOURCE, "sentencepiece.model", "spm.model", *(name for name in FILES if name.endswith(".model")))
ALL = (
    *(name + end for name in VOCABULARIES for end in (".json", ".txt")),
    JSON,
    SETTINGS,
    GENERATION,
    *PIECES,
    marian.TARGET,
)
ENDS = (".spm", ".model")
Read = tuple[Tokenizer, Text, list[str]]


def read(folder: Folder, config: Mapping[str, Any], rows: int, *, writes: bool) -> Read:
    """For a model with a vector for so many tokens; the last is what is to be said of it."""
    words = vocabulary(folder)
    if len(words) != rows:
        raise UserError(f"the vocabulary of {folder.path} has {len(words)} tokens, the model has vectors for {rows}")
    generation = {key: folder.json(GENERATION).get(key) for key in ("eos_token_id", "bad_words_ids")}
    told = {key: value for key, value in config.items() if key.endswith("_token")}
    given = {**folder.json(SETTINGS), **generation, **told}
    numbers = {word: number for number, word in enumerate(words)}
    tree, where, remarks = tree_of(folder, numbers, given)
    opens = opened(tree, where) if where.endswith(JSON) else where.endswith(ENDS)
    meant = symbols(given, words, writes=writes, opens=opens)
    aside = marian.targets(folder, numbers, names_in(given)) if where.endswith(marian.SOURCE) else None
    known = rows if where.endswith(ENDS) else None
    given["eos_token"] = meant.end[1]
    tokenizer, text = adopted(tree, meant, given, rows, where, known=known, targets=aside)
    return tokenizer, text, remarks


def names_in(given: Mapping[str, Any]) -> list[str]:
    """The names of the symbols, but for that of what is unknown."""
    return [content(value) for key, value in given.items() if key.endswith("_token") and key != "unk_token"]


def symbols(given: Mapping[str, Any], words: list[str], *, writes: bool, opens: bool) -> Symbols:
    """Which of the tokens our symbols are: what the settings name and the vocabulary has, else what is usual."""

    def first(*names: Any) -> tuple[str, str]:
        return "", next((name for name in names if name in words), "")

    wanted = {key: content(value) for key, value in given.items()}
    start = ("decoder_start_token", "bos_token") if writes else ("cls_token", "bos_token")
    end = ("eos_token",) if writes else ("sep_token", "eos_token")
    unknown = wanted.get("unk_token")
    return Symbols(
        start=first(*map(wanted.get, start), "<s>", "[CLS]"),
        end=("eos_token" if writes else "", first(*map(wanted.get, end), "</s>", "[SEP]")[1]),
        pad=first(wanted.get("pad_token"), "<pad>", "[PAD]", "<blank>"),
        unknown=first(unknown if unknown != wanted.get("eos_token") else None),
        mask=first(wanted.get("mask_token"), "<mask>", "[MASK]"),
        opens=opens,
    )


def vocabulary(folder: Folder) -> list[str]:
    """The tokens by their numbers. Where source and target have one each, they must be the same."""
    found = {name: read_words(folder, name) for name in VOCABULARIES}
    there = {name: words for name, words in found.items() if words is not None}
    if not there:
        raise UserError(f"{folder.path} has no {VOCABULARIES[0]}.json and no {VOCABULARIES[1]}.json")
    first, *others = there.values()
    if any(words != first for words in others):
        raise UserError(f"{folder.path}: {' and '.join(there)} differ: not supported, a run has one vocabulary")
    if len({*first}) < len(first):
        raise UserError(f"{folder.path}: {len(first) - len({*first})} tokens of the vocabulary stand there twice")
    return first


def read_words(folder: Folder, name: str) -> list[str] | None:
    path, plain = folder.path / f"{name}.json", folder.path / f"{name}.txt"
    try:
        if path.is_file():
            words = json.loads(path.read_text(encoding="utf-8"))
        elif plain.is_file():
            words = plain.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        else:
            return None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{folder.path / name} is damaged: {error}") from None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise UserError(f"{path} is damaged: it is no list of tokens")
    return words


def tree_of(folder: Folder, numbers: dict[str, int], given: Mapping[str, Any]) -> tuple[Tree, str, list[str]]:
    """As `tokenizer.json` has it, where it comes from, and what is to be said of it."""
    if (folder.path / JSON).is_file():
        where, tree = str(folder.path / JSON), folder.json(JSON)
        mine = numbers_of(tree, where)
        if wrong := sorted(name for name, number in mine.items() if numbers.get(name) != number):
            raise UserError(f"{where}: {wrong[0]!r} has another number in the vocabulary beside it: not supported")
        return tree, where, []
    for name in PIECES:
        if (path := folder.path / name).is_file():
            return marian.numbered(sentencepiece.parsed(path), numbers, names_in(given), str(path))[0], str(path), []
    said = "no file says how text is cut into tokens: it must be given as tokens with blanks between them"
    return spaced(numbers, given, str(folder.path)), str(folder.path), [said]


def spaced(numbers: dict[str, int], given: Mapping[str, Any], where: str) -> Tree:
    """Whatever stands between blanks is a token; what spells a symbol is cut inside."""
    unknown = content(given.get("unk_token")) or "<unk>"
    if unknown not in numbers:
        raise UserError(f"the vocabulary of {where} has no {unknown}")
    names = sorted({content(value) for key, value in given.items() if key.endswith("_token")} - {unknown, ""})
    backend = Backend(models.WordLevel(numbers, unk_token=unknown))
    angular = [re.escape(name) for name in names if name.startswith("<")]
    cut = [cut_inside(angular)] if angular else []
    backend.pre_tokenizer = pre_tokenizers.Sequence([*cut, pre_tokenizers.WhitespaceSplit()])
    return json.loads(backend.to_str())
