"""From tokens to words: a word cut into several tokens is put together again by the characters they came from."""

import re
import unicodedata
from dataclasses import dataclass

import numpy as np

from regard.errors import UserError, suggest
from regard.explain.sides import Side, looking
from regard.explain.trace import Trace
from regard.text.tokenizer import UNKNOWN
from regard.text.words import given, visible

# A text written in four signs, one per character: w in a word, ' what joins two halves of one, space, anything else.
WORD = re.compile(r" *(?:w+(?:'w+)*|['.])| +")
NO_ATTENTION = "this run has no attention: its influence, and its gates if it has any, are what it can show"


@dataclass(frozen=True)
class Word:
    """A word, or a special symbol, and the places of its tokens. What the model did not know of it is `<unk>`."""

    text: str
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class Found:
    """A word that was asked for: as the text writes it, its tokens, and how often it stands there."""

    text: str
    tokens: tuple[int, ...]
    times: int


@dataclass(frozen=True, eq=False)
class Look:
    """What one word looks at: `weights[layer, head, key]`.

    `own` are the keys that are the word itself: none where another text, or mixes, are looked at.
    """

    kind: str
    word: Found
    labels: list[str]
    weights: np.ndarray
    own: frozenset[int]


def sign(character: str) -> str:
    if character in "'’-":
        return "'"
    if character.isspace():
        return "." if character == "\n" else " "
    return "w" if character == "_" or unicodedata.category(character)[0] in "LMN" else "."


def spans(text: str) -> list[tuple[int, int]]:
    """The words of a text, each with the spaces before it; every character belongs to one."""
    return [match.span() for match in WORD.finditer("".join(map(sign, text)))]


def words(side: Side) -> list[Word]:
    """The tokens in groups, one per word. A special symbol stands alone; a token over several words makes them one."""
    begins = np.array([begin for begin, _ in spans(side.text)])
    groups: list[list[int]] = []
    last = -1  # the last word of the text that the newest group touches
    for place, token in enumerate(side.tokens):
        if token.offset is None:
            groups.append([place])
            last = len(begins)
            continue
        begin, end = token.offset
        first = int(np.searchsorted(begins, begin, side="right")) - 1
        if first == last:
            groups[-1].append(place)
        else:
            groups.append([place])
        last = int(np.searchsorted(begins, max(end, begin + 1), side="left")) - 1
    return [Word(spelling(side, group), tuple(group)) for group in groups]


def given_words(side: Side) -> list[Word]:
    """The words that blanks separate, as a tagger reads them, each with its tokens; its tag stands at the first one.

    Unlike in `words`, what the model did not know is written out. A word of which no token is left is left out.
    """
    found = ((visible(side.text[begin:end]), touching(side, begin, end)) for begin, end in given(side.text))
    return [Word(text, tokens) for text, tokens in found if tokens]


def each_token(side: Side) -> list[Word]:
    """The tokens, as words of one token each."""
    return [Word(label, (place,)) for place, label in enumerate(side.labels)]


def spelling(side: Side, group: list[int]) -> str:
    tokens = [side.tokens[place] for place in group]
    if all(token.piece != UNKNOWN for token in tokens):
        return as_written(side, group)
    parts = (UNKNOWN if each.piece == UNKNOWN else side.text[slice(*each.offset)] for each in tokens if each.offset)
    return visible("".join(parts)) or UNKNOWN


def as_written(side: Side, group: list[int] | tuple[int, ...]) -> str:
    offsets = [offset for place in group if (offset := side.tokens[place].offset) is not None]
    return visible(side.text[offsets[0][0] : offsets[-1][1]]) if offsets else side.tokens[group[0]].piece


def by_words(weights: np.ndarray, looks: list[Word], seen: list[Word]) -> np.ndarray:
    """Token weights `[..., q, k]` as word weights: the sum over the tokens looked at, the mean over those that look."""
    keys = np.stack([weights[..., list(word.tokens)].sum(-1) for word in seen], axis=-1)
    return np.stack([keys[..., list(word.tokens), :].mean(-2) for word in looks], axis=-2)


def alignment(trace: Trace, *, layer: int | None = -1) -> np.ndarray:
    """`[target, source]`: cross-attention averaged over the heads of one layer, the last unless said; None takes all.

    A row is named by the token written there: `trace.looking("cross")` has the names of both axes.
    """
    maps = trace.of("cross")
    if not maps:
        raise UserError("only a translator with attention aligns: this run does not look from a target at a source")
    if layer is not None and not -len(maps) <= layer < len(maps):
        raise UserError(f"no layer {layer}; this run has layers 0 to {len(maps) - 1}")
    chosen = maps if layer is None else [maps[layer]]
    return np.mean([each.weights.mean(0) for each in chosen], axis=0)


def find(side: Side, word: str, *, what: str = "text") -> Found:
    """The first place of a word, as written or else in other case."""
    whole = rf"(?<!\w){re.escape(word.strip())}(?!\w)"
    for flags in (0, re.IGNORECASE):
        matches = [match for match in re.finditer(whole, side.text, flags) if match.group()]
        if matches:
            begin, end = matches[0].span()
            return Found(side.text[begin:end], touching(side, begin, end), len(matches))
    known = (each.tokens for each in words(side) if side.tokens[each.tokens[0]].offset)
    there = ", ".join(dict.fromkeys(as_written(side, tokens) for tokens in known))
    raise UserError(f"the {what} has no word '{word}'; it has: {there}")


def touching(side: Side, begin: int, end: int) -> tuple[int, ...]:
    """The places of the tokens that hold at least one of these characters."""
    return tuple(
        place
        for place, token in enumerate(side.tokens)
        if token.offset is not None and token.offset[0] < end and token.offset[1] > begin
    )


def locate(source: Side | None, target: Side, word: str, kinds: list[str]) -> tuple[str, Found]:
    """The first of the kinds of attention in which this word looks, and where it stands."""
    missing = None
    for kind in kinds:
        looks, _ = looking(kind, source, target)
        what = "text" if source is None else "source" if kind == "encoder" else "target"
        try:
            return kind, find(looks, word, what=what)
        except UserError as error:
            missing = missing or error
    raise missing or UserError(NO_ATTENTION)


def choose(kind: str, kinds: list[str]) -> list[str]:
    """`auto` leaves all kinds open, in order; any other must be there."""
    if kind not in ("auto", *kinds):
        raise UserError(f"no attention '{kind}'{suggest(kind, kinds)}")
    return kinds if kind == "auto" else [kind]


def look_of_word(trace: Trace, word: str, *, kind: str = "auto") -> Look:
    """What a word looks at in every layer and head; of a word cut into tokens, their mean.

    Which attention: `auto` takes the source's own if the word stands there, else the target's.
    """
    kind, found = locate(trace.source, trace.target, word, choose(kind, trace.kinds))
    first, *others = trace.of(kind)
    alike = [each for each in (first, *others) if each.keys == first.keys]  # layers that look at the same things
    weights = np.stack([each.visible[:, list(found.tokens)].mean(1) for each in alike])
    own = frozenset(found.tokens) if kind != "cross" and first.keys is None else frozenset()
    return Look(kind, found, trace.names(first)[1], weights, own)
