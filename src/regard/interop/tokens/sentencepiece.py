"""SentencePiece's models (B1; Kudo and Richardson, 2018): pieces with scores, and how text is made even before.

A `.model` is a message in protocol buffers, of which a few fields are needed. Of pieces with probabilities the best
way to cut a text is the likeliest; of byte pairs, the pair whose join has the best score is joined first. Blanks become
"\u2581", one before the text too.
"""

import json
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers
from tokenizers import Tokenizer as Backend

from regard.errors import UserError
from regard.interop.files.hugging_face import Folder
from regard.interop.tokens import charsmap
from regard.interop.tokens.trees import BLANK, Tree, added

NAMES = ("spiece.model", "tokenizer.model", "sentencepiece.bpe.model")
UNIGRAM, BPE = 1, 2
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)  # what a piece may be
APART = 7  # ours: a user's symbol that is cut out of a text before it is made even, so that blanks beside it go
LONGEST = 512  # characters of a piece; the trainer makes none longer
NOWHERE = "\uffff"  # no character: behind a piece that is not to be found
TIKTOKEN = re.compile(rb"[A-Za-z0-9+/]+=* \d+\r?\n")


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

    def tree(self, where: str) -> Tree:
        """As `tokenizer.json` has it."""
        if (longest := max(map(len, self._of(NORMAL)), default=0)) > LONGEST:
            raise UserError(f"{where} is damaged: a piece has {longest} characters")
        if self.charsmap and not charsmap.fits(self.charsmap):
            raise UserError(f"{where} is damaged: its table of characters is none")
        if self.model == UNIGRAM and UNKNOWN not in self.kinds:
            raise UserError(f"{where}: no piece stands for what is unknown")
        try:
            return self._made()
        except Exception as error:  # the backend raises a bare one for a table of characters that is none
            raise UserError(f"{where} is damaged: {error}") from None

    def _made(self) -> Tree:
        backend = Backend(self._unigram() if self.model == UNIGRAM else self._bpe())
        backend.normalizer = normalizers.Sequence([*self._even()])
        if before := [*self._words(), *self._users()]:
            backend.pre_tokenizer = pre_tokenizers.Sequence(before)
        back = [decoders.Replace(NOWHERE, ""), decoders.Replace(BLANK, " "), decoders.ByteFallback(), decoders.Fuse()]
        first = decoders.Strip(" ", LONGEST if self.one_blank else 1, 0)
        backend.decoder = decoders.Sequence([*back, first] if self.blank_first else back)
        return {**json.loads(backend.to_str()), "added_tokens": [*self._symbols()]}

    @property
    def falls_back(self) -> bool:
        """Whether an unknown character is written as its bytes."""
        return BYTE in self.kinds

    def _of(self, *kinds: int) -> list[str]:
        return [piece for piece, kind in zip(self.pieces, self.kinds, strict=True) if kind in kinds]

    def _unigram(self) -> models.Unigram:
        found = [p + NOWHERE if kind == UNUSED else p for p, kind in zip(self.pieces, self.kinds, strict=True)]
        scores = [0.0 if kind == USER else s for s, kind in zip(self.scores, self.kinds, strict=True)]
        return models.Unigram(
            list(zip(found, scores, strict=True)), self.kinds.index(UNKNOWN), byte_fallback=self.falls_back
        )

    def _bpe(self) -> models.BPE:
        return models.BPE(
            {piece: number for number, piece in enumerate(self.pieces)},
            [(left, right) for _, left, right in sorted(self._joins(), key=lambda join: -join[0])],
            unk_token=next(iter(self._of(UNKNOWN)), None),
            fuse_unk=True,
            byte_fallback=self.falls_back,
            ignore_merges=USER in self.kinds,
        )

    def _joins(self) -> Iterator[tuple[float, str, str]]:
        """Every way to join two pieces to a third, with its score."""
        learnt = {*self._of(NORMAL)}
        for piece, score in zip(self.pieces, self.scores, strict=True):
            if piece in learnt:
                cuts = ((piece[:at], piece[at:]) for at in range(1, len(piece)))
                yield from ((score, left, right) for left, right in cuts if left in learnt and right in learnt)

    def _even(self) -> Iterator[normalizers.Normalizer]:
        """A blank comes first even where there is one; nothing but blanks is taken away."""
        if self.charsmap:
            yield normalizers.Precompiled(self.charsmap)
        if self.one_blank:
            yield normalizers.Replace(Regex(rf"\A +|[ {BLANK}]+\z"), "")
            yield normalizers.Replace(Regex(" {2,}"), " ")
        if self.blank_first:
            yield normalizers.Prepend(BLANK)
        yield normalizers.Replace(" ", BLANK)

    def _words(self) -> Iterator[pre_tokenizers.PreTokenizer]:
        """Likeliest pieces are found word by word, unless one of them is of several words."""
        if self.model == UNIGRAM and not any(BLANK in piece[1:] for piece in self._of(NORMAL, USER)):
            yield pre_tokenizers.Metaspace(BLANK, prepend_scheme="never")

    def _users(self) -> Iterator[pre_tokenizers.PreTokenizer]:
        """A user's symbol is not cut, wherever it stands; of several that begin there, the longest."""
        if names := sorted(self._of(USER), key=len, reverse=True):
            yield pre_tokenizers.Split(Regex("|".join(map(re.escape, names))), "isolated")

    def _symbols(self) -> Iterator[Tree]:
        """Pieces that are never found by cutting: no text spells a control symbol."""
        for number, (piece, kind) in enumerate(zip(self.pieces, self.kinds, strict=True)):
            if kind in (UNKNOWN, CONTROL, APART):
                yield added(piece, number, special=kind != APART)


def read(folder: Folder) -> Tree:
    path = folder.first(*NAMES)
    return parsed(path).tree(str(path))


def parsed(path: Path) -> Pieces:
    """The pieces of a `.model`."""
    content = path.read_bytes()
    if TIKTOKEN.match(content):
        raise UserError(
            f"{path} is a vocabulary of tiktoken, which does not say how text is cut: put tokenizer.json there"
        )
    try:
        return pieces_of(content)
    except (ValueError, IndexError, KeyError, struct.error) as error:
        raise UserError(f"{path} is damaged: {error}") from None


def behind(found: Pieces, where: str) -> Pieces:
    """The same pieces behind four symbols, and the mask last, as XLM-RoBERTa numbers them."""
    if found.kinds[:3] != [UNKNOWN, CONTROL, CONTROL] or len(found.pieces) < 4:
        raise UserError(f"{where}: the first pieces are {found.pieces[:3]}, and not <unk>, <s>, </s>: not supported")
    unknown, start, end = found.pieces[:3]
    return replace(
        found,
        pieces=[start, "<pad>", end, unknown, *found.pieces[3:], "<mask>"],
        scores=[0.0] * 4 + found.scores[3:] + [0.0],
        kinds=[CONTROL, CONTROL, CONTROL, UNKNOWN, *found.kinds[3:], CONTROL],
    )


def pieces_of(content: bytes) -> Pieces:
    pieces, scores, kinds = [], [], []
    trainer: dict[int, Any] = {}
    rest: dict[int, Any] = {}
    for number, value in fields(content):
        if number == 1:
            entry = dict(fields(octets(value)))
            pieces.append(octets(entry.get(1)).decode())
            scores.append(struct.unpack("<f", octets(entry[2]))[0] if 2 in entry else 0.0)
            kinds.append(entry.get(3, NORMAL))
        elif number in (2, 3):
            (trainer if number == 2 else rest).update(fields(octets(value)))
    if not pieces:
        raise ValueError("it has no pieces")
    if wrong := [kind for kind in kinds if kind not in (*range(NORMAL, BYTE + 1),)]:
        raise ValueError(f"no piece is of kind {wrong[0]!r}")
    model = trainer.get(3, UNIGRAM)
    if model not in (UNIGRAM, BPE):
        raise ValueError(f"it is of kind {model}; those of kind 1 (unigram) and 2 (bpe) can be read")
    if trainer.get(24) or not rest.get(5, 1):
        raise ValueError("blanks that follow their word, or stay blanks, are not supported")
    return Pieces(pieces, scores, kinds, model, octets(rest.get(2, b"")), bool(rest.get(3, 1)), bool(rest.get(4, 1)))


def octets(value: Any) -> bytes:
    """A field that must be bytes."""
    if not isinstance(value, bytes):
        raise ValueError(f"a field is {value!r}, and not bytes")
    return value


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
