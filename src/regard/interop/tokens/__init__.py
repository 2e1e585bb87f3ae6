"""Tokenizers of others as ours: every token keeps its number and its name, and each of our symbols is one of theirs."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from regard.errors import UserError
from regard.interop.files.hugging_face import Folder
from regard.interop.tokens import byte_bpe, marian, sentencepiece, wordpiece
from regard.text import Text, Tokenizer
from regard.text.tokenizer import END, FIRST, MASK, OTHERWISE, PAD, START, UNKNOWN, Habits, cut_inside

JSON, SETTINGS, SYMBOLS = "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"
GENERATION = "generation_config.json"
Tree = dict[str, Any]  # of a `tokenizer.json`
FILES: dict[str, Callable[[Folder], Tree]] = {  # what a vocabulary may be kept in, each with what reads it
    JSON: lambda folder: folder.json(JSON),
    "vocab.txt": wordpiece.read,
    "merges.txt": byte_bpe.read,
    "vocab.bpe": byte_bpe.read,
    "source.spm": marian.read,
    "spiece.model": sentencepiece.read,
    "tokenizer.model": sentencepiece.read,
    "sentencepiece.bpe.model": sentencepiece.read,
}
ALL = (*FILES, "target.spm", "vocab.json", "encoder.json", SETTINGS, SYMBOLS)
KINDS = {"WordPiece": "wordpiece", "Unigram": "unigram", "WordLevel": "word", "BPE": "bpe"}


@dataclass(frozen=True)
class Symbols:
    """Which symbol of theirs each of ours is: the key under which the tokenizer's settings have it, and its usual name.

    A key that ends in "_id" is one of the model's settings. A symbol without a name is the end symbol where it is the
    padding or the start, and else there is none. `opens` is None where the tokenizer itself says it.
    """

    start: tuple[str, str] = ("bos_token", "<s>")
    end: tuple[str, str] = ("eos_token", "</s>")
    pad: tuple[str, str] = ("pad_token", "<pad>")
    unknown: tuple[str, str] = ("unk_token", "<unk>")
    mask: tuple[str, str] = ("", "")
    first: tuple[str, str] = ("", "")  # what texts begin with where that is not the start
    lead: tuple[str, ...] = ()  # of our names
    sentinels: int = 0  # symbols <extra_id_N>, the last of them first, behind a vocabulary that lacks them
    opens: bool | None = True

    @property
    def roles(self) -> dict[str, tuple[str, str]]:
        found = {START: self.start, END: self.end, PAD: self.pad, UNKNOWN: self.unknown}
        return found | {MASK: self.mask, FIRST: self.first}


def read(folder: Folder, symbols: Symbols, config: Mapping[str, Any], rows: int) -> tuple[Tokenizer, Text]:
    """The tokenizer of a folder whose model has a row for so many tokens, and the settings that describe it."""
    path = folder.first(*FILES)
    tree = FILES[path.name](folder)
    given = {**folder.json(SYMBOLS), **folder.json(SETTINGS), **folder.json(GENERATION), **config}
    if symbols.opens is None:
        otherwise = given.get("add_bos_token", path.suffix == ".model")
        opens = opened(tree, str(path)) if path.name == JSON else otherwise
        symbols = replace(symbols, opens=bool(opens))
    return adopted(tree, symbols, given, rows, str(path))


def adopted(tree: Tree, symbols: Symbols, given: Mapping[str, Any], rows: int, where: str) -> tuple[Tokenizer, Text]:
    """A tokenizer of the library `tokenizers` with our symbols; `given` says which of theirs these are."""
    count = given.get("extra_ids", symbols.sentinels) if symbols.sentinels else 0
    if type(count) is not int or not 0 <= count <= rows:
        raise UserError(f"{where}: extra_ids = {count!r}, and the model has a vector for {rows} tokens")
    tree = with_sentinels(tree, count, where)
    numbers = numbers_of(tree, where)
    if (known := tree.pop(marian.KNOWN, len(numbers))) > rows:
        raise UserError(f"{where} has {known} tokens, the model has a vector for {rows}")
    names = named(symbols, given, numbers, where)
    tree = {**guarded(tree, {*names.values()} - {""}), "padding": None, "truncation": None}  # rows are laid out here
    rest = symbols.lead, bool(symbols.opens), never(given, rows)
    habits = Habits(names, 0 if len(numbers) == rows else rows, *rest)
    try:
        tokenizer = Tokenizer(json.dumps({**tree, OTHERWISE: asdict(habits)}, ensure_ascii=False))
    except UserError:
        raise
    except Exception as error:  # the backend raises a bare Exception for anything it cannot read
        raise UserError(f"{where} is damaged: {error}") from None
    lowercase = bool((tree.get("normalizer") or {}).get("lowercase", False))
    return tokenizer, Text(kind=kind_of(tree), vocabulary=len(tokenizer), lowercase=lowercase)


def numbers_of(tree: Tree, where: str) -> dict[str, int]:
    """Every token by its name, whether it was learnt or added; all numbers from 0 on, each once."""
    model = tree.get("model") or {}
    if model.get("type") not in KINDS:
        raise UserError(f"{where}: model {model.get('type', 'nothing')!r} is not supported; known: {', '.join(KINDS)}")
    vocabulary = model.get("vocab") or {}
    if isinstance(vocabulary, list):
        vocabulary = {piece: number for number, (piece, _) in enumerate(vocabulary)}
    added = {token["content"]: token["id"] for token in tree.get("added_tokens") or []}
    numbers = {**vocabulary, **added}
    if len({*numbers.values()}) < len(numbers) or not all(type(number) is int for number in numbers.values()):
        raise UserError(f"{where} is damaged: two of its {len(numbers)} tokens have one number")
    if numbers and not 0 <= min(numbers.values()) <= max(numbers.values()) < len(numbers):
        raise UserError(f"{where}: the {len(numbers)} tokens are not numbered from 0 to {len(numbers) - 1}")
    return numbers


def named(symbols: Symbols, given: Mapping[str, Any], numbers: Mapping[str, int], where: str) -> dict[str, str]:
    """Their name for each of our symbols."""
    by_number = {number: name for name, number in numbers.items()}
    found = {}
    for ours, (key, usual) in symbols.roles.items():
        value = given.get(key) if key else None
        if key.endswith("_id") and value is not None:
            name = by_number.get(value, f"number {value}")
        else:
            name = content(value) or usual
        if name in numbers:
            found[ours] = name
        elif value is None and (ours in (PAD, UNKNOWN) or (ours == START and not usual)):
            found[ours] = ""
        elif ours not in (MASK, FIRST) or value is not None:
            raise UserError(f"{where}: the vocabulary has no {name or key}")
    return found | {ours: found[END] for ours in (START, PAD) if not found[ours]}


def opened(tree: Tree, where: str) -> bool:
    """Whether a symbol is put before every text."""
    processor = tree.get("post_processor") or {}
    try:
        steps = [processor, *processor.get("processors", [])]
        around = [step["single"] for step in steps if step.get("type") == "TemplateProcessing"]
        return any("SpecialToken" in single[0] for single in around)
    except (AttributeError, IndexError, KeyError, TypeError):
        raise UserError(f"{where} is damaged: its post_processor is none") from None


def content(symbol: Any) -> str:
    """A symbol is written as it is, or as a record of it and how it is cut."""
    if isinstance(symbol, dict):
        symbol = symbol.get("content")
    return symbol if isinstance(symbol, str) else ""


def guarded(tree: Tree, names: set[str]) -> Tree:
    """So that no text spells a symbol: it is special, and where the model itself could find it, it is cut inside."""
    given, numbers = tree.get("added_tokens") or [], numbers_of(tree, "")
    special = [{**token, "special": token.get("special") or token["content"] in names} for token in given]
    missing = names - {token["content"] for token in given}
    special += [added(name, numbers[name]) for name in missing]
    tree = {**tree, "added_tokens": sorted(special, key=lambda token: token["id"])}
    spelt = sorted(token["content"] for token in special if token["special"] and token["content"].startswith("<"))
    if tree["model"]["type"] != "Unigram" or not spelt:
        return tree
    cut = json.loads(cut_inside(re.escape(name) for name in spelt).__getstate__())
    return {**tree, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [cut, tree["pre_tokenizer"]]}}


def added(name: str, number: int) -> Tree:
    """A special symbol as `tokenizer.json` has it."""
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": name, **plain, "special": True}


def never(given: Mapping[str, Any], rows: int) -> tuple[int, ...]:
    """The tokens that are not to be written; of longer words that are not, nothing is said here."""
    words = given.get("bad_words_ids")
    single = [word[0] for word in words if isinstance(word, list) and len(word) == 1] if isinstance(words, list) else []
    return tuple(token for token in single if type(token) is int and 0 <= token < rows)


def with_sentinels(tree: Tree, count: int, where: str) -> Tree:
    """A vocabulary with symbols that stand for what is cut out of a text."""
    there, names = numbers_of(tree, where), [f"<extra_id_{i}>" for i in reversed(range(count))]
    if not names or names[-1] in there:
        return tree
    more = [added(name, len(there) + i) for i, name in enumerate(names)]
    return {**tree, "added_tokens": [*(tree.get("added_tokens") or []), *more]}


def kind_of(tree: Tree) -> str:
    """What we call this kind of tokens."""
    kind = KINDS[tree["model"]["type"]]
    return "byte-bpe" if kind == "bpe" and "ByteLevel" in json.dumps(tree.get("pre_tokenizer")) else kind
