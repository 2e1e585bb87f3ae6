"""From prompts or sources to hypotheses: the one door to decoding."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext

import torch

from regard.decode.alignment import looking
from regard.decode.beam import beam_search
from regard.decode.hypothesis import NOTHING, Hypothesis
from regard.decode.sample import Chance, seeds
from regard.decode.sampler import Sampler
from regard.decode.session import Session, check_prompts
from regard.decode.settings import Decode
from regard.errors import UserError
from regard.systems import System
from regard.text import Tokenizer

TOGETHER = {"cpu": 2**14, "cuda": 2**17}  # tokens for which there is room in the rows decoded side by side
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
    rows = [tokenizer.begun(prompt) for prompt in (prompts or [[] for _ in sources or []])]
    ended = [[*source, tokenizer.end] for source in sources] if sources is not None else None
    check_prompts(model, rows, ended)
    if stop and settings.beam > 1:
        raise UserError("stop strings and a beam do not go together: leave one out")
    if settings.aligned and sources is None:
        raise UserError("what is looked at in a source can be kept only where there is one")
    found = {i: [NOTHING] for i, source in enumerate(sources or []) if not source}
    lengths = [len(row) for row in (ended if ended is not None else rows)]
    by_length = sorted((i for i in range(len(rows)) if i not in found), key=lambda i: -lengths[i])
    longest = max(map(len, rows), default=0) + settings.max_tokens
    size = max(1, TOGETHER.get(model.device.type, 2**14) // longest // settings.beam)
    chance, told = Chance(seeds(seed, by_length, first)), listening(tokenizer, stop, on_token)
    for begin in range(0, len(by_length), size):
        numbers = by_length[begin : begin + size]
        sources_here = [ended[i] for i in numbers] if ended is not None else None
        here = [rows[i] for i in numbers]
        with opened(model, here, sources_here, settings, tokenizer.habits.never) as (session, most):
            if settings.beam > 1:
                results = beam_search(session, settings, ends=tokenizer.ends, most=most)
            else:
                sampler = Sampler(session, settings, ends=tokenizer.ends, numbers=numbers, chance=chance, **told)
                results = sampler.run(most)
        found |= dict(zip(numbers, results, strict=True))
        if on_done is not None:
            on_done(len(found))
    return [found[i] for i in range(len(rows))]


@contextmanager
def opened(
    model: System,
    rows: list[list[int]],
    sources: list[list[int]] | None,
    settings: Decode,
    never: tuple[int, ...] = (),
) -> Iterator[tuple[Session, int]]:
    """A session for these rows, and how many tokens each may get."""
    most = settings.max_tokens
    if sources is not None and model.limit is not None:  # a translator's target is not slid along: it ends there
        most = min(most, model.limit - max(map(len, rows)) + 1)
    rows = [list(row) for row in rows]
    with looking(model, sources or []) if settings.aligned else nullcontext() as looks:
        yield Session(model, rows, room=most, sources=sources, looks=looks, never=never), most


def listening(
    tokenizer: Tokenizer, stop: Sequence[str], on_token: Callable[[int, int], None] | None
) -> dict[str, Callable]:
    """What a sampler is to ask and tell at each token."""
    told: dict[str, Callable] = {} if on_token is None else {"on_token": on_token}
    if stop:
        told["stops"] = lambda number, tokens: any(word in tokenizer.decode(tokens) for word in stop)
    return told


def cut(text: str, stop: Sequence[str]) -> str:
    """The text up to the first stop string."""
    return text[: min((text.index(word) for word in stop if word in text), default=len(text))]
