"""One evaluation: what is measured, on what, and who is told."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from regard.checkpoint import Run
from regard.data.sources import Source
from regard.decode.settings import Decode

BATCH_TOKENS = 8192
Counting = Callable[[int, str], AbstractContextManager[Callable[[int], None]]]


def uncounted(total: int, what: str) -> AbstractContextManager[Callable[[int], None]]:
    """Progress that nobody sees."""
    return nullcontext(lambda done: None)


@dataclass(frozen=True)
class Job:
    """`say` is told in words what is left out; `keep` what scores are made from, one entry for each example, in the
    order of the data; `counting` shows the progress."""

    run: Run
    source: Source
    decode: Decode | None = None
    stride: int | None = None
    lowercase: bool = False
    tokenize: str = "13a"
    say: Callable[[str], None] = lambda line: None
    counting: Counting = uncounted
    keep: Callable[[str, list[Any]], None] = lambda name, each: None
