"""A GGUF file, read and never executed: a header, settings, a table of tensors, and their numbers.

Everything is held against the length of the file before it is taken for true.
"""

import math
import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from regard.errors import UserError
from regard.interop.files.blocks import KINDS, Kind, dequantised
from regard.shapes import Tensor

MAGIC = b"GGUF"
VERSIONS = (2, 3)
TEXT, ARRAY = 8, 9
TYPES = {0: "<u1", 1: "<i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "?", 10: "<u8", 11: "<i8", 12: "<f8"}
FLOAT32 = 6
MOST = 1 << 16  # settings, and tensors
LONGEST = 1 << 22  # of a list, and of a text
SIDES = 4  # of a tensor
ALIGNMENT = "general.alignment"
LATER = ("Q8_K", "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS", "I8", "I16", "I32")
OTHERS = dict(enumerate((*LATER, "I64", "F64", "IQ1_M"), 15)) | {9: "Q8_1", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4"}


class Stored(NamedTuple):
    """Where the numbers of a tensor are, and how they are kept."""

    shape: tuple[int, ...]
    kind: Kind
    start: int
    size: int


@dataclass(frozen=True)
class Gguf:
    """One file: its settings by their names, and where each of its tensors stands."""

    path: Path
    settings: dict[str, Any]
    stored: dict[str, Stored]

    @staticmethod
    def open(path: Path) -> "Gguf":
        with path.open("rb") as file:
            if file.read(4) != MAGIC:
                raise UserError(f"{path} does not begin with {MAGIC.decode()}: it is no GGUF file")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                try:
                    return Gguf(path, *contents(content))
                except (ValueError, struct.error) as error:
                    raise UserError(f"{path} is damaged: {error}") from None

    def word(self, name: str, usual: str = "") -> str:
        """A setting that is a text."""
        if not isinstance(value := self.settings.get(name, usual), str):
            raise UserError(f"{self.path}: {name} = {value!r} is no text")
        return value

    def list_of(self, kind: Any, name: str) -> list[Any]:
        """A setting that is a list; nothing where it is not there."""
        found = self.settings.get(name, [])
        if not isinstance(found, list) or not all(isinstance(each, kind) for each in found[:1]):
            raise UserError(f"{self.path}: {name} is no list as it should be")
        return found

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """Every tensor, its numbers made float32."""
        content = np.memmap(self.path, np.uint8, "r")
        for name, (shape, kind, start, size) in self.stored.items():
            yield name, torch.from_numpy(dequantised(kind, content[start : start + size]).reshape(shape))


class Cursor:
    """What is read next. No more than there is."""

    def __init__(self, content: mmap.mmap, at: int):
        self.content, self.at = content, at

    def take(self, size: int) -> int:
        """Where these bytes begin."""
        if size > len(self.content) - self.at:
            raise ValueError(f"it ends at {len(self.content)} bytes, in the middle of something")
        self.at += size
        return self.at - size

    def number(self, kind: str) -> int:
        size = struct.calcsize(kind)
        return struct.unpack_from(kind, self.content, self.take(size))[0]

    def count(self, what: str, most: int) -> int:
        found = self.number("<Q")
        if found > most:
            raise ValueError(f"it claims {found} {what}")
        return found

    def text(self) -> str:
        size = self.count("bytes in one text", LONGEST)
        start = self.take(size)
        return self.content[start : start + size].decode()

    def value(self, kind: int) -> Any:
        if kind == TEXT:
            return self.text()
        if kind != ARRAY:
            return plain(self.numbers(kind, 1)[0])
        inner = self.number("<I")
        if inner != TEXT:
            return self.numbers(inner, self.count("numbers in one list", LONGEST)).tolist()
        return [self.text() for _ in range(self.count("texts in one list", LONGEST))]

    def numbers(self, kind: int, count: int) -> np.ndarray:
        if kind not in TYPES:
            raise ValueError(f"a setting is of type {kind}, which is not known here")
        dtype = np.dtype(TYPES[kind])
        start = self.take(count * dtype.itemsize)
        return np.frombuffer(self.content[start : self.at], dtype)


def plain(number: np.generic) -> Any:
    """A number of Python's; of those that float32 rounds to the same, the shortest."""
    return float(str(number)) if isinstance(number, np.float32) else number.item()


def contents(content: mmap.mmap) -> tuple[dict[str, Any], dict[str, Stored]]:
    """The settings and the tensors of a file."""
    here = Cursor(content, len(MAGIC))
    version = here.number("<I")
    if version not in VERSIONS:
        other = " (numbers in the order of large machines)" if not version & 0xFFFF else ""
        raise ValueError(f"it is of version {version}{other}; {VERSIONS[0]} and {VERSIONS[1]} can be read")
    tensors, settings = here.count("tensors", MOST), here.count("settings", MOST)
    found: dict[str, Any] = {}
    for _ in range(settings):
        name = here.text()
        if name in found:
            raise ValueError(f"the setting '{name}' stands there twice")
        found[name] = here.value(here.number("<I"))
    entries = [entry(here) for _ in range(tensors)]
    step = found.get(ALIGNMENT, 32)
    if type(step) is not int or step < 1 or step & (step - 1) or step > len(content):
        raise ValueError(f"{ALIGNMENT} = {step!r} is no power of two")
    return found, placed(entries, -(-here.at // step) * step, step, len(content))


def entry(here: Cursor) -> tuple[str, tuple[int, ...], int, int]:
    """Of one tensor its name, shape, kind and place. The side that changes fastest stands first there, last here."""
    name, sides = here.text(), here.number("<I")
    if not 1 <= sides <= SIDES:
        raise ValueError(f"tensor '{name}' has {sides} sides")
    shape = tuple(here.number("<Q") for _ in range(sides))
    return name, shape[::-1], here.number("<I"), here.number("<Q")


def placed(entries: list[tuple[str, tuple[int, ...], int, int]], start: int, step: int, end: int) -> dict[str, Stored]:
    """The tensors, each inside of the file and none over another."""
    found: dict[str, Stored] = {}
    for name, shape, number, offset in entries:
        if name in found:
            raise ValueError(f"tensor '{name}' stands there twice")
        if (kind := KINDS.get(number)) is None:
            known = ", ".join(kind.name for kind in KINDS.values())
            raise ValueError(f"tensor '{name}' is of type {OTHERS.get(number, number)}, not supported; known: {known}")
        if min(shape) < 1 or shape[-1] % kind.numbers:
            raise ValueError(f"tensor '{name}' has shape {list(shape)}, in blocks of {kind.numbers}")
        size = math.prod(shape) // kind.numbers * kind.size
        if offset % step or start + offset + size > end:
            raise ValueError(f"tensor '{name}' of {size} bytes at {offset} is not inside of the file")
        found[name] = Stored(shape, kind, start + offset, size)
    last, before = 0, ""
    for name, each in sorted(found.items(), key=lambda item: item[1].start):
        if each.start < last:
            raise ValueError(f"tensors '{before}' and '{name}' overlap")
        last, before = each.start + each.size, name
    return found
