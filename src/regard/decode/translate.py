"""From texts to translations as text.

A model that reads no source of its own is given it as the beginning of a text, and goes on from its end.

With `replace_unknown` each unknown word of a translation is written as the source word that it looked at most (PosUnk;
Luong et al., 2015, "Addressing the Rare Word Problem", with the attention in place of their aligner).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from regard.decode.alignment import check_alignment
from regard.decode.generate import generate
from regard.decode.hypothesis import NOTHING, Hypothesis
from regard.decode.settings import Decode
from regard.errors import UserError
from regard.systems import System
from regard.text import Encoded, Tokenizer


@dataclass(frozen=True)
class Translated:
    """A translation as text, and the tokens it was made from."""

    text: str
    hypothesis: Hypothesis


def translate(
    model: System,
    tokenizer: Tokenizer,
    settings: Decode,
    sources: list[tuple[str, Encoded]],
    *,
    kind: str,
    seed: int = 0,
    first: int = 0,
    on_done: Callable[[int], None] | None = None,
) -> list[list[Translated]]:
    """The translations of each source, a text with its tokens, best first. `kind` is that of the tokens."""
    check_alignment(model, settings, kind)
    tokens = [encoded.ids for _, encoded in sources]
    write = generate if model.reads_source else continued
    found = write(model, tokenizer, settings, sources=tokens, seed=seed, first=first, on_done=on_done)
    return [
        [Translated(written(tokenizer, settings, hypothesis, *source), hypothesis) for hypothesis in row]
        for source, row in zip(sources, found, strict=True)
    ]


def continued(
    model: System, tokenizer: Tokenizer, settings: Decode, *, sources: list[list[int]], **how: Any
) -> list[list[Hypothesis]]:
    """What follows each source and its end; there is room for all of it, so that nothing of the source is forgotten."""
    check_room(model, settings)
    most = room(model, settings.max_tokens)
    for source in sources:
        if most is not None and len(source) > most:
            raise UserError(
                f"the source text has {len(source)} tokens and the context holds {most}, "
                f"beside {settings.max_tokens} that may be written: "
                "shorten it, or lower decode.max_tokens (--max-tokens)"
            )
    prompts = [[*source, tokenizer.end] for source in sources]
    found = generate(model, tokenizer, settings, prompts=prompts, **how)
    return [row if source else [NOTHING] for source, row in zip(sources, found, strict=True)]


def room(model: System, written: int) -> int | None:
    """How many tokens a source may have, beside those that are written where they share a row; None for any number."""
    return None if model.limit is None else model.limit - 1 - (0 if model.reads_source else written)


def check_room(model: System, settings: Decode) -> None:
    """There is room for a source."""
    if (most := room(model, settings.max_tokens)) is not None and most < 1:
        raise UserError(
            f"decode.max_tokens = {settings.max_tokens} leaves no room for a source in a context of {model.limit}; "
            "lower it (--max-tokens)"
        )


def beginning(source: Encoded, most: int) -> Encoded:
    """The first tokens of a source."""
    return Encoded(source.ids[:most], source.pieces[:most], source.offsets[:most])


def written(tokenizer: Tokenizer, settings: Decode, hypothesis: Hypothesis, text: str, source: Encoded) -> str:
    """The hypothesis as text; with `replace_unknown`, unknown words as the source writes them."""
    if not settings.replace_unknown or tokenizer.unknown not in hypothesis.tokens:
        return tokenizer.target.decode(hypothesis.tokens)
    words = [
        text[slice(*source.offsets[at])] if token == tokenizer.unknown else tokenizer.target.decode([token])
        for token, at in zip(hypothesis.tokens, hypothesis.aligned, strict=True)
    ]
    return " ".join(word for word in words if word)
