"""Training."""

from regard.train.run import resume, train

__all__ = ["resume", "train"]
