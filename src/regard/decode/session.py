"""Texts that grow token by token (O11)."""

from contextlib import AbstractContextManager, nullcontext

import numpy as np
import torch

from regard.data.batch import pad, presence
from regard.decode.alignment import Looks
from regard.errors import UserError
from regard.shapes import Float, Int, Tensor
from regard.systems import System


class Session:
    """Rows of tokens and what a model remembers of them.

    A row longer than the model's limit is seen through a window that moves on by half a limit at a time; where it
    stands depends on the row's own length alone, so a row's continuation does not depend on its neighbours.

    With `aligned` the session keeps what each row looks at in its source, in `looks`; it costs, and needs a model
    with attention to a source.
    """

    def __init__(
        self,
        model: System,
        rows: list[list[int]],
        *,
        room: int,
        sources: list[list[int]] | None = None,
        aligned: bool = False,
    ):
        self.model, self.rows, self.device = model, rows, model.device
        longest = max(map(len, rows)) + room
        self.capacity = longest if model.limit is None else min(model.limit, longest)
        self.memory = model.encode(*table(sources, self.device)) if sources is not None else None
        if aligned and sources is None:
            raise UserError("what is looked at in a source can be kept only where there is one")
        self.looks = Looks(model, sources, self.device) if aligned and sources is not None else None
        self._open()

    def log_probabilities(self) -> Float[Tensor, "b v"]:
        """Of each token, as the next one of each row."""
        return self.logits.float().log_softmax(-1)

    def append(self, tokens: Int[Tensor, "b"], chosen: list[int]) -> None:
        """Lengthen each row by a token; `chosen` are the same tokens on the host."""
        for row, token in zip(self.rows, chosen, strict=True):
            row.append(token)
        if self.model.limit is not None and self.cache.used >= self.model.limit:
            self._open()
        else:
            with self._watched(torch.zeros_like(tokens), 1):
                self.logits = self.model.decode(tokens[:, None], self.memory, self.cache)[:, -1]

    def select(self, rows: list[int]) -> None:
        """Row i goes on as what row `rows[i]` was. There may be fewer rows than before, or one several times."""
        if rows == list(range(len(self.rows))):
            return
        index = torch.tensor(rows, device=self.device)
        self.rows = [list(self.rows[i]) for i in rows]
        self.logits = self.logits[index]
        self.memory = self.memory.reorder(index) if self.memory is not None else None
        self.cache.reorder(index)
        if self.looks is not None:
            self.looks.select(index)

    def looked(self) -> list[list[int]]:
        """For each row the place in the source that its next token looks at most, in a list that is empty when nothing
        is kept."""
        return [[place] for place in self.looks.words()] if self.looks is not None else [[] for _ in self.rows]

    def covered(self) -> list[float]:
        """For each row how much of its source was looked at, as the coverage penalty has it; 0 when nothing is kept."""
        return self.looks.covered() if self.looks is not None else [0.0 for _ in self.rows]

    def _open(self) -> None:
        """Read what each row's window shows, into an empty cache."""
        windows = [row[window_start(len(row), self.model.limit) :] for row in self.rows]
        tokens, present = table(windows, self.device)
        self.cache = self.model.start(len(windows), self.capacity)
        last = torch.tensor([len(window) - 1 for window in windows], device=self.device)
        with self._watched(last, tokens.shape[1]):
            vectors = self.model.hidden(tokens, self.memory, self.cache, self.cache.places(tokens, present))
        self.logits = self.model.logits(vectors[torch.arange(len(windows), device=self.device), last])

    def _watched(self, last: Int[Tensor, "b"], count: int) -> AbstractContextManager[None]:
        return self.looks.watching(last, count) if self.looks is not None else nullcontext()


def table(rows: list[list[int]], device: torch.device) -> tuple[Int[Tensor, "b t"], Tensor | None]:
    """Rows filled up on the right, and where they really are."""
    arrays = [np.asarray(row, np.int64) for row in rows]
    present = presence(arrays)
    return pad(arrays, 0).to(device), present.to(device) if present is not None else None


def window_start(length: int, limit: int | None) -> int:
    """Where the visible part of a row begins: 0 while it fits, then always a multiple of half the limit."""
    if limit is None or length <= limit:
        return 0
    half = max(1, limit // 2)
    return -(-(length - limit) // half) * half


def check_prompts(model: System, rows: list[list[int]], sources: list[list[int]] | None) -> None:
    """Stop with both numbers when something is longer than the model takes."""
    if not model.writes_text:
        raise UserError("this model classifies texts and writes none; use 'regard classify'")
    if model.reads_source and sources is None:
        raise UserError("this model translates: it needs a source text")
    if not model.reads_source and sources is not None:
        raise UserError("this model continues text and reads no source; use 'regard generate'")
    for row in rows:
        model.fits(len(row), "the prompt")
    for source in sources or []:
        model.fits(len(source), "the source text")
