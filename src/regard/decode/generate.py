"""From prompts or sources to hypotheses: the one door to decoding."""

from collections.abc import Callable, Sequence

import torch

from regard.decode.beam import beam_search
from regard.decode.hypothesis import NOTHING, Hypothesis
from regard.decode.sample import Chance, draw, filtered, repetition
from regard.decode.session import Session, check_prompts
from regard.decode.settings import Decode
from regard.errors import UserError
from regard.systems import System
from regard.text import Tokenizer

TOGETHER = 64  # rows decoded side by side
Progress = Callable[[int], None]


@torch.inference_mode()
def generate(
    model: System,
    tokenizer: Tokenizer,
    settings: Decode,
    *,
    prompts: list[list[int]] | None = None,
    sources: list[list[int]] | None = None,
    seed: int = 0,
    first: int = 0,
    stop: Sequence[str] = (),
    on_token: Callable[[int, int], None] | None = None,
    on_done: Progress | None = None,
) -> list[list[Hypothesis]]:
    """The hypotheses for each prompt (tokens without start symbol) or source (without end symbol), best first.

    Texts of like length go together; the result does not depend on which ones do: text i draws by `seed` and
    `first` + i. An empty source has an empty translation. `on_token(number, token)` is told each token as it is chosen,
    `on_done(count)` how many texts are finished.
    """
    rows = [[tokenizer.start, *prompt] for prompt in (prompts or [[] for _ in sources or []])]
    ended = [[*source, tokenizer.end] for source in sources] if sources is not None else None
    check_prompts(model, rows, ended)
    if stop and settings.beam > 1:
        raise UserError("stop strings and a beam do not go together: leave one out")
    found = {i: [NOTHING] for i, source in enumerate(sources or []) if not source}
    lengths = [len(row) for row in (ended if ended is not None else rows)]
    by_length = sorted((i for i in range(len(rows)) if i not in found), key=lambda i: -lengths[i])
    size = max(1, TOGETHER // settings.beam)
    chance = Chance(seed, by_length, first)
    for begin in range(0, len(by_length), size):
        numbers = by_length[begin : begin + size]
        sources_here = [ended[i] for i in numbers] if ended is not None else None
        session, most = opened(model, [rows[i] for i in numbers], sources_here, settings.max_tokens)
        if settings.beam > 1:
            results = beam_search(session, settings, end=tokenizer.end, most=most)
        else:
            results = Sampler(session, settings, tokenizer, numbers, chance, stop, on_token).run(most)
        found |= dict(zip(numbers, results, strict=True))
        if on_done is not None:
            on_done(len(found))
    return [found[i] for i in range(len(rows))]


def opened(model: System, rows: list[list[int]], sources: list[list[int]] | None, most: int) -> tuple[Session, int]:
    """A session for these rows, and how many tokens each may get."""
    if sources is not None and model.limit is not None:  # a translator's target is not slid along: it ends there
        most = min(most, model.limit - max(map(len, rows)) + 1)
    return Session(model, [list(row) for row in rows], room=most, sources=sources), most


class Sampler:
    """Greedy decoding (temperature 0) or sampling, one token for every open row at a time."""

    def __init__(
        self,
        session: Session,
        settings: Decode,
        tokenizer: Tokenizer,
        numbers: list[int],
        chance: Chance,
        stop: Sequence[str],
        on_token: Callable[[int, int], None] | None,
    ):
        self.session, self.settings, self.tokenizer = session, settings, tokenizer
        self.numbers, self.chance, self.stop, self.on_token = numbers, chance, stop, on_token
        self.tokens: dict[int, list[int]] = {number: [] for number in numbers}
        self.values: dict[int, list[float]] = {number: [] for number in numbers}
        self.ended: dict[int, str] = {}

    def run(self, most: int) -> list[list[Hypothesis]]:
        """One hypothesis for each row, of at most so many tokens."""
        open_rows = list(self.numbers)
        for _ in range(most):
            scores = self.session.log_probabilities()
            chosen = self._choose(scores, open_rows)
            values = scores.gather(1, chosen[:, None])[:, 0].tolist()
            words = chosen.tolist()
            for number, token, value in zip(open_rows, words, values, strict=True):
                self._take(number, token, value)
            going = [i for i, number in enumerate(open_rows) if number not in self.ended]
            if not going:
                break
            open_rows = [open_rows[i] for i in going]
            self.session.select(going)
            self.session.append(chosen[going] if len(going) < len(words) else chosen, [words[i] for i in going])
        return [
            [Hypothesis(self.tokens[n], self.values[n], sum(self.values[n]), self.ended.get(n, "length"))]
            for n in self.numbers
        ]

    def _choose(self, scores: torch.Tensor, open_rows: list[int]) -> torch.Tensor:
        scores = repetition(scores, self.session.rows, self.settings.repetition_penalty)
        if self.settings.temperature == 0:
            return scores.argmax(-1)
        return draw(filtered(scores, self.settings), self.chance.next(open_rows).to(scores.device))

    def _take(self, number: int, token: int, value: float) -> None:
        self.values[number].append(value)
        if token == self.tokenizer.end:
            self.ended[number] = "end"
            return
        self.tokens[number].append(token)
        if self.on_token is not None:
            self.on_token(number, token)
        if self.stop and any(word in self.tokenizer.decode(self.tokens[number]) for word in self.stop):
            self.ended[number] = "stop"


def cut(text: str, stop: Sequence[str]) -> str:
    """The text up to the first stop string."""
    return text[: min((text.index(word) for word in stop if word in text), default=len(text))]
