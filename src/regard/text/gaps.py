"""Texts with gaps that a model is to fill (O5, O7): the tokens around the gaps, and the text once they are filled.

Whose token is the blank before a gap? Where tokens are pieces of text (bpe, byte-bpe, unigram) it is glued to the word
after it, so it is missing with that word. Of characters and bytes it is one of its own, which stays. Where tokens are
words (word, wordpiece) no blank is a token.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from regard.errors import UserError
from regard.text.tokenizer import BLANKS, MASK, Tokenizer

MARKS = (MASK, "[MASK]", "___")
GAP = re.compile("|".join((re.escape(MASK), re.escape("[MASK]"), "_{3,}")))
SENTINEL = "<extra_id_{}>"  # stands for a gap, told from others by its number
NUMBERED = re.compile(rf"({GAP.pattern}|{SENTINEL.format('[0-9]+')})")
GLUED = ("bpe", "byte-bpe", "unigram")
APART = ("word", "wordpiece")
WITHIN = "##"  # begins a wordpiece that goes on with the word before it


@dataclass(frozen=True)
class Gapped:
    """A text cut at its gaps: `parts` has one entry more than there are gaps. `kind` is that of the tokens."""

    parts: tuple[str, ...]
    kind: str

    @staticmethod
    def cut(text: str, kind: str) -> "Gapped":
        return Gapped(tuple(GAP.split(text)), kind)

    @staticmethod
    def numbered(text: str, kind: str) -> "Gapped":
        """The same where gaps are told apart by sentinels: these mark them too, each at its own place."""
        parts = NUMBERED.split(text)
        for number, mark in enumerate(parts[1::2]):
            if not GAP.fullmatch(mark) and mark != SENTINEL.format(number):
                raise UserError(
                    f"{mark} stands for gap {number + 1} of {text!r}; write {SENTINEL.format(number)} there"
                )
        return Gapped(tuple(parts[::2]), kind)

    @property
    def gaps(self) -> int:
        return len(self.parts) - 1

    @property
    def read(self) -> list[str]:
        """The parts as they are read: without a blank before a gap where what is missing has one of its own."""
        *before, last = self.parts
        return [*(part.removesuffix(" ") if self.kind in GLUED else part for part in before), last]

    def tokens(self, tokenizer: Tokenizer, fillings: Sequence[Sequence[int]]) -> list[int]:
        """The tokens of the text with these in its gaps."""
        first, *others = tokenizer.encode_batch(self.read)
        around = [first, *(ids[len(tokenizer.lead) :] for ids in others)]  # a text begins once
        return list(chain.from_iterable(chain.from_iterable(zip_longest(around, fillings, fillvalue=()))))

    def masked(self, tokenizer: Tokenizer) -> tuple[list[int], None]:
        """The tokens of the text with a mask in each gap; it has no tree."""
        return self.tokens(tokenizer, [[tokenizer.symbol(MASK)]] * self.gaps), None

    def text(self, tokenizer: Tokenizer, fillings: Sequence[Sequence[int]]) -> str:
        """The text with these tokens in its gaps, as one would write it; what was given stays as it was."""
        *before, last = self.read
        found = ""
        for part, whole, tokens in zip(before, self.parts[:-1], fillings, strict=True):
            found = self._fill(self._join(found, part), self._words(tokenizer, list(tokens)), part != whole)
        return self._join(found, last)

    def _words(self, tokenizer: Tokenizer, tokens: list[int]) -> str:
        """With the blank of the first token, which some leave out at the beginning of a text."""
        words = tokenizer.decode(tokens)
        begun = self.kind in GLUED and tokens and tokenizer.piece(tokens[0])[0] in BLANKS
        return f" {words}" if begun and not words[:1].isspace() else words

    def _fill(self, before: str, words: str, blank: bool) -> str:
        """`blank` says that one was given before the gap and is left to the words."""
        if self.kind in GLUED and not blank and before[-1:] in ("", "\n"):
            return before + words.removeprefix(" ")
        if self.kind in APART and not words:
            return before.removesuffix(" ")
        if self.kind == "wordpiece" and words.startswith(WITHIN):
            return before.removesuffix(" ") + words.removeprefix(WITHIN)
        return self._join(before, words)

    def _join(self, before: str, after: str) -> str:
        """One after the other, two words with a blank between."""
        apart = self.kind in APART and before[-1:].isalnum() and after[:1].isalnum()
        return f"{before} {after}" if apart else before + after
