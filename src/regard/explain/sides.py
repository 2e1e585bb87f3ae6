"""The texts of one reading as the model reads them: tokens, and the characters that each came from."""

import re
from dataclasses import dataclass, replace

import numpy as np

from regard.checkpoint import Run
from regard.data.parse import Parse, hole
from regard.errors import UserError
from regard.systems import use_of
from regard.text import Tokenizer
from regard.text.gaps import GAP, GLUED
from regard.text.tokenizer import END, MASK, START, UNKNOWN
from regard.text.words import visible


@dataclass(frozen=True)
class Token:
    """`piece` is how the vocabulary writes it, `offset` the characters it came from; a special symbol has none."""

    id: int
    piece: str
    offset: tuple[int, int] | None


@dataclass(frozen=True)
class Side:
    """One text as the model reads it, or two in one row; where segments tell them apart, `second` begins the second.

    `tree` is that of the text between its symbols, where the model looks at trees; `parsed` if the run's own parser
    made it.
    """

    text: str
    tokens: tuple[Token, ...]
    second: int | None = None
    tree: np.ndarray | None = None
    parsed: bool = False

    @property
    def labels(self) -> list[str]:
        """Each token as a reader wants to see it: the characters of the text, `<unk>` where the model saw no more."""
        return [
            token.piece if token.offset is None or token.piece == UNKNOWN else visible(self.text[slice(*token.offset)])
            for token in self.tokens
        ]


def sides(
    run: Run, *, text: str | Parse | None, source: str | None, target: str | None, second: str | None = None
) -> tuple[Side | None, Side]:
    """The texts as the model reads them, or a message that says what this kind of model needs."""
    if not run.takes_source:
        if text is None or source is not None or target is not None:
            raise UserError(f"this run is a {use_of(run.model).name}: give it a text, no source and no target")
        check_second(run, second)
        if run.model.trees:
            return None, with_tree(run, text)
        if isinstance(text, Parse):
            raise UserError(f"{run.path} looks at no trees: give {text.text!r} as text")
        if second is not None:
            return None, pair(run, text, second)
        return None, side(run, "text", text, starts=True, ends=not run.model.writes_text)
    if text is not None or second is not None or source is None or target is None:
        lacks = [name for name, given in (("source", source), ("target", target)) if given is None]
        more = [name for name, given in (("text", text), ("second", second)) if given is not None]
        told = [*(f"{name} is missing" for name in lacks), *(f"it reads no {name}" for name in more)]
        raise UserError(f"this run is a translator: give it a source and a target; {', '.join(told)}")
    if not run.model.reads_source:
        return None, pair(run, source, target)
    return side(run, "source", source, ends=True), side(run, "target", target, starts=True)


def side(run: Run, what: str, text: str, *, starts: bool = False, ends: bool = False) -> Side:
    """One text cut into tokens, with the start symbol before it, the end symbol after it, or both."""
    starts = starts and (run.tokenizer.habits.opens or run.model.reads_source or not run.model.writes_text)
    found = tokens_of(run, text, run.tokenizer.of(what))
    if not found:
        raise UserError(f"the {what} {text!r} is empty: there is nothing to look at")
    first = [Token(run.tokenizer.start, START, None)] if starts else []
    last = [Token(run.tokenizer.end, END, None)] if ends else []
    symbols = " and ".join(["start"] * starts + ["end"] * ends)
    run.model.fits(len(found) + starts + ends, f"the {what} with its {symbols} symbol" if symbols else f"the {what}")
    return Side(text, (*first, *found, *last))


def with_tree(run: Run, text: str | Parse) -> Side:
    """A sentence and its tree, which the run's parser makes where none is given; a gap is the symbol for it."""
    parse = run.parsed(text)
    found, tree = parse.encoded(run.tokenizer, hole(run.tokenizer, run.recipe.text.kind))
    if not found.ids:
        raise UserError(f"the text {parse.text!r} is empty: there is nothing to look at")
    run.model.fits(len(found.ids) + 2, "the text with its start and end symbol")
    mask = run.tokenizer.symbol(MASK)
    tokens = [
        Token(token, piece, None if token == mask else offset)
        for token, piece, offset in zip(found.ids, found.pieces, found.offsets, strict=True)
    ]
    ends = Token(run.tokenizer.start, START, None), Token(run.tokenizer.end, END, None)
    return Side(parse.text, (ends[0], *tokens, ends[1]), tree=tree, parsed=isinstance(text, str))


def tokens_of(run: Run, text: str, cutter: Tokenizer) -> list[Token]:
    """The tokens of a text; a gap, where the run knows gaps, is the symbol that stands for it."""
    symbols, found, begin, gaps = run.recipe.objective.symbols, [], 0, 0
    marks = re.compile("|".join((GAP.pattern, *map(re.escape, symbols)))) if symbols else re.compile("(?!)")
    for mark in (*marks.finditer(text), None):
        part = text[begin : mark.start() if mark else len(text)]
        if mark and run.recipe.text.kind in GLUED:
            part = part.removesuffix(" ")
        cut = cutter.encode_with_offsets(part)
        for token, piece, (start, end) in zip(cut.ids, cut.pieces, cut.offsets, strict=True):
            found.append(Token(token, piece, (begin + start, begin + end)))
        if mark:
            name = mark[0] if mark[0] in symbols else symbols[min(gaps, len(symbols) - 1)]
            found.append(Token(run.tokenizer.symbol(name), name, None))
            begin, gaps = mark.end(), gaps + 1
    return found


def check_second(run: Run, second: str | None) -> None:
    """A classifier of pairs wants both texts, a model that was pre-trained on pairs takes them, others have no use."""
    columns = run.recipe.objective.columns
    if second is not None and "second" not in columns:
        raise UserError(f"{run.path} reads one text: it takes no second one")
    if second is None and {"second", "label"} <= set(columns):
        raise UserError(f"{run.path} reads two texts together: give it a second one (--second)")


def pair(run: Run, first: str, second: str) -> Side:
    """Two texts in one row: `<s> first </s> second </s>`, perhaps with more than one end symbol between."""
    one, other = side(run, "text", first, starts=True, ends=True), side(run, "second text", second, ends=True)
    gap = len(first) + 1
    moved = [replace(t, offset=t.offset and (t.offset[0] + gap, t.offset[1] + gap)) for t in other.tokens]
    more = [Token(run.tokenizer.end, END, None)] * (run.tokenizer.habits.parted - 1)
    tokens = (*one.tokens, *more, *moved)
    run.model.fits(len(tokens), "the row of two texts with its symbols")
    return Side(f"{first}\n{second}", tokens, second=None if more else len(one.tokens))


def looking(kind: str, source: Side | None, target: Side) -> tuple[Side, Side]:
    """The side that looks and the side that is looked at, one token for each row and each column of a map.

    A decoder looks at the source in order to write: a row of cross-attention is named by the token written there.
    """
    if source is None or kind == "decoder":
        return target, target
    return (source, source) if kind == "encoder" else (written(source, target), source)


def written(source: Side | None, target: Side) -> Side:
    """What is written after each token that is read: the next one and, at the end of a translation, the end symbol.

    After the last token of a language model's text nothing is written.
    """
    return Side(target.text, (*target.tokens[1:], *(source.tokens[-1:] if source is not None else ())))
