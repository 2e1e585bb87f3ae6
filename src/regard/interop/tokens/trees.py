"""A `tokenizer.json` as a tree: what must be there, the numbers of its tokens, and symbols that no text spells."""

import base64
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from tokenizers import Regex, pre_tokenizers

from regard.errors import UserError
from regard.interop.tokens import charsmap
from regard.text.tokenizer import EACH

Tree = dict[str, Any]
KINDS = {"WordPiece": "wordpiece", "Unigram": "unigram", "WordLevel": "word", "BPE": "bpe"}
PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
USUAL = {"RobertaProcessing": 2, "BertProcessing": 1}  # end symbols between two texts
FLAGS = ("single_word", "lstrip", "rstrip", "normalized")
BLANK = "\u2581"
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def sound(tree: Tree, where: str) -> Tree:
    """The tree itself, if each of its parts is of the kind that it must be."""
    model, symbols = tree.get("model"), tree.get("added_tokens") or []
    if not isinstance(model, dict) or model.get("type") not in [*KINDS]:
        name = model.get("type", "nothing") if isinstance(model, dict) else model
        raise UserError(f"{where}: model {name!r} is not supported; known: {', '.join(KINDS)}")
    if not isinstance(symbols, list) or not all(is_symbol(symbol) for symbol in symbols):
        raise UserError(f"{where} is damaged: an added token is a record with its id and its content")
    if wrong := [part for part in PARTS if not isinstance(tree.get(part) or {}, dict)]:
        raise UserError(f"{where} is damaged: its {wrong[0]} is none")
    if not all(charsmap.fits(table) for table in tables(tree)):
        raise UserError(f"{where} is damaged: its table of characters is none")
    vocabulary = model.get("vocab") or {}
    pairs = isinstance(vocabulary, list) and all(is_pair(entry) for entry in vocabulary)
    if not (pairs if model["type"] == "Unigram" and vocabulary else isinstance(vocabulary, dict)):
        raise UserError(f"{where} is damaged: its vocabulary is none")
    return tree


def flat(step: Any) -> list[Tree]:
    """A step, or the steps that it is made of."""
    if not isinstance(step, dict):
        return []
    several = step.get("normalizers") or step.get("pretokenizers")
    return [part for each in several for part in flat(each)] if isinstance(several, list) else [step]


def tables(tree: Tree) -> Iterator[bytes]:
    """The tables of characters by which a text is made even."""
    for step in flat(tree.get("normalizer")):
        if table := step.get("precompiled_charsmap"):
            try:
                yield base64.b64decode(table, validate=True)
            except (TypeError, ValueError):
                yield b""


def is_symbol(symbol: Any) -> bool:
    return isinstance(symbol, dict) and isinstance(symbol.get("content"), str) and type(symbol.get("id")) is int


def is_pair(entry: Any) -> bool:
    """Whether it is a piece with its score."""
    if not isinstance(entry, list | tuple) or len(entry) != 2:
        return False
    return isinstance(entry[0], str) and type(entry[1]) in (int, float)


def numbers_of(tree: Tree, where: str) -> dict[str, int]:
    """Every token by its name, whether it was learnt or added; all numbers from 0 on, each once."""
    vocabulary = sound(tree, where)["model"].get("vocab") or {}
    if isinstance(vocabulary, list):
        vocabulary = {piece: number for number, (piece, _) in enumerate(vocabulary)}
    numbers = {**vocabulary, **{token["content"]: token["id"] for token in tree.get("added_tokens") or []}}
    if not all(type(number) is int for number in numbers.values()) or len({*numbers.values()}) < len(numbers):
        raise UserError(f"{where} is damaged: two of its {len(numbers)} tokens have one number, or one has none")
    if numbers and not 0 <= min(numbers.values()) <= max(numbers.values()) < len(numbers):
        raise UserError(f"{where}: the {len(numbers)} tokens are not numbered from 0 to {len(numbers) - 1}")
    return numbers


def added(name: str, number: int, *, special: bool = True) -> Tree:
    """A symbol as `tokenizer.json` has it; a text that spells a special one is text."""
    return {"id": number, "content": name, **dict.fromkeys(FLAGS, False), "special": special}


def content(symbol: Any) -> str:
    """A symbol is written as it is, or as a record of it and how it is cut."""
    if isinstance(symbol, dict):
        symbol = symbol.get("content")
    return symbol if isinstance(symbol, str) else ""


def guarded(tree: Tree, names: set[str], numbers: Mapping[str, int]) -> Tree:
    """So that no text spells a symbol: it is special, and where the model itself could find it, it is cut inside.

    Pieces that stand for single bytes are such symbols too.
    """
    given = tree.get("added_tokens") or []
    special = [{**token, "special": bool(token.get("special")) or token["content"] in names} for token in given]
    special += [added(name, numbers[name]) for name in names - {token["content"] for token in given}]
    tree = {**tree, "added_tokens": sorted(special, key=lambda token: token["id"])}
    if not finds_whole(tree["model"]):
        return tree
    spelt = {token["content"] for token in special if token["special"]} | {*BYTES} & numbers.keys()
    if tree["model"]["type"] == "WordLevel":
        spelt -= {tree["model"].get("unk_token")}  # a word of prepared texts
    if not (spelt := {name.replace(" ", BLANK) for name in spelt if len(name) > 1}):
        return tree
    before = [tree["pre_tokenizer"]] if tree.get("pre_tokenizer") else []
    return {**tree, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*before, cut_inside(spelt)]}}


def finds_whole(model: Tree) -> bool:
    """Whether a text that is a token is found as that token, however it was learnt."""
    return model["type"] in ("Unigram", "WordLevel") or bool(model.get("ignore_merges"))


def cut_inside(names: Iterable[str]) -> Tree:
    """What cuts behind the first character of each of these names."""
    rests: dict[str, list[str]] = {}
    for name in sorted(names):
        rests.setdefault(name[0], []).append(re.escape(name[1:]))
    each = "|".join(f"{re.escape(first)}(?={'|'.join(rest)})" for first, rest in rests.items())
    return json.loads(pre_tokenizers.Split(Regex(each), "isolated").__getstate__())


def without(tree: Tree, names: Collection[str]) -> Tree:
    """The tree without these tokens."""
    if not names:
        return tree
    model, vocabulary = tree["model"], tree["model"].get("vocab") or {}
    if isinstance(vocabulary, list):
        kept: Any = [entry for entry in vocabulary if entry[0] not in names]
    else:
        kept = {name: number for name, number in vocabulary.items() if name not in names}
    symbols = [token for token in tree.get("added_tokens") or [] if token["content"] not in names]
    return {**tree, "model": {**model, "vocab": kept}, "added_tokens": symbols}


def opened(tree: Tree, where: str) -> bool:
    """Whether a symbol is put before every text."""
    processor = tree.get("post_processor") or {}
    try:
        steps = [processor, *processor.get("processors", [])]
        around = [step["single"] for step in steps if step.get("type") == "TemplateProcessing"]
        return any("SpecialToken" in single[0] for single in around)
    except (AttributeError, IndexError, KeyError, TypeError):
        raise UserError(f"{where} is damaged: its post_processor is none") from None


def parted(tree: Tree, end: str, where: str) -> int:
    """How many end symbols are put between two texts; 0 where nothing says it."""
    processor = tree.get("post_processor") or {}
    try:
        steps = {step.get("type"): step for step in (processor, *processor.get("processors", []))}
        if "TemplateProcessing" not in steps:
            return max((USUAL.get(kind, 0) for kind in steps), default=0)
        row = [part.get("SpecialToken", part.get("Sequence"))["id"] for part in steps["TemplateProcessing"]["pair"]]
        return row[row.index("A") : row.index("B")].count(end) if {"A", "B"} <= {*row} else 0
    except (AttributeError, KeyError, TypeError):
        raise UserError(f"{where} is damaged: its post_processor is none") from None


def kind_of(tree: Tree) -> str:
    """What we call this kind of tokens. Single letters and bytes are cut apart before a vocabulary is asked."""
    kind, before = KINDS[tree["model"]["type"]], json.dumps(tree.get("pre_tokenizer"))
    alone = json.dumps({"Regex": EACH}) in before
    if kind == "word":
        return "char" if alone else "word"
    if kind == "bpe" and "ByteLevel" in before:
        return "byte" if alone else "byte-bpe"
    return kind
