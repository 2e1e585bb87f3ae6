"""What is minimised: (model, batch) -> Loss. `OBJECTIVES` is the list of them."""

from regard.objectives.classification import Classification
from regard.objectives.likelihood import Loss, NextToken, Translation
from regard.objectives.reward import Reward

OBJECTIVES = {
    "next-token": NextToken,
    "translation": Translation,
    "reward": Reward,
    "classification": Classification,
}

__all__ = ["OBJECTIVES", "Classification", "Loss", "NextToken", "Reward", "Translation"]
