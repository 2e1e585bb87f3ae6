"""Byte-pair encoding written out equals `tokenizers`: the same joins in the same order, the same pieces."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Backend
from tokenizers import models, pre_tokenizers, trainers

from regard.text import Text, Tokenizer, bpe
from regard.text.tokenizer import SPECIALS
from tests.helpers import steady

TEXT = """The chicken didn't cross the road because it was too tired.
The chicken didn't cross the road because it was too wide.
An old dog and a young boy: thanks for all the apples!
A boy is eating an apple. Boys are eating apples. aaaa aaaaa bananas ananas
"""


def fast(words: list[str], joins: int) -> Backend:
    """`tokenizers` with room for the alphabet and so many joins."""
    backend = Backend(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    alphabet = {letter for word in words for letter in word}
    backend.train_from_iterator([words], trainers.BpeTrainer(vocab_size=len(alphabet) + joins, show_progress=False))
    return backend


def merges(backend: Backend) -> list[tuple[str, str]]:
    return [tuple(pair) for pair in json.loads(backend.to_str())["model"]["merges"]]


@pytest.mark.parametrize("joins", [0, 1, 7, 53, 1000])
def test_joins_and_pieces_equal_tokenizers_on_a_text(joins: int) -> None:
    words = TEXT.split()
    alphabet, learnt = bpe.learn(words, joins)
    backend = fast(words, joins)
    assert alphabet == sorted(set("".join(words)))
    assert learnt == merges(backend)
    assert len(learnt) == joins or joins == 1000
    for word in [*words, "chickens", "roadside", "aaaaaaa", "tooth"]:
        assert bpe.encode(word, learnt) == backend.encode(word).tokens


words = st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=12)


@steady
@given(words, st.integers(0, 30), st.text("abc", max_size=12))
def test_joins_and_pieces_equal_tokenizers_on_any_words(seen: list[str], joins: int, new: str) -> None:
    alphabet, learnt = bpe.learn(seen, joins)
    backend = fast(seen, joins)
    assert learnt == merges(backend)
    known = "".join(letter for letter in new if letter in alphabet)
    assert bpe.encode(known, learnt) == backend.encode(known).tokens


@steady
@given(words, st.integers(0, 30), st.text("abcd", max_size=12))
def test_pieces_spell_the_word(seen: list[str], joins: int, new: str) -> None:
    _, learnt = bpe.learn(seen, joins)
    assert "".join(bpe.encode(new, learnt)) == new


def test_the_commonest_pair_is_joined_first() -> None:
    """Sennrich et al. (2016): counts by hand. e+s, es+t occur 9 times, l+o 7."""
    seen = ["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3
    assert bpe.learn(seen, 3)[1] == [("e", "s"), ("es", "t"), ("l", "o")]
    assert bpe.encode("lowest", bpe.learn(seen, 3)[1]) == ["lo", "w", "est"]


def test_a_run_of_one_letter_is_joined_from_the_left() -> None:
    assert bpe.join(list("aaa"), ("a", "a")) == ["aa", "a"]
    assert bpe.join(list("aaaa"), ("a", "a")) == ["aa", "aa"]
    assert bpe.join(list("aab"), ("a", "b")) == ["a", "ab"]


def test_the_tokenizer_of_a_run_is_this_algorithm() -> None:
    """A space stands at the beginning of the word after it, and a line end alone."""
    tokenizer = Tokenizer.train([TEXT], Text(kind="bpe", vocabulary=97))
    cut = [
        piece
        for line in TEXT.splitlines()
        for piece in [*("▁".join(line.split(" "))).replace("▁", " ▁").split(" "), "\n"]
    ]
    alphabet = {letter for word in cut for letter in word}
    _, learnt = bpe.learn(cut, 97 - len(SPECIALS) - len(alphabet))
    expected = [piece for word in cut for piece in bpe.encode(word, learnt)]
    assert tokenizer.encode_with_offsets(TEXT).pieces == expected
