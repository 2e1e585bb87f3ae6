"""What is minimised: (model, batch) -> Loss. `OBJECTIVES` is the list of them."""

from regard.objectives.likelihood import Loss, NextToken, Translation

OBJECTIVES = {
    "next-token": NextToken,
    "translation": Translation,
}

__all__ = ["OBJECTIVES", "Loss", "NextToken", "Translation"]
