"""What recurrent systems share: their cells, and a text read by carrying a state along."""

from dataclasses import dataclass, replace
from typing import Any

from torch import nn

from regard.blocks.memory import Memory
from regard.blocks.recurrent import CELLS, Recurrent, States
from regard.errors import one_of
from regard.place import Place
from regard.shapes import Float, Int, Tensor
from regard.systems.reader import Body, Reader, Writing


@dataclass(frozen=True, kw_only=True)
class Cells(Body):
    """Layers of recurrent cells."""

    cell: str = "lstm"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("system.cell", self.cell, CELLS)


@dataclass(frozen=True, kw_only=True)
class Recurrence(Cells, Writing):
    """A recurrent system that writes."""

    def layers(self, inputs: int, **each: Any) -> Recurrent:
        return Recurrent(self.cell, inputs, self.width, self.depth, dropout=self.drop, **each)

    def one_layer(self, inputs: int) -> Recurrent:
        return replace(self, depth=1).layers(inputs)


class RecurrentSystem(Reader):
    """A decoder that carries a state."""

    compiles = False  # loops over tokens would be unrolled anew for each length

    def carry(
        self,
        tokens: Int[Tensor, "b t"],
        at: Place,
        state: Float[Tensor, "b n w"] | None,
        memory: Memory | None,
        cache: States | None,
    ) -> tuple[Float[Tensor, "b t w"], Float[Tensor, "b n w"]]:
        """The vector at each token and the state after the last present one."""
        raise NotImplementedError

    def read(self, tokens, at, memory, cache):
        state = cache.state if cache is not None else None
        if state is None and memory is not None:
            state = memory.state
        vectors, state = self.carry(tokens, at, state, memory, cache)
        if cache is not None:
            cache.state = state
        return vectors

    def start(self, rows, capacity):
        return States(rows, capacity, self.device)


def large(layer: nn.Linear) -> nn.Linear:
    """A layer from states to words, with a gain to begin with: states begin at about a quarter of the words' size.

    Without it the first probabilities are so even that a deep system learns little for hundreds of steps.
    """
    nn.init.orthogonal_(layer.weight, gain=4.0)
    nn.init.zeros_(layer.bias)
    return layer
