"""SentencePiece's table of characters and what each becomes: a double array (Yata et al., 2007) and the texts it names.

Whoever walks through it trusts it, so it is looked through once before.
"""

import numpy as np


def fits(charsmap: bytes) -> bool:
    """Whether no walk through the table leaves it, and each text that it names is there."""
    size = int.from_bytes(charsmap[:4], "little")
    if len(charsmap) < 4 or size % 4 or size > len(charsmap) - 4 or not size:
        return False
    units = np.frombuffer(charsmap[4 : 4 + size], "<u4").astype(np.int64)
    texts = charsmap[4 + size :]
    try:
        texts.decode()
    except UnicodeDecodeError:
        return False
    inner = np.flatnonzero(units >> 31 == 0)  # others are values
    offsets = (units[inner] >> 10) << ((units[inner] >> 9 & 1) * 8)
    after = inner ^ offsets
    if not (after | 255 < len(units)).all():
        return False
    named = units[after[units[inner] >> 8 & 1 == 1]] & 0x7FFFFFFF
    begins = np.array([byte & 0xC0 != 0x80 for byte in texts], dtype=bool)  # and no byte inside of a character
    return bool((named < len(texts)).all() and begins[named].all())
