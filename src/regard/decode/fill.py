"""Gaps filled by a model (O5, O7): the word behind each mask, what is written for each sentinel, or the whole text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from regard.data.parse import GappedParse
from regard.data.trees import planted
from regard.decode.generate import generate
from regard.decode.hypothesis import Hypothesis
from regard.decode.session import table
from regard.decode.settings import Decode
from regard.errors import UserError
from regard.place import Place
from regard.systems import System
from regard.text import Tokenizer
from regard.text.gaps import Gapped
from regard.text.tokenizer import MASK, NONE, SPECIALS

TOGETHER = 64  # texts read side by side
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Guess:
    """A token that may stand in a gap."""

    token: int
    probability: float


@dataclass(frozen=True)
class Span:
    """What was written for a gap; the log-probability is that of its tokens and of ending there.

    A gap for which nothing was written, not even its sentinel, has none.
    """

    tokens: list[int]
    log_probability: float | None


@torch.inference_mode()
def fill_masks(
    model: System,
    tokenizer: Tokenizer,
    texts: Sequence[Gapped | GappedParse],
    *,
    top: int,
    on_done: Progress = lambda done: None,
) -> list[list[list[Guess]]]:
    """The `top` likeliest tokens for each gap of each text, each gap on its own while all others are hidden too.

    The special symbols are no words: they are left out, and what probability they have is missing. A model that looks
    at trees is given texts with theirs.
    """
    mask = tokenizer.symbol(MASK)
    special = [number for name in (*SPECIALS, MASK) if (number := tokenizer.symbol(name)) != NONE]
    masked = [text.masked(tokenizer) for text in texts]
    rows, trees = [[tokenizer.start, *ids, tokenizer.end] for ids, _ in masked], [tree for _, tree in masked]
    for row in rows:
        model.fits(len(row), "a text with its start and end")
    found: dict[int, list[list[Guess]]] = {}
    order = sorted(range(len(rows)), key=lambda i: -len(rows[i]))
    for begin in range(0, len(order), TOGETHER):
        numbers = order[begin : begin + TOGETHER]
        tokens, present = table([rows[i] for i in numbers], model.device)
        hidden, at = tokens == mask, Place.line(tokens, present)
        if given := [tree for i in numbers if (tree := trees[i]) is not None]:
            at = planted(at, given)
        chances = model.logits(model.embed(tokens, at)[hidden]).float().softmax(-1)
        chances[:, special] = 0.0
        values, ids = chances.topk(min(top, chances.shape[-1] - len(special)))
        both = zip(ids.tolist(), values.tolist(), strict=True)
        guesses = [[Guess(*each) for each in zip(*gap, strict=True)] for gap in both]
        for number, count in zip(numbers, hidden.sum(1).tolist(), strict=True):
            found[number], guesses = guesses[:count], guesses[count:]
        on_done(len(found))
    return [found[i] for i in range(len(rows))]


def fill_spans(
    model: System,
    tokenizer: Tokenizer,
    texts: Sequence[Gapped],
    *,
    sentinels: Sequence[int],
    settings: Decode,
    on_done: Progress = lambda done: None,
) -> list[list[Span]]:
    """What the model writes for each gap of each text, any number of tokens, all gaps of a text together."""
    for text in texts:
        if text.gaps > len(sentinels):
            raise UserError(f"a text has {text.gaps} gaps, and this run tells no more than {len(sentinels)} apart")
    sources = [text.tokens(tokenizer, [[sentinel] for sentinel in sentinels[: text.gaps]]) for text in texts]
    written = generate(model, tokenizer, settings, sources=sources, on_done=on_done)
    return [
        [found.get(sentinel, Span([], None)) for sentinel in sentinels[: text.gaps]]
        for text, found in zip(texts, (spans(row[0], sentinels) for row in written), strict=True)
    ]


def write_anew(
    model: System,
    tokenizer: Tokenizer,
    texts: Sequence[Gapped],
    *,
    settings: Decode,
    on_done: Progress = lambda done: None,
) -> list[Hypothesis]:
    """What a model writes that learnt to repeat texts whole (BART; Lewis et al., 2020): gaps of any length are filled,
    and nothing keeps it from changing what was given."""
    sources = [text.masked(tokenizer)[0] for text in texts]
    return [row[0] for row in generate(model, tokenizer, settings, sources=sources, on_done=on_done)]


def spans(written: Hypothesis, sentinels: Sequence[int]) -> dict[int, Span]:
    """What stands behind each sentinel, up to the next one or the end; of two alike the first counts."""
    known, found = set(sentinels), dict[int, Span]()
    sentinel: int | None = None
    tokens: list[int] = []
    value = 0.0
    for token, more in zip([*written.tokens, None], [*written.log_probabilities, 0.0], strict=False):
        value += more
        if token is not None and token not in known:
            tokens.append(token)
            continue
        if sentinel is not None:
            found.setdefault(sentinel, Span(tokens, value))
        sentinel, tokens, value = token, [], 0.0
    return found
