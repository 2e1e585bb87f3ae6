"""SentencePiece's models (B1; Kudo and Richardson, 2018): pieces with scores, and how text is made even before.

A `.model` is a message in protocol buffers, of which a few fields are needed. Of pieces with probabilities the best
way to cut a text is the likeliest; of byte pairs, the pair whose join has the best score is joined first. Blanks become
"\u2581", one before the text too.
"""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers
from tokenizers import Tokenizer as Backend

from regard.errors import UserError
from regard.interop.files.hugging_face import Folder

NAMES = ("spiece.model", "tokenizer.model", "sentencepiece.bpe.model")
UNIGRAM, BPE = 1, 2
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)  # what a piece may be
BLANK = "\u2581"
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


@dataclass(frozen=True)
class Pieces:
    """A vocabulary in the order of its numbers, and how a text is made even before it is cut."""

    pieces: list[str]
    scores: list[float]
    kinds: list[int]
    model: int = UNIGRAM
    charsmap: bytes = b""
    blank_first: bool = True
    one_blank: bool = True  # of several, and none at the ends

    def tree(self, where: str) -> dict[str, Any]:
        """As `tokenizer.json` has it."""
        backend = Backend(self._unigram(where) if self.model == UNIGRAM else self._bpe())
        even = list(self._even())
        if self.model == UNIGRAM:
            scheme = "always" if self.blank_first else "never"
            backend.pre_tokenizer = pre_tokenizers.Metaspace(BLANK, prepend_scheme=scheme)
        else:  # words are not cut apart, and a blank comes first even where there is one
            even += [normalizers.Prepend(BLANK)] if self.blank_first else []
            even += [normalizers.Replace(" ", BLANK)]
        backend.normalizer = normalizers.Sequence(even)
        back = [decoders.Replace(BLANK, " "), decoders.ByteFallback(), decoders.Fuse()]
        backend.decoder = decoders.Sequence([*back, decoders.Strip(" ", 1, 0)] if self.blank_first else back)
        tree = json.loads(backend.to_str())
        tree["added_tokens"] = list(self._symbols())
        return tree

    @property
    def falls_back(self) -> bool:
        """Whether an unknown character is written as its bytes."""
        return BYTE in self.kinds

    def _unigram(self, where: str) -> models.Unigram:
        if UNKNOWN not in self.kinds:
            raise UserError(f"{where}: no piece stands for what is unknown")
        vocabulary = list(zip(self.pieces, self.scores, strict=True))
        return models.Unigram(vocabulary, self.kinds.index(UNKNOWN), self.falls_back)

    def _bpe(self) -> models.BPE:
        numbers = {piece: number for number, piece in enumerate(self.pieces)}
        unknown = next((p for p, kind in zip(self.pieces, self.kinds, strict=True) if kind == UNKNOWN), None)
        merges = [(left, right) for _, left, right in sorted(self._joins(), key=lambda join: -join[0])]
        return models.BPE(numbers, merges, unk_token=unknown, fuse_unk=True, byte_fallback=self.falls_back)

    def _joins(self) -> Iterator[tuple[float, str, str]]:
        """Every way to join two pieces to a third, with its score."""
        learnt = {p for p, kind in zip(self.pieces, self.kinds, strict=True) if kind == NORMAL}
        for piece, score in zip(self.pieces, self.scores, strict=True):
            if piece in learnt:
                cuts = ((piece[:at], piece[at:]) for at in range(1, len(piece)))
                yield from ((score, left, right) for left, right in cuts if left in learnt and right in learnt)

    def _even(self) -> Iterator[normalizers.Normalizer]:
        if self.charsmap:
            yield normalizers.Precompiled(self.charsmap)
        if self.one_blank:
            yield normalizers.Strip()
            yield normalizers.Replace(Regex(" {2,}"), " ")

    def _symbols(self) -> Iterator[dict[str, Any]]:
        """Pieces that are never found by cutting: no text spells a control symbol, and a user's symbol is not cut."""
        for number, (piece, kind) in enumerate(zip(self.pieces, self.kinds, strict=True)):
            if kind in (UNKNOWN, CONTROL, USER):
                plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
                yield {"id": number, "content": piece, **plain, "special": kind != USER}


def read(folder: Folder) -> dict[str, Any]:
    path = folder.first(*NAMES)
    return parsed(path).tree(str(path))


def parsed(path: Path) -> Pieces:
    """The pieces of a `.model`."""
    try:
        return pieces_of(path.read_bytes())
    except (ValueError, IndexError, struct.error, TypeError) as error:
        raise UserError(f"{path} is damaged: {error}") from None


def pieces_of(content: bytes) -> Pieces:
    pieces, scores, kinds = [], [], []
    trainer: dict[int, Any] = {}
    rest: dict[int, Any] = {}
    for number, value in fields(content):
        if number == 1:
            entry = dict(fields(value))
            pieces.append(entry[1].decode())
            scores.append(struct.unpack("<f", entry[2])[0] if 2 in entry else 0.0)
            kinds.append(entry.get(3, NORMAL))
        elif number in (2, 3):
            (trainer if number == 2 else rest).update(fields(value))
    if not pieces:
        raise ValueError("it has no pieces")
    model = trainer.get(3, UNIGRAM)
    if model not in (UNIGRAM, BPE):
        raise ValueError(f"it is of kind {model}; those of kind 1 (unigram) and 2 (bpe) can be read")
    if trainer.get(24):
        raise ValueError("blanks that follow their word are not supported")
    return Pieces(pieces, scores, kinds, model, rest.get(2, b""), bool(rest.get(3, 1)), bool(rest.get(4, 1)))


def fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message in protocol buffers: whole numbers, and bytes of all else."""
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = varint(message, at)
            yield number, value
            continue
        if wire == 2:
            size, at = varint(message, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise ValueError(f"no field has the type {wire}")
        if at + size > len(message):
            raise ValueError("it ends in the middle of a field")
        yield number, message[at : at + size]
        at += size


def varint(message: bytes, at: int) -> tuple[int, int]:
    """A whole number of seven bits a byte, lowest first, and where the next thing begins."""
    value = 0
    for count in range(10):
        byte = message[at + count]
        value |= (byte & 127) << 7 * count
        if byte < 128:
            return value, at + count + 1
    raise ValueError("a number has no end")
