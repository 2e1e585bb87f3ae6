"""Tensors as torch keeps them: a pickle, of which nothing but tensors and plain values is taken."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeGuard

import torch
from torch import Tensor

from regard.errors import UserError


def unpickled(path: Path, *also: type) -> Any:
    """What a file holds: tensors, plain values, and these classes, which are not asked to do anything."""
    try:
        with torch.serialization.safe_globals([*also]):
            return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # the kinds of errors that unpickling may end in are many
        raise UserError(f"{path} is damaged or holds more than tensors: {first_line(error)}") from None


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
