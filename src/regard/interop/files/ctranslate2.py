"""A `model.bin` of CTranslate2: named tensors one after another, then names that are others' too.

What a file claims is held against what it has before anything is made of it; nothing in it is executed.
"""

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from regard.errors import UserError
from regard.shapes import Tensor

MODEL, VERSION = "model.bin", 6
DTYPES = (np.float32, np.int8, np.int16, np.int32, np.float16, np.int16)  # by number; the last is bfloat16, bit by bit
BFLOAT16 = 5
AXES = 8
SCALE = "_scale"  # behind the name of a tensor of whole numbers, what they were multiplied by


@dataclass(frozen=True)
class Binary:
    """What kind of model it is, its tensors and its settings: tensors of one number, `flags` where that is a byte."""

    kind: str
    tensors: dict[str, Tensor]
    settings: dict[str, float]
    flags: frozenset[str]


class Reader:
    """Bytes in a row. To read beyond their end stops."""

    def __init__(self, content: memoryview):
        self.content, self.at = content, 0

    def take(self, size: int) -> memoryview:
        if size > len(self.content) - self.at:
            raise ValueError(f"it claims {size} bytes where {len(self.content) - self.at} are left")
        self.at += size
        return self.content[self.at - size : self.at]

    def number(self, how: str) -> int:
        return struct.unpack(how, self.take(struct.calcsize(how)))[0]

    def string(self) -> str:
        """As C has it: its length, which counts a zero at its end."""
        found = bytes(self.take(self.number("<H")))
        if not found.endswith(b"\0"):
            raise ValueError("a name has no end")
        return found[:-1].decode()

    def tensor(self) -> Tensor:
        axes = self.number("<B")
        if axes > AXES:
            raise ValueError(f"a tensor claims {axes} axes")
        shape, kind, size = [self.number("<I") for _ in range(axes)], self.number("<B"), 0
        if kind >= len(DTYPES):
            raise ValueError(f"no numbers are of type {kind}")
        size = self.number("<I")
        wanted = math.prod(shape) * np.dtype(DTYPES[kind]).itemsize
        if size != wanted % 2**32:  # it counts bytes in four of them
            raise ValueError(f"a tensor of shape {shape} claims {size} bytes")
        array = np.frombuffer(self.take(wanted), DTYPES[kind]).reshape(shape)
        found = torch.from_numpy(array.copy())
        return found.view(torch.bfloat16) if kind == BFLOAT16 else found


def read(path: Path) -> Binary:
    """All that is in the file, every tensor in float32; one that has several names is there under each of them."""
    try:
        content = np.memmap(path, np.uint8, "r").data if path.stat().st_size else memoryview(b"")
        return parsed(Reader(content))
    except (ValueError, struct.error, UnicodeDecodeError) as error:
        raise UserError(f"{path} is damaged: {error}") from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None


def parsed(file: Reader) -> Binary:
    if (version := file.number("<I")) != VERSION:
        raise ValueError(f"it has version {version}, and {VERSION} can be read")
    kind, _ = file.string(), file.number("<I")
    found: dict[str, Tensor] = {}
    for _ in range(file.number("<I")):
        name = file.string()
        if name in found:
            raise ValueError(f"tensor '{name}' is there twice")
        found[name] = file.tensor()
    aliases = {}
    for _ in range(file.number("<I")):
        name, of = file.string(), file.string()
        if name in found or of not in found:
            raise ValueError(f"'{name}' is to be '{of}', which cannot be")
        aliases[name] = of
    if file.at < len(file.content):
        raise ValueError(f"{len(file.content) - file.at} bytes are left at its end")
    tensors, single = plain(found), {name: x for name, x in found.items() if not x.ndim and not scales(name, found)}
    tensors |= {name: tensors[of] for name, of in aliases.items() if of in tensors}
    settings = {name: float(x) for name, x in single.items()}
    return Binary(kind, tensors, settings, frozenset(name for name, x in single.items() if x.dtype == torch.int8))


def scales(name: str, found: Mapping[str, Tensor]) -> bool:
    """Whether it says what another tensor was multiplied by."""
    return name.endswith(SCALE) and name.removesuffix(SCALE) in found


def plain(found: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Whole numbers are divided by the scale that stands beside them, one for each row or for all."""
    tensors = {}
    for name, tensor in found.items():
        if not tensor.ndim or scales(name, found):
            continue
        scale = found.get(name + SCALE)
        if scale is None and not tensor.is_floating_point():
            raise ValueError(f"tensor '{name}' holds whole numbers without a scale")
        tensor = tensor.float()
        if scale is not None:
            if scale.ndim and scale.shape != tensor.shape[:1]:
                raise ValueError(f"tensor '{name}' of shape {list(tensor.shape)} has {len(scale)} scales")
            tensor = tensor / scale.float().reshape(-1, *[1] * (tensor.ndim - 1))
        tensors[name] = tensor
    return tensors
