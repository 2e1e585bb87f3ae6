"""The `[decode]` section: how text is made."""

import math
from dataclasses import dataclass

from regard.errors import UserError, at_least, one_of, share


@dataclass(frozen=True, kw_only=True)
class Decode:
    """How text is made. `length_penalty`: "none", "average", or "gnmt" with its exponent, as in "gnmt:0.6".

    `coverage_penalty` is the beta of Wu et al. (2016), eq. 14: how much a beam minds source words that a translation
    did not look at. `replace_unknown` writes an unknown word as the source word that it looked at most.
    """

    max_tokens: int = 200
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    beam: int = 1
    length_penalty: str = "average"
    coverage_penalty: float = 0.0
    replace_unknown: bool = False

    def __post_init__(self) -> None:
        at_least(1, "decode", self, "max_tokens", "beam")
        if self.temperature < 0:
            raise UserError(f"decode.temperature = {self.temperature}; it must be 0 (the likeliest token) or more")
        at_least(0, "decode", self, "top_k")
        if not 0 < self.top_p <= 1:
            raise UserError(f"decode.top_p = {self.top_p}; it must be more than 0 and at most 1")
        share("decode", self, "min_p")
        if self.temperature == 0 and (self.top_k, self.top_p, self.min_p) != (0, 1.0, 0.0):
            raise UserError("decode.top_k, top_p and min_p choose what is drawn from: set decode.temperature above 0")
        if self.beam > 1 and self.repetition_penalty != 1:
            raise UserError("a beam takes no repetition penalty: leave decode.beam at 1 or the penalty at 1")
        if self.beam > 1 and self.temperature > 0:
            raise UserError("a beam does not sample: leave decode.beam at 1 or decode.temperature at 0")
        if self.repetition_penalty <= 0:
            raise UserError(f"decode.repetition_penalty = {self.repetition_penalty}; it must be more than 0")
        if not all(map(math.isfinite, (self.temperature, self.repetition_penalty))):
            raise UserError("decode.temperature and decode.repetition_penalty must be finite numbers")
        if not 0 <= self.coverage_penalty < math.inf:
            raise UserError(f"decode.coverage_penalty = {self.coverage_penalty}; it must be 0 (off) or more")
        if self.coverage_penalty and self.beam == 1:
            raise UserError("decode.coverage_penalty ranks the hypotheses of a beam: set decode.beam above 1")
        name, mark, exponent = self.length_penalty.partition(":")
        one_of("decode.length_penalty", name, ("none", "average", "gnmt"))
        if mark and (name != "gnmt" or not exponent.replace(".", "", 1).isdecimal()):
            raise UserError(
                f"decode.length_penalty = '{self.length_penalty}'; only gnmt takes a number, as in gnmt:0.6"
            )

    @property
    def aligned(self) -> bool:
        """Whether it must be kept what a translation looks at."""
        return self.coverage_penalty > 0 or self.replace_unknown
