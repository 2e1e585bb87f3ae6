"""From texts to translations as text.

With `replace_unknown` each unknown word of a translation is written as the source word that it looked at most (PosUnk;
Luong et al., 2015, "Addressing the Rare Word Problem", with the attention in place of their aligner).
"""

from collections.abc import Callable
from dataclasses import dataclass

from regard.decode.alignment import check_alignment
from regard.decode.generate import generate
from regard.decode.hypothesis import Hypothesis
from regard.decode.settings import Decode
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
    found = generate(model, tokenizer, settings, sources=tokens, seed=seed, first=first, on_done=on_done)
    return [
        [Translated(written(tokenizer, settings, hypothesis, *source), hypothesis) for hypothesis in row]
        for source, row in zip(sources, found, strict=True)
    ]


def written(tokenizer: Tokenizer, settings: Decode, hypothesis: Hypothesis, text: str, source: Encoded) -> str:
    """The hypothesis as text; with `replace_unknown`, unknown words as the source writes them."""
    if not settings.replace_unknown or tokenizer.unknown not in hypothesis.tokens:
        return tokenizer.decode(hypothesis.tokens)
    words = [
        text[slice(*source.offsets[at])] if token == tokenizer.unknown else tokenizer.decode([token])
        for token, at in zip(hypothesis.tokens, hypothesis.aligned, strict=True)
    ]
    return " ".join(word for word in words if word)
