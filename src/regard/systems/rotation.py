"""Settings of rotary positions, for the systems that may have them (B7)."""

import math
from dataclasses import dataclass

from regard.attention.positions import Turns
from regard.errors import UserError, at_least, unused

ROTARY = ("rotary_base", "rotary_factor", "rotary_context", "rotary_low", "rotary_high")


@dataclass(frozen=True, kw_only=True)
class Rotation:
    """How fast rotary positions turn: `rotary_base` is the base of the angles, `rotary_factor` divides them.

    With a `rotary_context` only those are divided that turn less than `rotary_high` times in so many tokens, and in
    full those that turn less than `rotary_low` times.
    """

    rotary_base: float = 10_000.0
    rotary_factor: float = 1.0
    rotary_context: int = 0
    rotary_low: float = 1.0
    rotary_high: float = 4.0

    def __post_init__(self) -> None:
        if not 1 < self.rotary_base < math.inf:
            raise UserError(f"system.rotary_base = {self.rotary_base}; it must be more than 1")
        at_least(1, "system", self, "rotary_factor")
        at_least(0, "system", self, "rotary_context", "rotary_low")
        if not self.rotary_low < self.rotary_high < math.inf:
            raise UserError(
                f"system.rotary_high = {self.rotary_high}; it must be more than rotary_low, {self.rotary_low}"
            )
        if self.rotary_factor == 1:
            unused("system", self, ROTARY[2:], "system.rotary_factor is 1")
        elif not self.rotary_context:
            unused("system", self, ROTARY[3:], "without system.rotary_context all angles are divided")

    @property
    def turns(self) -> Turns:
        return Turns(self.rotary_base, self.rotary_factor, self.rotary_context, self.rotary_low, self.rotary_high)
