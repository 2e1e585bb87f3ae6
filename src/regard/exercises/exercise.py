"""What an exercise is: a blank function, the library's own that it is held against, and mistakes that are known.

The blank one is what a student gets, word for word. Its first sentence says what it is about, the rest what goes in
and what comes out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from regard.errors import UserError
from regard.shapes import Float, Int, Tensor

Function = Callable[..., Any]
LEVELS = ("easy", "medium", "hard")
TENSORS = "import math\n\nimport torch\nfrom torch import Tensor"
LISTS = "from collections import Counter"


class Dice:
    """Random inputs, the same ones each time."""

    def __init__(self, seed: int):
        self.chance = torch.Generator().manual_seed(seed)

    def normal(self, *shape: int) -> Float[Tensor, "..."]:
        return torch.randn(shape, generator=self.chance)

    def below(self, most: int, *shape: int) -> Int[Tensor, "..."]:
        return torch.randint(most, shape, generator=self.chance)


@dataclass(frozen=True)
class Slip:
    """A mistake that is often made: the function with it, and what to say to whoever made it.

    One mistake may be made in several ways, with other wrong results or other errors.
    """

    name: str
    hint: str
    wrong: Function
    others: tuple[Function, ...] = ()

    @property
    def ways(self) -> tuple[Function, ...]:
        return (self.wrong, *self.others)


@dataclass(frozen=True)
class Law:
    """What holds of every right answer, in words and as a trial on random inputs."""

    name: str
    holds: Callable[[Function, Dice], bool]


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """`cases` makes inputs, simple ones first. `gives` names what comes out, `without` what torch has ready."""

    number: int
    level: str
    lectures: tuple[str, ...]
    blank: Function
    solution: Function
    cases: Callable[[Dice], Sequence[tuple[Any, ...]]]
    slips: tuple[Slip, ...]
    laws: tuple[Law, ...]
    gives: tuple[str, ...] = ("the result",)
    without: tuple[str, ...] = ()
    imports: str = TENSORS

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise UserError(f"exercise {self.number}: no level '{self.level}'; known: {', '.join(LEVELS)}")

    @property
    def name(self) -> str:
        return self.blank.__name__

    @property
    def about(self) -> str:
        """The first sentence of what it asks for."""
        return (self.blank.__doc__ or "").partition("\n")[0]

    @property
    def file(self) -> str:
        return f"{self.number:02}_{self.name}.py"

    @property
    def dice(self) -> Dice:
        return Dice(self.number)
