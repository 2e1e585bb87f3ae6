"""A training in a process of its own that is killed, as by `kill -9`, at a moment that is the same each time.

python tests/train/killed.py RECIPE.json OUT step:17      after the log line of step 17
python tests/train/killed.py RECIPE.json OUT sync:9       in the middle of writing the ninth file
"""

import itertools
import json
import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

from regard.recipe import Recipe
from regard.train import run


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_at_step(step: int) -> None:
    real = run.watchers

    @contextmanager
    def watchers(*args, **kwargs):
        with real(*args, **kwargs) as found:
            yield [*found, lambda event: die() if event["step"] == step else None]

    run.watchers = watchers


def die_in_write(number: int) -> None:
    real, calls = os.fsync, itertools.count(1)

    def fsync(handle: int) -> None:
        if next(calls) == number:
            os.ftruncate(handle, os.fstat(handle).st_size // 2)
            die()
        real(handle)

    os.fsync = fsync


if __name__ == "__main__":
    recipe, out, moment = sys.argv[1:]
    kind, _, number = moment.partition(":")
    {"step": die_at_step, "sync": die_in_write}[kind](int(number))
    run.train(Recipe.parse(json.loads(Path(recipe).read_text()), where="killed.py"), out, quiet=True)
