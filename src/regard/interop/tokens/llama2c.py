"""The vocabulary beside a model of llama2.c (B1): pieces with scores, blanks written as they are."""

import struct
from pathlib import Path
from typing import Any

from regard.errors import UserError
from regard.interop.tokens.sentencepiece import BPE, BYTE, CONTROL, NORMAL, UNKNOWN, Pieces
from regard.interop.tokens.trees import BLANK, BYTES

FIRST = {0: UNKNOWN, 1: CONTROL, 2: CONTROL}  # <unk>, <s>, </s>


def read(path: Path) -> dict[str, Any]:
    """As `tokenizer.json` has it."""
    try:
        pieces, scores = entries(path.read_bytes())
    except (struct.error, ValueError) as error:
        raise UserError(f"{path} is no vocabulary of llama2.c: {error}") from None
    names = [piece.strip("\n") if number in FIRST else piece for number, piece in enumerate(pieces)]
    kinds = [FIRST.get(number, BYTE if piece in BYTES else NORMAL) for number, piece in enumerate(names)]
    return Pieces([name.replace(" ", BLANK) for name in names], scores, kinds, BPE, one_blank=False).tree(str(path))


def entries(content: bytes) -> tuple[list[str], list[float]]:
    """The length of the longest piece, then the score, the length and the bytes of each."""
    pieces: list[str] = []
    scores: list[float] = []
    at = 4
    while at < len(content):
        score, size = struct.unpack_from("<fi", content, at)
        at += 8
        if not 0 <= size <= len(content) - at:
            raise ValueError(f"piece {len(pieces)} has {size} bytes, and {len(content) - at} are left")
        pieces.append(content[at : at + size].decode())
        scores.append(score)
        at += size
    if len(pieces) <= len(FIRST):
        raise ValueError(f"it has {len(pieces)} pieces")
    return pieces, scores
