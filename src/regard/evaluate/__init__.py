"""How good a model is."""

from regard.evaluate.run import combined, evaluate, translations

__all__ = ["combined", "evaluate", "translations"]
