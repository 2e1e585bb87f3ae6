"""A finished text and how likely it is."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Hypothesis:
    """Generated tokens without start and end symbol. `log_probabilities` has one entry more when the end was generated.

    `score` is what a beam sorted by; without a beam it is the plain sum. `ended` is "end", "stop", "length", or "empty"
    where there was nothing to translate. `aligned` has for each token the place of the source that it looked at most;
    it is empty when that was not asked for. `end` is the symbol that ended it, where one did.
    """

    tokens: list[int]
    log_probabilities: list[float]
    score: float
    ended: str
    aligned: list[int] = field(default_factory=list)
    end: int | None = None


NOTHING = Hypothesis([], [], 0.0, "empty")


def length_penalty(name: str, length: int) -> float:
    """What a beam divides a sum of log-probabilities by.

    "none" 1, "average" the length, "gnmt:a" ((5 + length) / 6)^a with a = 0.6 when not given (Wu et al., 2016).
    """
    kind, _, exponent = name.partition(":")
    if kind == "gnmt":
        return ((5 + length) / 6) ** float(exponent or 0.6)
    return float(length) if kind == "average" else 1.0
