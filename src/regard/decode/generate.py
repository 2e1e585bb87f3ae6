"""From prompts or sources to hypotheses: the one door to decoding."""

from collections.abc import Callable, Sequence

import torch

from regard.decode.beam import beam_search
from regard.decode.hypothesis import Hypothesis
from regard.decode.sample import Chance, draw, filtered, repetition
from regard.decode.session import Session, check_prompts
from regard.errors import UserError
from regard.recipe import Decode
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
    stop: Sequence[str] = (),
    on_token: Callable[[int, int], None] | None = None,
    on_done: Progress | None = None,
) -> list[list[Hypothesis]]:
    """The hypotheses for each prompt (tokens without start symbol) or source (without end symbol), best first.

    Texts of like length go together; the result does not depend on which ones do. `on_token(number, token)` is told each
    token as it is chosen, `on_done(count)` how many texts are finished.
    """
    total = len(sources) if sources is not None else len(prompts or [])
    rows = [[tokenizer.start, *prompt] for prompt in (prompts or [[] for _ in range(total)])]
    ended = [[*source, tokenizer.end] for source in sources] if sources is not None else None
    check_prompts(model, rows, ended)
    if stop and settings.beam > 1:
        raise UserError("stop strings and a beam do not go together: leave one out")
    by_length = sorted(range(total), key=lambda i: -len(ended[i] if ended is not None else rows[i]))
    size = max(1, TOGETHER // settings.beam)
    chance = Chance(seed, list(range(total)))
    found: dict[int, list[Hypothesis]] = {}
    for begin in range(0, total, size):
        numbers = by_length[begin : begin + size]
        sources_here = [ended[i] for i in numbers] if ended is not None else None
        most = settings.max_tokens
        if sources_here is not None:  # a translator's target is not slid along: it ends with the context
            most = min(most, model.context - max(len(rows[i]) for i in numbers) + 1)
        session = Session(model, [list(rows[i]) for i in numbers], room=most, sources=sources_here)
        if settings.beam > 1:
            results = beam_search(session, settings, end=tokenizer.end, most=most)
        else:
            sampler = Sampler(session, settings, tokenizer, numbers, chance, stop, on_token)
            results = [[hypothesis] for hypothesis in sampler.run(most)]
        found |= dict(zip(numbers, results, strict=True))
        if on_done is not None:
            on_done(len(found))
    return [found[i] for i in range(total)]


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

    def run(self, most: int) -> list[Hypothesis]:
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
            Hypothesis(self.tokens[n], self.values[n], sum(self.values[n]), self.ended.get(n, "length"))
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
