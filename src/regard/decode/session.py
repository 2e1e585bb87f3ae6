"""Texts that grow token by token (O11)."""

from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import numpy as np
import torch

from regard.data.batch import pad, presence
from regard.decode.alignment import Looks
from regard.errors import UserError
from regard.shapes import Float, Int, Tensor
from regard.systems import System, use_of


class Told(NamedTuple):
    """What is known of a row on the host: tokens that may follow, and how likely each of them is.

    Where looks are kept, `looked` is the place in the source that the next token looks at most, and `covered` how much
    of the source was looked at, as the coverage penalty has it.
    """

    tokens: list[int]
    values: list[float]
    looked: list[int]
    covered: float


class Session:
    """Rows of tokens and what a model remembers of them.

    A row longer than the model's limit is seen through a window that moves on by half a limit at a time; where it
    stands depends on the row's own length alone, so a row's continuation does not depend on its neighbours.

    `looks` keep what each row looks at in its source, where they are given. The tokens `never` do not follow anything.
    """

    def __init__(
        self,
        model: System,
        rows: list[list[int]],
        *,
        room: int,
        sources: list[list[int]] | None = None,
        looks: Looks | None = None,
        never: tuple[int, ...] = (),
    ):
        self.model, self.rows, self.device, self.looks, self.never = model, rows, model.device, looks, list(never)
        longest = max(map(len, rows)) + room
        self.capacity = longest if model.limit is None else min(model.limit, longest)
        self.memory = model.encode(*table(sources, self.device)) if sources is not None else None
        self._open()

    def log_probabilities(self) -> Float[Tensor, "b v"]:
        """Of each token, as the next one of each row."""
        found = self.logits.float().log_softmax(-1)
        if self.never:
            found[:, self.never] = -torch.inf
        return found

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

    def tell(self, tokens: Int[Tensor, "b n"], values: Float[Tensor, "b n"]) -> list[Told]:
        """What is to be known of each row for its next step: the one word from the device in it.

        All of it is read as float32, which holds every whole number below 2^24: no vocabulary is that large.
        """
        parts, count = [tokens.float(), values.float()], tokens.shape[1]
        if self.looks is not None:
            parts += [self.looks.words()[:, None].float(), self.looks.covered()[:, None]]
        return [told(row, count) for row in torch.cat(parts, dim=1).tolist()]

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


def told(row: list[float], count: int) -> Told:
    """What the device said of a row: so many tokens, as many values, and two numbers more where looks are kept."""
    tokens, values, looks = row[:count], row[count : 2 * count], row[2 * count :]
    looked, covered = ([int(looks[0])], looks[1]) if looks else ([], 0.0)
    return Told([int(token) for token in tokens], values, looked, covered)


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
        use = use_of(model)
        raise UserError(f"this model {use.does} and writes none; use 'regard {use.command}'")
    if model.reads_source and sources is None:
        raise UserError("this model translates: it needs a source text")
    if not model.reads_source and sources is not None:
        raise UserError("this model continues text and reads no source; use 'regard generate'")
    for row in rows:
        model.fits(len(row), "the prompt")
    for source in sources or []:
        model.fits(len(source), "the source text")
