"""What is minimised: (model, batch) -> Loss. `OBJECTIVES` is the list of them."""

from regard.objectives.classification import Classification
from regard.objectives.continuation import Continuation
from regard.objectives.likelihood import Loss, NextToken, Translation
from regard.objectives.masked import Masked, MaskedPairs
from regard.objectives.reward import Reward
from regard.objectives.skip_gram import SkipGram
from regard.objectives.spans import SpanCorruption
from regard.objectives.tagging import Tagging
from regard.objectives.vectors import Vectors

OBJECTIVES = {
    "next-token": NextToken,
    "translation": Translation,
    "reward": Reward,
    "continuation": Continuation,
    "masked": Masked,
    "masked-pairs": MaskedPairs,
    "spans": SpanCorruption,
    "classification": Classification,
    "tagging": Tagging,
    "skip-gram": SkipGram,
    "vectors": Vectors,
}

__all__ = [
    "OBJECTIVES",
    "Classification",
    "Continuation",
    "Loss",
    "Masked",
    "MaskedPairs",
    "NextToken",
    "Reward",
    "SkipGram",
    "SpanCorruption",
    "Tagging",
    "Translation",
    "Vectors",
]
