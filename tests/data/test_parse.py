"""A sentence with its tree as a model is given it: its tokens are those of training, its gaps are masks."""

from pathlib import Path

import numpy as np
import pytest

from regard.data.parse import GappedParse, Parse, around_gaps, hole, read_parses
from regard.data.trees import grown, spread
from regard.text import KINDS, Text, Tokenizer
from regard.text.tokenizer import MASK
from regard.text.words import spell
from tests.data.trees import conllu, drawn
from tests.helpers import lines_file, refused

WORDS = ["The", "old", "café", "did", "n't", "open", "."]
HEADS = drawn(7, 4)
every_kind = pytest.mark.parametrize("kind", KINDS)


def tokenizer(kind: str) -> Tokenizer:
    return Tokenizer.train([" ".join(WORDS)] * 7, Text(kind=kind), (MASK,))


@every_kind
def test_tokens_and_tree_are_those_of_training(kind: str) -> None:
    cutter = tokenizer(kind)
    tokens, tree = Parse.of(WORDS, HEADS).encoded(cutter)
    spelt = spell(cutter, WORDS)
    assert tokens.ids == spelt.ids
    assert np.array_equal(tree, spread(grown(HEADS), spelt))


@every_kind
def test_tokens_know_the_characters_they_came_from(kind: str) -> None:
    """Wherever the words stand in the text."""
    text = "  The old  café didn't open."
    spans = tuple((text.index(word), text.index(word) + len(word)) for word in WORDS)
    parse = Parse(text, spans, tuple(HEADS))
    assert parse.words == WORDS
    cutter = tokenizer(kind)
    tokens, _ = parse.encoded(cutter)
    assert tokens.pieces == [cutter.piece(token) for token in tokens.ids]
    covered = {place for begin, end in tokens.offsets for place in range(begin, end)}
    assert covered == {place for begin, end in spans for place in range(begin, end)}
    assert tokens.offsets == sorted(tokens.offsets)


@every_kind
def test_a_gap_is_a_mask_in_the_place_of_its_word(kind: str) -> None:
    cutter, words = tokenizer(kind), [*WORDS[:3], "___", *WORDS[4:]]
    gapped = GappedParse(Parse.of(words, HEADS), kind)
    ids, tree = gapped.masked(cutter)
    assert gapped.gaps == 1 and ids.count(cutter.symbol(MASK)) == 1
    assert gapped.read == [*WORDS[:3], *WORDS[4:]]
    place = ids.index(cutter.symbol(MASK))
    assert np.array_equal(tree[:, place], grown(HEADS)[:, 3])
    before, after = spell(cutter, words[:3]).ids, spell(cutter, words[4:]).ids
    assert ids == [*before, *hole(cutter, kind), *after]
    assert (len(hole(cutter, kind)) == 2) == (kind in ("char", "byte")), "a blank that is a token stays"
    filled = gapped.text(cutter, [cutter.encode(" did" if kind != "word" else "did")])
    assert filled == "The old café did n't open ."


def test_without_a_symbol_for_them_gaps_are_words() -> None:
    cutter = tokenizer("char")
    tokens, _ = Parse.of(["a", "___"], [0, 1]).encoded(cutter)
    assert cutter.symbol(MASK) not in tokens.ids


def test_a_word_of_which_nothing_is_left_has_a_stand_in() -> None:
    cutter = tokenizer("wordpiece")
    tokens, tree = Parse.of(["The", "\u200b", "."], [2, 0, 2]).encoded(cutter)
    assert tokens.ids == spell(cutter, ["The", "\u200b", "."]).ids and cutter.unknown in tokens.ids
    assert tree.shape == (3, len(tokens.ids)) and len(tokens.offsets) == len(tokens.ids)


def test_nothing_has_no_tree() -> None:
    tokens, tree = Parse("", (), ()).encoded(tokenizer("word"))
    assert tokens.ids == [] and tree.shape == (3, 0)


def test_raw_text_is_cut_around_its_gaps() -> None:
    text = "The cat's <mask> ___, [MASK]!"
    assert [text[a:b] for a, b in around_gaps(text)] == ["The", "cat", "'s", "<mask>", "___", ",", "[MASK]", "!"]


def test_a_file_of_sentences(tmp_path: Path) -> None:
    path = Path(conllu(tmp_path, [(["a", "b c"], [2, 0]), (["d"], [0])]))
    assert list(read_parses(path)) == [Parse.of(["a", "b_c"], [2, 0]), Parse.of(["d"], [0])]
    with refused("a.txt has no trees: give a .conllu file"):
        list(read_parses(Path(lines_file(tmp_path / "a.txt", ["a"]))))
    with refused("no such file"):
        list(read_parses(tmp_path / "b.conllu"))
