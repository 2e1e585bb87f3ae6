"""Where a token stands. Places are passed explicitly everywhere, never inferred from lengths."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from regard.shapes import Bool, Int, Tensor


@dataclass(frozen=True)
class Place:
    """All that a pattern or a position scheme may ask of a token.

    `index` counts from the start of its document. `document` is None when each row holds one document, `present` is
    None when there is no padding to hide: both are known on the host, so a fast kernel may be chosen without asking
    the device. `segment` tells the texts of a row apart that are read together; None where there is one.

    `depth` is how far its word stands below the root of its sentence; what hangs below a word are the tokens whose
    `enters` lies between its own and its `leaves`. None where no tree is given.

    `ordered` where token j of every row has the index j; False where that is not known on the host.
    """

    index: Int[Tensor, "b t"]
    document: Int[Tensor, "b t"] | None = None
    present: Bool[Tensor, "b t"] | None = None
    segment: Int[Tensor, "b t"] | None = None
    depth: Int[Tensor, "b t"] | None = None
    enters: Int[Tensor, "b t"] | None = None
    leaves: Int[Tensor, "b t"] | None = None
    ordered: bool = False

    @staticmethod
    def line(tokens: Int[Tensor, "b t"], present: Bool[Tensor, "b t"] | None = None) -> "Place":
        """Every row counted from 0."""
        index = torch.arange(tokens.shape[1], device=tokens.device).expand(tokens.shape)
        return Place(index, present=present)

    def map(self, change: Callable[[Tensor], Tensor]) -> "Place":
        """The same record with `change` done to each field that is there."""
        return replace(self, ordered=False, **{name: change(value) for name, value in self._fields().items()})

    def each(self) -> "list[Place]":
        """The places one column at a time, for what goes token by token."""
        fields = {name: value.split(1, dim=1) for name, value in self._fields().items()}
        columns = [dict(zip(fields, column, strict=True)) for column in zip(*fields.values(), strict=True)]
        return [replace(self, ordered=False, **column) for column in columns]

    def _fields(self) -> dict[str, Tensor]:
        return {name: value for name, value in vars(self).items() if isinstance(value, Tensor)}
