"""fairseq's dictionary (B1), a token and its count in each line, behind four symbols; and how words are cut into them.

Byte pairs of subword-nmt and fastBPE: the last piece of a word is written as it is, others with "@@" behind them. The
pairs say where a word ends instead. What they join on the way to longer pieces may have no number.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, pre_tokenizers

from regard.errors import UserError
from regard.interop.tokens import marian, sentencepiece
from regard.interop.tokens.trees import Tree

SYMBOLS = ("<s>", "<pad>", "</s>", "<unk>")
CODES = ("bpecodes", "code", "codes", "bpe.codes", "codes.txt")
PIECES = ("sentencepiece.bpe.model", "sentencepiece.model", "spm.model", "spm.bpe.model")
GOES_ON, ENDS = "@@", "</w>"
UNKNOWN = "<unk>" + ENDS  # it is a word


def lines_of(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is damaged: {error}") from None


def numbers_of(path: Path) -> dict[str, int]:
    """The tokens of a dictionary with their numbers."""
    found = {name: number for number, name in enumerate(SYMBOLS)}
    for line in lines_of(path):
        name, blank, count = line.removesuffix(" #fairseq:overwrite").rpartition(" ")
        if not blank or not count.isdecimal():
            raise UserError(f"{path} is damaged: {line!r} is no token with its count")
        if name in found:
            raise UserError(f"{path} is damaged: {name!r} stands there twice")
        found[name] = len(found)
    return found


def read(dictionary: Path) -> tuple[Tree, int, list[Path]]:
    """As `tokenizer.json` has it, of how many tokens the model knows, and the files that were read.

    Without codes beside the dictionary, words are tokens.
    """
    numbers, folder = numbers_of(dictionary), dictionary.parent
    for names, make in ((CODES, with_codes), (PIECES, with_pieces)):
        if (path := next((folder / name for name in names if (folder / name).is_file()), None)) is not None:
            return *make(numbers, path), [dictionary, path]
    backend = Backend(models.WordLevel(numbers, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return json.loads(backend.to_str()), len(numbers), [dictionary]


def with_pieces(numbers: dict[str, int], path: Path) -> tuple[Tree, int]:
    symbols = [name for name in SYMBOLS if name != "<unk>"]
    return marian.numbered(sentencepiece.parsed(path), numbers, symbols, str(path))


def with_codes(numbers: dict[str, int], path: Path) -> tuple[Tree, int]:
    vocabulary = {spelled(name): number for name, number in numbers.items()}
    merges = list(pairs(path))
    for left, right in merges:
        for piece in (left, right, left + right):
            vocabulary.setdefault(piece, len(vocabulary))
    backend = Backend(models.BPE(vocabulary, merges, unk_token=UNKNOWN, end_of_word_suffix=ENDS))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    backend.decoder = decoders.BPEDecoder(ENDS)
    return json.loads(backend.to_str()), len(numbers)


def spelled(name: str) -> str:
    """A token of the dictionary as pairs spell it."""
    if name in SYMBOLS:
        return UNKNOWN if name == "<unk>" else name
    return name.removesuffix(GOES_ON) if name.endswith(GOES_ON) else name + ENDS


def pairs(path: Path) -> Iterator[tuple[str, str]]:
    """What is joined, in this order. The first version of subword-nmt, whose words end in a piece more, has no mark."""
    first, *rest = lines_of(path)
    marked = first.startswith("#version:")
    if marked and first.split(":")[1].strip() != "0.2":
        raise UserError(f"{path}: {first[1:]!r} is not supported; known: 0.2")
    known = set()
    for line in rest if marked else [first, *rest]:
        parts = line.split(" ")
        if len(parts) != (2 if marked else 3) or not all(parts) or (not marked and not parts[2].isdecimal()):
            said = "a pair of subword-nmt 0.2, whose files begin with '#version: 0.2'" if not marked else "a pair"
            raise UserError(f"{path}: {line!r} is not {said}{'' if marked else ', nor one of fastBPE with its count'}")
        if (pair := (parts[0], parts[1])) not in known:
            known.add(pair)
            yield pair
