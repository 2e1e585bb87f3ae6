"""Beam search: the few best beginnings of each text, lengthened together.

A hypothesis is finished when an end symbol is among the best `beam` candidates of a step; a text is done when `beam`
of them are. With a beam of 1 this is greedy decoding.

Length and coverage penalty rank the finished hypotheses. Beginnings compete by their plain sums: they have the same
length, and what they have not looked at yet they still may.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

import torch

from regard.decode.hypothesis import Hypothesis, length_penalty
from regard.decode.session import Session, Told
from regard.decode.settings import Decode

Candidate = tuple[float, int, int, float]  # sum so far, row of the session, token, its log-probability


@dataclass(frozen=True)
class Step:
    """What a step knows of each row of the session: its tokens, and what was told of it."""

    rows: list[list[int]]
    told: list[Told]


@dataclass(frozen=True)
class Beginning:
    """An unfinished hypothesis: the sum of its log-probabilities, each of them, and where each token looked."""

    total: float = 0.0
    values: list[float] = field(default_factory=list)
    looked: list[int] = field(default_factory=list)


@dataclass
class Search:
    """One text's part of the search: its live beginnings and its finished hypotheses."""

    begun: int
    settings: Decode
    live: list[Beginning] = field(default_factory=lambda: [Beginning()])
    done: list[Hypothesis] = field(default_factory=list)

    def advance(self, ranked: list[Candidate], first: int, step: Step, ends: Collection[int]) -> list[tuple[int, int]]:
        """Take the best candidates; those that go on are given back as (row, token)."""
        before, self.live, going = self.live, [], []
        for rank, (total, row, token, value) in enumerate(ranked):
            old = before[row - first]
            values = [*old.values, value]
            if token not in ends and len(self.live) < self.settings.beam:
                self.live.append(Beginning(total, values, [*old.looked, *step.told[row].looked]))
                going.append((row, token))
            elif token in ends and rank < self.settings.beam:
                self._finish(step.rows[row], Beginning(total, values, old.looked), step.told[row].covered, token)
        return going

    def close(self, going: list[tuple[int, int]], step: Step) -> None:
        """No token more: fill up with what is unfinished."""
        for beginning, (row, token) in zip(self.live, going, strict=True):
            if len(self.done) < self.settings.beam:
                self._finish([*step.rows[row], token], beginning, step.told[row].covered)

    def _finish(self, row: list[int], found: Beginning, covered: float, end: int | None = None) -> None:
        """log P / lp + beta * coverage, Wu et al. (2016), eq. 14. The step that ends a text looks and counts too."""
        score = found.total / length_penalty(self.settings.length_penalty, len(found.values))
        score += self.settings.coverage_penalty * covered
        ended = "length" if end is None else "end"
        self.done.append(Hypothesis(row[self.begun :], found.values, score, ended, found.looked, end))


def beam_search(session: Session, settings: Decode, *, ends: Collection[int], most: int) -> list[list[Hypothesis]]:
    """The finished hypotheses of each row of the session, best first. Each of the symbols `ends` ends a text."""
    wide = (1 + len(ends)) * settings.beam  # even if all of them are likely, `beam` others are among these
    searches = [Search(len(row), settings) for row in session.rows]
    open_searches = searches
    for count in range(1, most + 1):
        step = Step(session.rows, best_tokens(session, wide))
        still_open, going, first = [], [], 0
        for search in open_searches:
            live = len(search.live)
            ranked = rank(search, step.told[first : first + live], first)[:wide]
            here = search.advance(ranked, first, step, ends)
            first += live
            if len(search.done) >= settings.beam or not here:
                continue
            if count == most:
                search.close(here, step)
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


def best_tokens(session: Session, count: int) -> list[Told]:
    """Each row's likeliest next tokens with their log-probabilities."""
    scores = session.log_probabilities()
    values, tokens = scores.topk(min(count, scores.shape[-1]))
    return session.tell(tokens, values)


def rank(search: Search, told: list[Told], first: int) -> list[Candidate]:
    """Every way to lengthen this text's beginnings, best first."""
    candidates = [
        (search.live[i].total + value, first + i, token, value)
        for i, row in enumerate(told)
        for token, value in zip(row.tokens, row.values, strict=True)
    ]
    return sorted(candidates, key=lambda candidate: -candidate[0])
