"""Tensors as torch keeps them: a pickle, of which nothing but tensors and plain values is taken."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeGuard

import torch
from torch import Tensor

from regard.errors import UserError

ZIPPED, ENDED = b"PK\x03\x04", b"PK\x05\x06"  # how an archive begins, and what stands among its last bytes
CLOSING, LAST = 22, 2**16  # bytes from there on at least, and at most
AGAIN = "copy or download it again"


def unpickled(path: Path, *also: type) -> Any:
    """What a file holds: tensors, plain values, and these classes, which are not asked to do anything."""
    try:
        with torch.serialization.safe_globals([*also]):
            return torch.load(path, map_location="cpu", weights_only=True)
    except PermissionError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except Exception:  # the kinds of errors that unpickling may end in are many
        what = f"is cut short: {AGAIN}" if cut_short(path) else "is damaged or holds more than tensors"
        raise UserError(f"{path} {what}") from None


def cut_short(path: Path) -> bool:
    """Whether a file begins as an archive and does not end as one."""
    with path.open("rb") as file:
        begun = file.read(len(ZIPPED))
        file.seek(-min(path.stat().st_size, LAST), 2)
        last = file.read()
    return ZIPPED.startswith(begun) and not 0 <= last.rfind(ENDED) <= len(last) - CLOSING


def named(tensors: Any) -> TypeGuard[dict[str, Tensor]]:
    """Whether this is a table of tensors by their names."""
    return isinstance(tensors, dict) and all(isinstance(k, str) and isinstance(x, Tensor) for k, x in tensors.items())


def stored(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Stop where a tensor claims more numbers than there are: it may repeat one of them without end."""
    for name, tensor in tensors.items():
        kept = tensor.layout == torch.strided and tensor.device.type == "cpu"
        if not kept or tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
            raise UserError(f"{path} is damaged: tensor '{name}' has shape {list(tensor.shape)}, and fewer numbers")


def first_line(error: Exception) -> str:
    """Of what an error says, which may be nothing."""
    return next(iter(str(error).splitlines()), type(error).__name__)
