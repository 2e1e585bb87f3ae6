"""Every kind of tokens: at once = line by line, there and back, the unknown, and what is sealed into a run."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Backend
from tokenizers import models

from regard.text import KINDS, Text, Tokenizer
from regard.text.tokenizer import SPECIALS, split_lines
from tests.helpers import refused, steady

TEXT = """The chicken didn't cross the road because it was too tired.
The chicken didn't cross the road because it was too wide.

  A boy is eating an apple.\tÜber größere Straßen, naïve 漢字 😀!
An old dog and a young boy \u00a0 and  two  spaces
"""
LOSSLESS = ("char", "byte", "bpe", "byte-bpe", "unigram")
every_kind = pytest.mark.parametrize("kind", KINDS)
lossless = pytest.mark.parametrize("kind", LOSSLESS)

trained = {kind: Tokenizer.train([TEXT] * 3, Text(kind=kind)) for kind in KINDS}
texts = st.text(sorted(set(TEXT)), max_size=60)
tags = st.lists(st.sampled_from(["<s>", "</s>", "<pad>", "<unk>", "<", "s>", " ", "a", "\n", "<s", ">"]), max_size=9)


@every_kind
def test_special_symbols_come_first(kind: str) -> None:
    tokenizer = trained[kind]
    assert [tokenizer.pad, tokenizer.unknown, tokenizer.start, tokenizer.end] == [0, 1, 2, 3]
    assert [tokenizer.piece(i) for i in range(4)] == SPECIALS == ["<pad>", "<unk>", "<s>", "</s>"]


@every_kind
@steady
@given(text=texts)
def test_line_by_line_is_the_same_as_at_once(kind: str, text: str) -> None:
    tokenizer = trained[kind]
    at_once = tokenizer.encode(text)
    assert [i for line in split_lines(text) for i in tokenizer.encode(line)] == at_once
    assert [i for ids in tokenizer.encode_batch(list(split_lines(text))) for i in ids] == at_once
    assert all(0 <= i < len(tokenizer) for i in at_once)


@lossless
@steady
@given(text=texts)
def test_a_lossless_kind_gives_the_text_back(kind: str, text: str) -> None:
    assert trained[kind].decode(trained[kind].encode(text)) == text


@pytest.mark.parametrize("kind", ["byte", "byte-bpe"])
@steady
@given(text=st.text(max_size=40))
def test_bytes_give_back_any_text_at_all(kind: str, text: str) -> None:
    assert trained[kind].decode(trained[kind].encode(text)) == text


@every_kind
@steady
@given(parts=tags)
def test_a_special_symbol_that_is_written_in_a_text_is_text(kind: str, parts: list[str]) -> None:
    """ "<s>" is a tag of HTML: it must neither begin a document nor be lost."""
    tokenizer, text = with_tags(kind), "".join(parts)
    ids = tokenizer.encode(text)
    assert not {tokenizer.pad, tokenizer.start, tokenizer.end} & set(ids)
    assert all(i < len(tokenizer) for i in ids)
    if kind in LOSSLESS:
        assert tokenizer.decode(ids) == text


@cache
def with_tags(kind: str) -> Tokenizer:
    """Trained on a text that is full of them."""
    return Tokenizer.train(["<s> a </s> <pad> <unk>\n"] * 50, Text(kind=kind))


@every_kind
def test_tags_in_the_training_text_leave_the_special_symbols_alone(kind: str) -> None:
    tokenizer = with_tags(kind)
    assert [tokenizer.pad, tokenizer.unknown, tokenizer.start, tokenizer.end] == [0, 1, 2, 3]
    assert sorted(tokenizer.backend.get_vocab().values()) == list(range(len(tokenizer)))


@lossless
def test_start_end_and_padding_leave_no_trace(kind: str) -> None:
    tokenizer = trained[kind]
    ids = tokenizer.encode("A boy")
    assert tokenizer.decode([tokenizer.start, *ids, tokenizer.end, tokenizer.pad, tokenizer.pad]) == "A boy"


@pytest.mark.parametrize("kind", ["char", "word", "bpe", "wordpiece", "unigram"])
def test_what_was_never_seen_is_unknown(kind: str) -> None:
    tokenizer = trained[kind]
    assert tokenizer.unknown in tokenizer.encode("A Ж boy")
    assert tokenizer.unknown not in tokenizer.encode("A boy")
    assert tokenizer.decode([tokenizer.unknown]) == "<unk>"


@pytest.mark.parametrize("kind", ["byte", "byte-bpe"])
def test_no_byte_is_unknown(kind: str) -> None:
    assert trained[kind].unknown not in trained[kind].encode("A Ж boy")


@every_kind
def test_json_there_and_back_keeps_the_fingerprint_and_the_tokens(kind: str) -> None:
    tokenizer = trained[kind]
    again = Tokenizer.from_json(tokenizer.to_json())
    assert again.fingerprint == tokenizer.fingerprint
    for text in (TEXT, "an <s> in the text", "Ж"):
        assert again.encode(text) == tokenizer.encode(text)
        assert again.encode_batch([text]) == tokenizer.encode_batch([text])


def test_different_tokenizers_have_different_fingerprints() -> None:
    prints = [tokenizer.fingerprint for tokenizer in trained.values()]
    prints += [Tokenizer.train([TEXT, extra], Text(kind="char")).fingerprint for extra in ("Ж", "Щ")]
    prints.append(Tokenizer.train([TEXT], Text(kind="char", lowercase=True)).fingerprint)
    assert len(set(prints)) == len(prints)
    assert Tokenizer.train([TEXT] * 3, Text(kind="bpe")).fingerprint == trained["bpe"].fingerprint


@every_kind
def test_offsets_say_where_each_token_came_from(kind: str) -> None:
    found = trained[kind].encode_with_offsets(TEXT)
    assert len(found.ids) == len(found.pieces) == len(found.offsets)
    starts = [start for start, _ in found.offsets]
    assert starts == sorted(starts)
    covered = {i for start, end in found.offsets for i in range(start, end)}
    assert all(TEXT[i].isspace() for i in set(range(len(TEXT))) - covered)


@pytest.mark.parametrize("kind", ["bpe", "byte-bpe", "wordpiece", "unigram"])
def test_a_learnt_vocabulary_has_the_size_asked_for_or_is_refused(kind: str) -> None:
    most = len(Tokenizer.train([TEXT], Text(kind=kind)))
    asked = {"byte-bpe": 271}.get(kind, most - 3)
    assert len(Tokenizer.train([TEXT], Text(kind=kind, vocabulary=asked))) == asked
    with refused(f"text.vocabulary = {most + 1} is more than the data allows"):
        Tokenizer.train([TEXT], Text(kind=kind, vocabulary=most + 1))
    with refused("text.vocabulary = 5"):
        Tokenizer.train([TEXT], Text(kind=kind, vocabulary=5))


@pytest.mark.parametrize("kind", ["char", "word"])
def test_a_counted_vocabulary_is_cut_to_the_commonest(kind: str) -> None:
    tokenizer = Tokenizer.train(["b b b a a c\n"], Text(kind=kind, vocabulary=7))
    assert len(tokenizer) == 7
    assert [i == tokenizer.unknown for i in (*tokenizer.encode("b"), *tokenizer.encode("c"))] == [False, True]


def test_bytes_are_256_and_the_special_symbols() -> None:
    assert len(trained["byte"]) == 260
    for wrong in (100, 300):
        with refused(f"text.vocabulary = {wrong}"):
            Tokenizer.train([TEXT], Text(kind="byte", vocabulary=wrong))


def test_lowercase_is_done_to_training_and_to_use() -> None:
    tokenizer = Tokenizer.train(["a boy"], Text(kind="char", lowercase=True))
    assert tokenizer.decode(tokenizer.encode("A BOY")) == "a boy"
    assert not {tokenizer.pad, tokenizer.start, tokenizer.end} & set(tokenizer.encode("<S>"))


def test_a_misspelt_kind_is_suggested() -> None:
    with refused("no kind of tokens 'word-piece'; did you mean 'wordpiece'?"):
        Text(kind="word-piece")


def test_a_vocabulary_without_room_is_refused() -> None:
    with refused("a vocabulary of 4 has no room: 4 are special symbols"):
        Text(vocabulary=4)
    with refused("-1"):
        Text(vocabulary=-1)


def test_the_example_of_003_becomes_ids_between_a_start_and_an_end() -> None:
    """ "A boy is eating an apple." -> <s> A boy is eating an apple . </s> -> ids, the commonest words first (B1)."""
    tokenizer = Tokenizer.train(["A boy is eating an apple .\n"], Text(kind="word"))
    ids = [tokenizer.start, *tokenizer.encode("A boy is eating an apple ."), tokenizer.end]
    assert [tokenizer.piece(i) for i in ids] == ["<s>", "A", "boy", "is", "eating", "an", "apple", ".", "</s>"]
    assert len(set(ids)) == 9
    assert tokenizer.decode(ids) == "A boy is eating an apple ."


def test_only_a_newline_ends_a_line() -> None:
    assert list(split_lines("a\r\nb\u2028c\x0bd\n\ne")) == ["a\r\n", "b\u2028c\x0bd\n", "\n", "e"]
    assert list(split_lines("")) == []


def test_a_vocabulary_without_its_special_symbols_is_refused() -> None:
    with refused("the tokenizer has no special symbol <pad>"):
        Tokenizer(Backend(models.WordLevel({"a": 0})).to_str())


def test_a_number_beyond_the_vocabulary_has_no_piece() -> None:
    tokenizer = trained["char"]
    with pytest.raises(IndexError, match=f"no token {len(tokenizer)} "):
        tokenizer.piece(len(tokenizer))


def test_a_word_written_as_unknown_is_an_unknown_word() -> None:
    """Prepared corpora write <unk> for rare words: it is one token, never two, and trained or not the same one."""
    tokenizer = Tokenizer.train(["a <unk> b\n"] * 3, Text(kind="word"))
    assert tokenizer.encode("a <unk> b <s>") == [*tokenizer.encode("a"), 1, *tokenizer.encode("b"), 1, 1]
    assert len(tokenizer) == 4 + len(["\n", "a", "b"])


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("char", ["the", " cat", " sat", "\nthe", " dog"]),
        ("byte", ["the", " cat", " sat", "\nthe", " dog"]),
        ("bpe", ["the", " cat", " sat", "\nthe", " dog"]),
        ("word", ["the", "cat", "sat", "\n", "the", "dog"]),
        ("wordpiece", ["the", "cat", "sat", "the", "dog"]),
    ],
)
def test_a_token_tells_whether_it_begins_a_word(kind: str, wanted: list[str]) -> None:
    text = "the cat sat\nthe dog"
    tokenizer = Tokenizer.train([text], Text(kind=kind))
    words: list[list[int]] = []
    for token in tokenizer.encode(text):
        if tokenizer.leads[token] or not words:
            words.append([])
        words[-1].append(token)
    assert [tokenizer.decode(word) for word in words] == wanted
