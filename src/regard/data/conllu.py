"""CoNLL-U, the format of Universal Dependencies: a word a line in ten columns, an empty line after each sentence.

Lines of multiword tokens (`1-2`) and of empty nodes (`1.1`) are no words and are skipped, and so are comments, but for
`# text`. Broken input stops with file and line.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from regard.data.trees import NoTree, grown
from regard.errors import UserError

COLUMNS = 10  # ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC
TAGS = ("upos", "xpos")
Numbered = tuple[int, str]  # a line and its number


@dataclass(frozen=True)
class Word:
    """A word with its tags. `head` is the number of the word it hangs on, 0 for the root, None where none is given."""

    form: str
    lemma: str
    upos: str
    xpos: str
    head: int | None
    relation: str
    line: int


@dataclass(frozen=True)
class Sentence:
    """`written` is the text as it stands in the comment, empty where there is none."""

    words: tuple[Word, ...]
    written: str = ""

    @property
    def forms(self) -> str:
        """The words, one blank between two; a blank inside a word becomes "_"."""
        return " ".join(re.sub(r"\s", "_", word.form) for word in self.words)

    @property
    def text(self) -> str:
        return self.written or self.forms


def sentences(lines: Iterable[Numbered], name: str) -> Iterator[Sentence]:
    """The sentences of a file's numbered lines; `name` is the file in messages."""
    words: list[Word] = []
    written = ""
    for number, line in lines:
        line = line.rstrip("\r\n")
        if line.startswith("#"):
            if match := re.match(r"#\s*text\s*=\s*(.*\S)", line):
                written = match[1]
        elif line.strip():
            word = read_word(line, number, len(words) + 1, f"{name} line {number}")
            words += [word] if word else []
        else:
            if words:
                yield whole(words, written, name)
            words, written = [], ""
    if words:
        yield whole(words, written, name)


def read_word(line: str, number: int, expected: int, where: str) -> Word | None:
    """The word of a line; None where the line is a multiword token or an empty node."""
    cells = line.split("\t")
    if len(cells) != COLUMNS:
        raise UserError(f"{where}: {len(cells)} column(s) between tabs; CoNLL-U has {COLUMNS}")
    own, form, lemma, upos, xpos, _, head, relation, _, _ = cells
    if re.fullmatch(r"\d+[-.]\d+", own):
        return None
    if own != str(expected):
        raise UserError(f"{where}: word number '{own}', expected {expected} (an empty line ends a sentence)")
    if not form.strip():
        raise UserError(f"{where}: a word without a form")
    if head != "_" and not re.fullmatch(r"\d+", head):
        raise UserError(f"{where}: head '{head}' is not the number of a word")
    return Word(form, lemma, upos, xpos, None if head == "_" else int(head), relation, number)


def whole(words: list[Word], written: str, name: str) -> Sentence:
    for word in words:
        if word.head is not None and word.head > len(words):
            raise UserError(f"{name} line {word.line}: head {word.head} in a sentence of {len(words)} word(s)")
    return Sentence(tuple(words), written)


def parsed(lines: Iterable[Numbered], name: str) -> Iterator[tuple[str, str]]:
    """The words of each sentence and the number of the word that each hangs on, one blank between two."""
    for sentence in sentences(lines, name):
        yield sentence.forms, " ".join(map(str, heads_of(sentence, name)))


def heads_of(sentence: Sentence, name: str) -> list[int]:
    """What each word hangs on; a sentence without a tree stops with the line that is to blame."""
    heads = [word.head for word in sentence.words if word.head is not None]
    for word in sentence.words:
        if word.head is None:
            raise UserError(
                f"{name} line {word.line}: '{word.form}' has no head, and trees are asked for: have the file parsed, "
                "or leave out objective.trees"
            )
    try:
        grown(heads)
    except NoTree as wrong:
        word = sentence.words[wrong.word]
        raise UserError(f"{name} line {word.line}: no tree: '{word.form}' {wrong.what}") from None
    return heads


def tagged(lines: Iterable[Numbered], name: str, tags: str) -> Iterator[tuple[str, str]]:
    """The words of each sentence and as many tags, one blank between two; `tags` is "upos" or "xpos"."""
    other = TAGS[1 - TAGS.index(tags)]
    for sentence in sentences(lines, name):
        found = [getattr(word, tags) for word in sentence.words]
        for word, tag in zip(sentence.words, found, strict=True):
            if tag == "_" or not tag.strip():
                raise UserError(
                    f"{name} line {word.line}: '{word.form}' has no {tags.upper()} tag; data.tags may be '{other}'"
                )
        yield sentence.forms, " ".join(re.sub(r"\s", "_", tag) for tag in found)
