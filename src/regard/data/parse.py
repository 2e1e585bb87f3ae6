"""One sentence with its tree, as a model is given it (B7): its tokens, where they stand in the tree, and its gaps."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np

from regard.data.conllu import heads_of, sentences
from regard.data.sources import existing, lines
from regard.data.trees import grown, spread
from regard.errors import UserError
from regard.shapes import Int
from regard.text import Encoded, Tokenizer
from regard.text.gaps import APART, GAP, GLUED
from regard.text.tokenizer import MASK
from regard.text.words import Spelt, cut, spell


@dataclass(frozen=True)
class Parse:
    """`spans` say where words of a text begin and end, `heads` which of them each hangs on, from 1; 0 is the root."""

    text: str
    spans: tuple[tuple[int, int], ...]
    heads: tuple[int, ...]

    @staticmethod
    def of(words: Sequence[str], heads: Sequence[int]) -> "Parse":
        """A text of words with one blank between two."""
        ends = list(accumulate(len(word) + 1 for word in words))
        spans = tuple((end - 1 - len(word), end - 1) for word, end in zip(words, ends, strict=True))
        return Parse(" ".join(words), spans, tuple(heads))

    @property
    def words(self) -> list[str]:
        return [self.text[begin:end] for begin, end in self.spans]

    def encoded(self, tokenizer: Tokenizer, gap: Sequence[int] = ()) -> tuple[Encoded, Int[np.ndarray, "3 tokens"]]:
        """Its tokens, with the characters they came from, and its tree. `gap` are the tokens of a word that marks one;
        without them it is a word like any other."""
        ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        begins: list[int] = []
        for word, span in zip(self.words, self.spans, strict=True):
            hole = bool(gap) and bool(GAP.fullmatch(word))
            found = Spelt(list(gap), [len(gap) - 1]) if hole else spell(tokenizer, [word])
            begins.append(len(ids) + found.begins[0])
            ids += found.ids
            offsets += [span] * len(found.ids) if hole else cuts(tokenizer, word, span, len(found.ids))
        tree = grown(self.heads) if self.heads else np.zeros((3, 0), np.int64)
        return Encoded(ids, [tokenizer.piece(token) for token in ids], offsets), spread(tree, Spelt(ids, begins))


def cuts(tokenizer: Tokenizer, word: str, span: tuple[int, int], tokens: int) -> list[tuple[int, int]]:
    """The characters of a text from which the tokens of its word came; all of the word where one stands in for it."""
    found = tokenizer.encode_with_offsets(f" {word}").offsets
    if len(found) != tokens:
        return [span] * tokens
    return [(span[0] + max(0, begin - 1), span[0] + end - 1) for begin, end in found]


@dataclass(frozen=True)
class GappedParse:
    """A sentence of which some words are gaps; `kind` is that of the tokens. It stands in for `Gapped`."""

    parse: Parse
    kind: str

    @property
    def gaps(self) -> int:
        return sum(bool(GAP.fullmatch(word)) for word in self.parse.words)

    @property
    def read(self) -> list[str]:
        """Its words but for the gaps."""
        return [word for word in self.parse.words if not GAP.fullmatch(word)]

    def masked(self, tokenizer: Tokenizer) -> tuple[list[int], Int[np.ndarray, "3 tokens"]]:
        """Its tokens with a mask in each gap, and its tree."""
        tokens, tree = self.parse.encoded(tokenizer, hole(tokenizer, self.kind))
        return tokens.ids, tree

    def text(self, tokenizer: Tokenizer, fillings: Sequence[Sequence[int]]) -> str:
        """The text with these tokens in its gaps."""
        found, done, words = "", 0, iter(fillings)
        for word, (begin, end) in zip(self.parse.words, self.parse.spans, strict=True):
            if GAP.fullmatch(word):
                found += self.parse.text[done:begin] + tokenizer.decode(list(next(words))).strip()
                done = end
        return found + self.parse.text[done:]


def hole(tokenizer: Tokenizer, kind: str) -> list[int]:
    """The tokens of a gap; the blank before it is one where blanks are tokens of their own."""
    blank = [] if kind in (*GLUED, *APART) else tokenizer.encode(" ")
    return [*blank, tokenizer.symbol(MASK)]


def around_gaps(text: str) -> list[tuple[int, int]]:
    """Where the words of a raw text begin and end; a gap is a word."""
    found, begin = [], 0
    for mark in (*GAP.finditer(text), None):
        end = mark.start() if mark else len(text)
        found += [(begin + a, begin + b) for a, b in cut(text[begin:end])]
        if mark:
            found.append(mark.span())
            begin = mark.end()
    return found


def read_parses(path: Path) -> Iterator[Parse]:
    """The sentences of a CoNLL-U file, each with its tree."""
    if path.suffix != ".conllu":
        raise UserError(f"{path} has no trees: give a .conllu file")
    for sentence in sentences(lines(existing(path)), str(path)):
        yield Parse.of(sentence.forms.split(" "), heads_of(sentence, str(path)))
