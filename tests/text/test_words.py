"""Every word keeps its place among the tokens, whatever kind they are; raw text is cut where a reader would."""

import random
from itertools import chain, pairwise

import pytest
from tokenizers import normalizers

from regard.text import KINDS, Text, Tokenizer
from regard.text.words import cut, given, given_words, spell

TEXTS = [
    "The chicken did n't cross the road .",
    "naïve café — £ 5,000 well-known 世界 é",
    "dogs and cats bark <s> </s>",
]
PLAIN = ["The", "café", "chicken", "did", "n't", "bark", ".", "é", "世界"]
STRANGE = ["☃☃x", "İstanbul", "\u2581", "<s>", "<unk>", "e\u0301", "\u200b", "10\u00a0000", "zzz", "\u2028", "🙂🙂"]


@pytest.fixture(params=KINDS)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return Tokenizer.train(TEXTS * 7, Text(kind=request.param))


def pieces(tokenizer: Tokenizer, words: list[str]) -> list[list[int]]:
    """The tokens from the beginning of each word to that of the next; before the first one stands a blank at most."""
    spelt = spell(tokenizer, words)
    assert len(spelt.begins) == len(words) and spelt.begins == sorted(set(spelt.begins))
    first = spelt.ids[: spelt.begins[0]]
    assert [*first, *chain(*spelt.pieces)] == spelt.ids and tokenizer.decode(first).strip() == ""
    return spelt.pieces


@pytest.mark.parametrize("seed", range(5))
def test_the_tokens_of_a_word_spell_it(tokenizer: Tokenizer, seed: int) -> None:
    words = random.Random(seed).choices(PLAIN, k=13)
    assert spell(tokenizer, words).ids == tokenizer.encode(" " + " ".join(words)), "nothing is lost or put in"
    for word, ids in zip(words, pieces(tokenizer, words), strict=True):
        assert tokenizer.decode(ids).replace(" ", "") == word


@pytest.mark.parametrize("seed", range(9))
def test_every_word_has_a_beginning_however_strange(tokenizer: Tokenizer, seed: int) -> None:
    """Known words among strange ones are still spelt by their own tokens."""
    words = random.Random(seed).choices([*PLAIN, *STRANGE], k=17)
    for word, ids in zip(words, pieces(tokenizer, words), strict=True):
        assert ids
        if word in PLAIN:
            assert tokenizer.decode(ids).replace(" ", "") == word


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("char", "byte")])
def test_a_word_is_cut_alike_wherever_it_stands(kind: str) -> None:
    tokenizer = Tokenizer.train(TEXTS * 7, Text(kind=kind))
    first, second, third = (pieces(tokenizer, ["dogs", "bark", "dogs"][i:]) for i in range(3))
    assert [first[1:], second[1:]] == [second, third] and first[0][:1] == third[0][:1]


def test_a_word_begins_after_the_blank_before_it() -> None:
    letters = Tokenizer.train(["ab cd"], Text(kind="char"))
    assert spell(letters, ["ab", "c", "dab"]).begins == [1, 4, 6]
    assert spell(letters, []).ids == [] == spell(letters, []).begins == spell(letters, []).pieces


def test_words_of_which_nothing_is_left_are_unknown_tokens() -> None:
    tokenizer = Tokenizer.train(["ab cd"], Text(kind="word"))
    tokenizer.backend.normalizer = normalizers.Replace("x", "")
    for words in (["x", "ab", "xx", "x", "cd", "x"], ["x"], ["ab", "x"]):
        ids = [tokenizer.unknown if "x" in word else tokenizer.encode(word)[0] for word in words]
        assert spell(tokenizer, words).ids == ids
        assert spell(tokenizer, words).begins == list(range(len(words)))


def test_in_small_letters_words_keep_their_places() -> None:
    """A capital I with a dot becomes two characters."""
    tokenizer = Tokenizer.train(["abi cdi"] * 3, Text(kind="char", lowercase=True))
    words = ["ABİ", "İ", "Cd"]
    assert [tokenizer.decode(ids[:1]) for ids in pieces(tokenizer, words)] == ["a", "i", "c"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The chicken didn't cross.", "The chicken did n't cross ."),
        ("It’s the dogs' bone, isn’t it?!", "It ’s the dogs ' bone , is n’t it ? !"),
        ("mother-in-law's rock-and-roll", "mother-in-law 's rock-and-roll"),
        ("l'homme a 1,000.5 km (U.S.) à 10:30...", "l'homme a 1,000.5 km ( U.S. ) à 10:30 ..."),
        ("Write to a.b@c.org, see https://d.org/e?f=g.", "Write to a.b@c.org , see https://d.org/e?f=g ."),
        ("naïve e\u0301te\u0301 हिन्दी", "naïve e\u0301te\u0301 हिन्दी"),
        ("$5 50% --- a--b 'tis", "$ 5 50 % --- a -- b ' tis"),
        ("  \t ", ""),
    ],
)
def test_raw_text_is_cut_into_words_and_marks(text: str, words: str) -> None:
    assert [text[begin:end] for begin, end in cut(text)] == words.split()


@pytest.mark.parametrize("seed", range(20))
def test_cutting_loses_nothing_but_blanks(seed: int) -> None:
    text = "".join(random.Random(seed).choices("ab Z.,-'’1\n\té\u0301世🙂@/:_\u200dn't", k=47))
    places = cut(text)
    assert "".join(text[begin:end] for begin, end in places) == "".join(text.split())
    assert all(end <= begin for (_, end), (begin, _) in pairwise(places))


def test_blanks_separate_given_words_and_no_other_character() -> None:
    text = " did n't  10\u00a0000\tx.y\r\n"
    assert given_words(text) == ["did", "n't", "10\u00a0000", "x.y"]
    assert [text[begin:end] for begin, end in given(text)] == given_words(text)
