"""Training.

`regard.train` is the name of this package and of the function in it, so the package may be called: whichever of the two
Python finds under the name, `regard.train(recipe, out)` trains.
"""

import sys
from types import ModuleType
from typing import Any

from regard.train.run import resume, train

__all__ = ["resume", "train"]


class Training(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return train(*args, **kwargs)


sys.modules[__name__].__class__ = Training
