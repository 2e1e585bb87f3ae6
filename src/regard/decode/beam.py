"""Beam search: the few best beginnings of each text, lengthened together.

A hypothesis is finished when its end symbol is among the best `beam` candidates of a step; a text is done when `beam`
of them are. With a beam of 1 this is greedy decoding.
"""

from dataclasses import dataclass, field

import torch

from regard.decode.hypothesis import Hypothesis, length_penalty
from regard.decode.session import Session
from regard.decode.settings import Decode

Candidate = tuple[float, int, int, float]  # sum so far, row of the session, token, its log-probability


@dataclass
class Search:
    """One text's part of the search: its live beginnings, as sum and log-probabilities, and its finished hypotheses."""

    begun: int
    settings: Decode
    live: list[tuple[float, list[float]]] = field(default_factory=lambda: [(0.0, [])])
    done: list[Hypothesis] = field(default_factory=list)

    def advance(self, ranked: list[Candidate], first: int, rows: list[list[int]], end: int) -> list[tuple[int, int]]:
        """Take the best candidates; those that go on are given back as (row, token)."""
        before, self.live, going = self.live, [], []
        for rank, (total, row, token, value) in enumerate(ranked):
            history = [*before[row - first][1], value]
            if token != end and len(self.live) < self.settings.beam:
                self.live.append((total, history))
                going.append((row, token))
            elif token == end and rank < self.settings.beam:
                self._finish(rows[row], total, history, "end")
        return going

    def close(self, going: list[tuple[int, int]], rows: list[list[int]]) -> None:
        """No token more: fill up with what is unfinished."""
        for (total, history), (row, token) in zip(self.live, going, strict=True):
            if len(self.done) < self.settings.beam:
                self._finish([*rows[row], token], total, history, "length")

    def _finish(self, row: list[int], total: float, history: list[float], ended: str) -> None:
        score = total / length_penalty(self.settings.length_penalty, len(history))
        self.done.append(Hypothesis(row[self.begun :], history, score, ended))


def beam_search(session: Session, settings: Decode, *, end: int, most: int) -> list[list[Hypothesis]]:
    """The finished hypotheses of each row of the session, best first."""
    searches = [Search(len(row), settings) for row in session.rows]
    open_searches = searches
    for step in range(1, most + 1):
        table = best_tokens(session, 2 * settings.beam)
        still_open, going, first = [], [], 0
        for search in open_searches:
            count = len(search.live)
            ranked = rank(search, table[first : first + count], first)[: 2 * settings.beam]
            here = search.advance(ranked, first, session.rows, end)
            first += count
            if len(search.done) >= settings.beam or not here:
                continue
            if step == most:
                search.close(here, session.rows)
                continue
            still_open.append(search)
            going += here
        if not still_open:
            break
        open_searches = still_open
        session.select([row for row, _ in going])
        chosen = [token for _, token in going]
        session.append(torch.tensor(chosen, device=session.device), chosen)
    return [sorted(search.done, key=lambda h: -h.score)[: settings.beam] for search in searches]


def best_tokens(session: Session, count: int) -> list[list[tuple[float, int]]]:
    """For each row its likeliest next tokens with their log-probabilities: the one word from the device in a step."""
    scores = session.log_probabilities()
    values, tokens = scores.topk(min(count, scores.shape[-1]))
    return [list(zip(v, t, strict=True)) for v, t in zip(values.tolist(), tokens.tolist(), strict=True)]


def rank(search: Search, table: list[list[tuple[float, int]]], first: int) -> list[Candidate]:
    """Every way to lengthen this text's beginnings, best first."""
    candidates = [
        (search.live[i][0] + value, first + i, token, value) for i, row in enumerate(table) for value, token in row
    ]
    return sorted(candidates, key=lambda candidate: -candidate[0])
