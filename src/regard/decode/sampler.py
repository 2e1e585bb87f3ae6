"""Greedy decoding (temperature 0) or sampling, one token for every open row at a time."""

from collections.abc import Callable, Collection

import torch

from regard.decode.hypothesis import Hypothesis
from regard.decode.sample import Chance, draw, filtered, repetition
from regard.decode.session import Session, Told
from regard.decode.settings import Decode
from regard.shapes import Float, Int, Tensor


class Sampler:
    """Lengthens the rows of a session until each has one of the `ends`; `numbers` are the names of the rows.

    `stops(number, tokens)` says whether a text ends with what it has; `on_token(number, token)` is told each token.
    """

    def __init__(
        self,
        session: Session,
        settings: Decode,
        *,
        ends: Collection[int],
        numbers: list[int],
        chance: Chance,
        stops: Callable[[int, list[int]], bool] = lambda number, tokens: False,
        on_token: Callable[[int, int], None] = lambda number, token: None,
    ):
        self.session, self.settings, self.ends = session, settings, ends
        self.numbers, self.chance, self.stops, self.on_token = numbers, chance, stops, on_token
        self.tokens: dict[int, list[int]] = {number: [] for number in numbers}
        self.values: dict[int, list[float]] = {number: [] for number in numbers}
        self.aligned: dict[int, list[int]] = {number: [] for number in numbers}
        self.ended: dict[int, str] = {}
        self.end: dict[int, int] = {}

    def run(self, most: int) -> list[list[Hypothesis]]:
        """One hypothesis for each row, of at most so many tokens."""
        open_rows = list(self.numbers)
        for _ in range(most):
            scores = self.session.log_probabilities()
            chosen = self._choose(scores, open_rows)
            told = self.session.tell(chosen[:, None], scores.gather(1, chosen[:, None]))
            for number, row in zip(open_rows, told, strict=True):
                self._take(number, row)
            going = [i for i, number in enumerate(open_rows) if number not in self.ended]
            if not going:
                break
            if len(going) < len(open_rows):
                open_rows, told = [open_rows[i] for i in going], [told[i] for i in going]
                chosen = chosen[torch.tensor(going, device=chosen.device)]
                self.session.select(going)
            self.session.append(chosen, [row.tokens[0] for row in told])
        return [[self._hypothesis(number)] for number in self.numbers]

    def _choose(self, scores: Float[Tensor, "b v"], open_rows: list[int]) -> Int[Tensor, "b"]:
        scores = repetition(scores, self.session.rows, self.settings.repetition_penalty)
        if self.settings.temperature == 0:
            return scores.argmax(-1)
        return draw(filtered(scores, self.settings), self.chance.next(open_rows).to(scores.device))

    def _take(self, number: int, told: Told) -> None:
        (token,), (value,) = told.tokens, told.values
        self.values[number].append(value)
        if token in self.ends:
            self.ended[number], self.end[number] = "end", token
            return
        self.tokens[number].append(token)
        self.aligned[number] += told.looked
        self.on_token(number, token)
        if self.stops(number, self.tokens[number]):
            self.ended[number] = "stop"

    def _hypothesis(self, number: int) -> Hypothesis:
        values, ended = self.values[number], self.ended.get(number, "length")
        return Hypothesis(self.tokens[number], values, sum(values), ended, self.aligned[number], self.end.get(number))
