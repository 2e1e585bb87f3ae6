"""Shapes in signatures: `query: Float[Tensor, "b h q d"]`.

jaxtyping checks them while testing. Without it the names still work and check nothing, so that the library imports with
torch, numpy, tokenizers and safetensors alone.
"""

from typing import Any

from torch import Tensor

try:
    from jaxtyping import Bool, Float, Int
except ImportError:

    class _Unchecked:
        def __class_getitem__(cls, item: Any) -> Any:
            return item[0]

    Bool = Float = Int = _Unchecked  # type: ignore[assignment, misc]

__all__ = ["Bool", "Float", "Int", "Tensor"]
