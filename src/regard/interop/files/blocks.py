"""Numbers kept in few bits, as GGUF has them: blocks that share a scale, made float32 again.

A block is a row of bytes. Small blocks have 32 numbers and one scale d, large ones ("K") 256 numbers in groups with
scales of their own, kept in few bits too. Where there is a least value m, a number is d q - m, or d q + m in small
blocks; where there is none, the whole numbers q are about 0.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Blocks = np.ndarray  # bytes, a row for each block
CHUNK = 1 << 15  # blocks at a time, so that what is between takes little room


class Kind(NamedTuple):
    """A way to keep numbers: so many in a block, of so many bytes."""

    name: str
    numbers: int
    size: int
    read: Callable[[Blocks], np.ndarray]


def dequantised(kind: Kind, content: np.ndarray) -> np.ndarray:
    """The numbers of all blocks in a row of bytes, in order."""
    blocks = content.reshape(-1, kind.size)
    found = np.empty((len(blocks), kind.numbers), np.float32)
    for at in range(0, len(blocks), CHUNK):
        part = blocks[at : at + CHUNK]
        with np.errstate(all="ignore"):  # what is no number in the file is none here
            found[at : at + CHUNK] = kind.read(part).reshape(len(part), -1)
    return found.reshape(-1)


def cut(blocks: Blocks, *sizes: int) -> list[np.ndarray]:
    """The fields of each block, and what is left."""
    return [np.ascontiguousarray(part) for part in np.split(blocks, np.cumsum(sizes), axis=1)]


def scale(field: np.ndarray) -> np.ndarray:
    """Two bytes that are a number in half precision."""
    return field.view("<f2").astype(np.float32)


def unpacked(field: np.ndarray, run: int, bits: int) -> np.ndarray:
    """Small whole numbers: each `run` of bytes holds several runs of them, one above the other."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)[:, None]
    parts = field.reshape(len(field), -1, 1, run) >> shifts
    return (parts & np.uint8(2**bits - 1)).reshape(len(field), -1).astype(np.float32)


def grouped(numbers: np.ndarray, groups: int) -> np.ndarray:
    return numbers.reshape(len(numbers), groups, -1)


def f32(blocks: Blocks) -> np.ndarray:
    return np.ascontiguousarray(blocks).view("<f4")


def f16(blocks: Blocks) -> np.ndarray:
    return scale(np.ascontiguousarray(blocks))


def bf16(blocks: Blocks) -> np.ndarray:
    return (np.ascontiguousarray(blocks).view("<u2").astype(np.uint32) << 16).view(np.float32)


def q4_0(blocks: Blocks) -> np.ndarray:
    d, q = cut(blocks, 2)
    return scale(d) * (unpacked(q, 16, 4) - 8)


def q4_1(blocks: Blocks) -> np.ndarray:
    d, m, q = cut(blocks, 2, 2)
    return scale(d) * unpacked(q, 16, 4) + scale(m)


def fifth(field: np.ndarray) -> np.ndarray:
    """The highest of five bits of 32 numbers, each in its place."""
    return np.unpackbits(field, axis=1, bitorder="little").astype(np.float32) * 16


def q5_0(blocks: Blocks) -> np.ndarray:
    d, high, q = cut(blocks, 2, 4)
    return scale(d) * (unpacked(q, 16, 4) + fifth(high) - 16)


def q5_1(blocks: Blocks) -> np.ndarray:
    d, m, high, q = cut(blocks, 2, 2, 4)
    return scale(d) * (unpacked(q, 16, 4) + fifth(high)) + scale(m)


def q8_0(blocks: Blocks) -> np.ndarray:
    d, q = cut(blocks, 2)
    return scale(d) * q.view(np.int8).astype(np.float32)


def q2_k(blocks: Blocks) -> np.ndarray:
    both, q, d, m = cut(blocks, 16, 64, 2)
    scales, least = scale(d) * unpacked(both, 16, 4)[:, :16], scale(m) * unpacked(both, 16, 4)[:, 16:]
    return grouped(unpacked(q, 32, 2), 16) * scales[..., None] - least[..., None]


def q3_k(blocks: Blocks) -> np.ndarray:
    high, q, low_scales, high_scales, d = cut(blocks, 32, 64, 8, 4)
    scales = scale(d) * (unpacked(low_scales, 8, 4) + 16 * unpacked(high_scales, 4, 2) - 32)
    numbers = unpacked(q, 32, 2) + 4 * unpacked(high, 32, 1) - 4
    return grouped(numbers, 16) * scales[..., None]


def six_bits(field: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eight scales and eight least values in 12 bytes: of the last four each, two bits stand above the first four."""
    d, m, rest = cut(field, 4, 4)
    scales = np.concatenate([d & 63, (rest & 15) | (d >> 6 << 4)], axis=1)
    least = np.concatenate([m & 63, (rest >> 4) | (m >> 6 << 4)], axis=1)
    return scales.astype(np.float32), least.astype(np.float32)


def with_least(d: np.ndarray, m: np.ndarray, packed: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Eight groups, each with a scale and a least value."""
    scales, least = six_bits(packed)
    return grouped(numbers, 8) * (scale(d) * scales)[..., None] - (scale(m) * least)[..., None]


def q4_k(blocks: Blocks) -> np.ndarray:
    d, m, packed, q = cut(blocks, 2, 2, 12)
    return with_least(d, m, packed, unpacked(q, 32, 4))


def q5_k(blocks: Blocks) -> np.ndarray:
    d, m, packed, high, q = cut(blocks, 2, 2, 12, 32)
    return with_least(d, m, packed, unpacked(q, 32, 4) + 16 * unpacked(high, 32, 1))


def q6_k(blocks: Blocks) -> np.ndarray:
    low, high, scales, d = cut(blocks, 128, 64, 16)
    numbers = unpacked(low, 64, 4) + 16 * unpacked(high, 32, 2) - 32
    return grouped(numbers, 16) * (scale(d) * scales.view(np.int8).astype(np.float32))[..., None]


KINDS = {
    0: Kind("F32", 1, 4, f32),
    1: Kind("F16", 1, 2, f16),
    2: Kind("Q4_0", 32, 18, q4_0),
    3: Kind("Q4_1", 32, 20, q4_1),
    6: Kind("Q5_0", 32, 22, q5_0),
    7: Kind("Q5_1", 32, 24, q5_1),
    8: Kind("Q8_0", 32, 34, q8_0),
    10: Kind("Q2_K", 256, 84, q2_k),
    11: Kind("Q3_K", 256, 110, q3_k),
    12: Kind("Q4_K", 256, 144, q4_k),
    13: Kind("Q5_K", 256, 176, q5_k),
    14: Kind("Q6_K", 256, 210, q6_k),
    30: Kind("BF16", 1, 2, bf16),
}
