"""Words and the tokens they are cut into (O4): where each begins, so that a tag can be given to it.

A word begins at the first token that holds one of its characters. A blank that is a token of its own belongs to none.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from regard.text.tokenizer import Tokenizer

GIVEN = re.compile(r"[^ \t\r\n]+")
VISIBLE = {"\n": "⏎", "\t": "⇥", " ": "␣"}
ENDING = r"(?:n['\u2019]t|['\u2019](?:s|m|d|ll|re|ve))\b"  # of English, which treebanks take for words of their own


def visible(text: str) -> str:
    """A piece of text for a label: no space before a word, a sign for what cannot be seen."""
    text = text.strip(" ") or text
    return "".join(VISIBLE.get(c, c if c.isprintable() else f"\\x{ord(c):02x}") for c in text)


@dataclass(frozen=True)
class Spelt:
    """The tokens of words, and the place among them at which each word begins."""

    ids: list[int]
    begins: list[int]

    @property
    def pieces(self) -> list[list[int]]:
        """The tokens of each word, up to the next one."""
        ends = [*self.begins, len(self.ids)][1:]
        return [self.ids[begin:end] for begin, end in zip(self.begins, ends, strict=True)]


def spell(tokenizer: Tokenizer, words: Sequence[str]) -> Spelt:
    """Words with a blank before each as tokens, so that a word is cut alike wherever it stands.

    One of which nothing is left becomes an unknown token.
    """
    text = spaced(words)
    ends = list(accumulate(len(word) + 1 for word in words))
    found = tokenizer.encode_with_offsets(text)
    ids: list[int] = []
    begins: list[int] = []

    def lost(word: int) -> None:
        """Stand in for those before a word that have no token."""
        for _ in range(len(begins), word):
            begins.append(len(ids))
            ids.append(tokenizer.unknown)

    for token, (begin, end) in zip(found.ids, found.offsets, strict=True):
        if letters := text[begin:end].rstrip(" "):
            word = bisect_right(ends, begin + len(letters) - 1)
            if word >= len(begins):
                lost(word)
                begins.append(len(ids))
        ids.append(token)
    lost(len(words))
    return Spelt(ids, begins)


def spaced(words: Iterable[str]) -> str:
    """The text that is encoded for these words."""
    return "".join(f" {word}" for word in words)


def cut(text: str) -> list[tuple[int, int]]:
    """Where the words of a raw text begin and end; punctuation marks are words too, and so are "n't" and "'s"."""
    return [match.span() for match in word().finditer(text)]


@cache
def word() -> re.Pattern[str]:
    """What is cut out as a word. The accents and vowel signs that follow a letter are a part of it."""
    marks = "".join(chr(code) for code in range(0x20000) if unicodedata.category(chr(code)).startswith("M"))
    letter = rf"[\w{marks}\u200c\u200d]"
    return re.compile(
        rf"""
        (?:https?://|www\.)\S*[\w/]  # an address
        | [\w.+-]+@[\w-]+(?:\.[\w-]+)+
        | (?:[^\W\d_]\.){{2,}}  # U.S.
        | \d+(?:[.,:]\d+)+  # 1,000.5
        | (?:(?!{ENDING})(?:{letter}|(?<={letter})['\u2019-](?={letter})))+
        | {ENDING}
        | ([^\w\s])\1*  # a mark, or the same again
        """,
        re.VERBOSE | re.IGNORECASE,
    )


def given(text: str) -> list[tuple[int, int]]:
    """Where the words begin and end of a text in which blanks separate them already."""
    return [match.span() for match in GIVEN.finditer(text)]


def given_words(text: str) -> list[str]:
    return GIVEN.findall(text)
