"""What is minimised: (model, batch) -> Loss. `OBJECTIVES` is the list of them."""

from regard.objectives.classification import Classification
from regard.objectives.likelihood import Loss, NextToken, Translation
from regard.objectives.masked import Masked, MaskedPairs
from regard.objectives.reward import Reward
from regard.objectives.spans import SpanCorruption

OBJECTIVES = {
    "next-token": NextToken,
    "translation": Translation,
    "reward": Reward,
    "masked": Masked,
    "masked-pairs": MaskedPairs,
    "spans": SpanCorruption,
    "classification": Classification,
}

__all__ = [
    "OBJECTIVES",
    "Classification",
    "Loss",
    "Masked",
    "MaskedPairs",
    "NextToken",
    "Reward",
    "SpanCorruption",
    "Translation",
]
