"""How good a model is."""

from regard.evaluate.run import combined, evaluate
from regard.evaluate.translating import translations

__all__ = ["combined", "evaluate", "translations"]
