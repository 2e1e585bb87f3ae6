"""The vocabulary inside of a GGUF file (B1): pieces with scores as Llama 2 has them, or byte pairs with merges."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers
from tokenizers import Tokenizer as Backend

from regard.errors import UserError
from regard.interop.files.gguf import Gguf
from regard.interop.tokens import Symbols
from regard.interop.tokens.byte_bpe import pair
from regard.interop.tokens.sentencepiece import APART, BPE, BYTE, CONTROL, NORMAL, USER, Pieces
from regard.interop.tokens.trees import BYTES, added

PREFIX = "tokenizer.ggml."
SYMBOLS = Symbols(
    start=("bos_token_id", ""), end=("eos_token_id", ""), pad=("padding_token_id", ""), unknown=("unknown_token_id", "")
)
WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}NUMBERS| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
Cutter = Callable[[], list[pre_tokenizers.PreTokenizer]]


def words(numbers: str) -> Cutter:
    """Cut as Llama 3 does, with so many digits in a number."""
    return lambda: [
        pre_tokenizers.Split(Regex(WORDS.replace("NUMBERS", numbers)), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ]


def plainly() -> list[pre_tokenizers.PreTokenizer]:
    """Cut as GPT-2 does."""
    return [pre_tokenizers.ByteLevel(add_prefix_space=False)]


CUTS: dict[str, Cutter] = {
    "default": plainly,
    "gpt-2": plainly,
    "smollm": lambda: [pre_tokenizers.Digits(individual_digits=True), *plainly()],
    "llama-bpe": words("{1,3}"),
    "qwen2": words(""),
}
WHOLE = ("llama-bpe",)  # a word that is a token is not joined from parts, and texts begin with the start symbol


def read(file: Gguf) -> tuple[dict[str, Any], Symbols, dict[str, Any], list[str]]:
    """As `tokenizer.json` has it, which symbols of theirs are ours, what says so, and what is to be told."""
    given = {name.removeprefix(PREFIX): value for name, value in file.settings.items() if name.startswith(PREFIX)}
    model, cut = file.word(PREFIX + "model"), file.word(PREFIX + "pre", "default")
    tokens = file.list_of(str, PREFIX + "tokens")
    kinds = file.list_of(int, PREFIX + "token_type") or [BYTE if token in BYTES else NORMAL for token in tokens]
    if not tokens:
        raise UserError(f"{file.path} has no tokenizer: {PREFIX}tokens is missing")
    if len(kinds) != len(tokens):
        raise UserError(f"{file.path} is damaged: {len(tokens)} tokens, {len(kinds)} of a known type")
    if model == "llama":
        tree = pieces(file, tokens, kinds)
    elif model == "gpt2":
        tree = pairs(file, tokens, kinds, cut)
    else:
        raise UserError(f"{file.path}: {PREFIX}model = '{model}' is not supported; known: llama, gpt2")
    opens = bool(given.get("add_bos_token", model == "llama" or cut in WHOLE))
    symbols = replace(SYMBOLS, opens=opens)
    unsure = model == "gpt2" and cut == "default"
    return tree, symbols, given, ["the file does not say how text is cut; here as GPT-2 does"] if unsure else []


def pieces(file: Gguf, tokens: list[str], kinds: list[int]) -> dict[str, Any]:
    scores = file.list_of(float, PREFIX + "scores")
    if len(scores) != len(tokens):
        raise UserError(f"{file.path} is damaged: {len(tokens)} tokens, {len(scores)} scores")
    first = bool(file.settings.get(PREFIX + "add_space_prefix", True))
    one = bool(file.settings.get(PREFIX + "remove_extra_whitespaces", False))
    kinds = [APART if kind == USER else kind for kind in kinds]  # llama.cpp looks for these first
    return Pieces(tokens, scores, kinds, BPE, blank_first=first, one_blank=one).tree(str(file.path))


def pairs(file: Gguf, tokens: list[str], kinds: list[int], cut: str) -> dict[str, Any]:
    if cut not in CUTS:
        raise UserError(f"{file.path}: {PREFIX}pre = '{cut}' is not supported; known: {', '.join(CUTS)}")
    numbers = {token: number for number, token in enumerate(tokens)}
    lines = file.list_of(str, PREFIX + "merges")
    try:
        backend = Backend(models.BPE(numbers, [pair(line) for line in lines], ignore_merges=cut in WHOLE))
    except Exception as error:  # the backend raises a bare Exception for merges that the vocabulary lacks
        raise UserError(f"{file.path} is damaged: {error}") from None
    if cut == "qwen2":
        backend.normalizer = normalizers.NFC()
    backend.pre_tokenizer = pre_tokenizers.Sequence(CUTS[cut]())
    backend.decoder = decoders.ByteLevel()
    own = [(number, kind) for number, kind in enumerate(kinds) if kind in (CONTROL, USER)]
    symbols = [added(tokens[number], number, special=kind == CONTROL) for number, kind in own]
    return {**json.loads(backend.to_str()), "added_tokens": symbols}
