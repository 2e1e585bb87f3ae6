"""What an encoder hands to a decoder."""

from dataclasses import dataclass, fields
from typing import Any

from regard.place import Place
from regard.shapes import Float, Int, Tensor


@dataclass(frozen=True)
class Memory:
    """The encoder's vectors and where they stand.

    `values` is what is taken home by who looks at the vectors, where that is not the vectors themselves. `state` is
    the first state of a recurrent decoder, one vector for each layer and part of a cell.
    """

    vectors: Float[Tensor, "b s w"]
    at: Place
    values: Float[Tensor, "b s w"] | None = None
    state: Float[Tensor, "b n w"] | None = None

    def reorder(self, rows: Int[Tensor, "n"]) -> "Memory":
        """Row i is what row `rows[i]` was."""
        moved: dict[str, Any] = {"at": self.at.map(lambda field: field[rows])}
        for field in fields(self):
            if isinstance(value := getattr(self, field.name), Tensor):
                moved[field.name] = value[rows]
        return Memory(**moved)
