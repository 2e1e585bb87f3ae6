"""Settings of a mixture of experts, for the systems that have one (S6, S13)."""

from dataclasses import dataclass

from regard.blocks import experts
from regard.blocks.experts import Experts
from regard.errors import at_least


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """`experts` layers, of which a token goes to the `chosen` that fit it best.

    `noise` spreads the choice while training; `importance_weight` and `load_weight` ask for experts that count and
    work alike; `capacity` is how many times its even share an expert takes while training, 0 without limit.
    """

    experts: int = 8
    chosen: int = 2
    noise: float = 1.0
    importance_weight: float = 0.01
    load_weight: float = 0.01
    capacity: float = 0.0

    def __post_init__(self) -> None:
        at_least(1, "system", self, "experts")
        weights = {"importance": self.importance_weight, "load": self.load_weight}
        experts.check(self.experts, self.chosen, noise=self.noise, capacity=self.capacity, **weights)

    def mixture(self, width: int, hidden: int, *, dropout: float = 0.0, bias: bool = True) -> Experts:
        return Experts(
            width,
            hidden,
            self.experts,
            self.chosen,
            noise=self.noise,
            importance_weight=self.importance_weight,
            load_weight=self.load_weight,
            capacity=self.capacity,
            dropout=dropout,
            bias=bias,
        )
