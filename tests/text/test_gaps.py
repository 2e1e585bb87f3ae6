"""Texts with gaps: the tokens around a gap are those of the whole text, and a filled text reads as one writes it."""

import re

import pytest

from regard.text import Text, Tokenizer
from regard.text.gaps import MARKS, Gapped
from regard.text.tokenizer import KINDS, MASK

TEXTS = [
    "The cat sat on the mat.",
    "A small dog, unable to stop, ran  after the   cats.",
    "two lines\nof café text\n with blanks at their ends \n",
    "naïve dogs - and 13 cats!",
]
every_kind = pytest.mark.parametrize("kind", list(KINDS))


@pytest.fixture(scope="module")
def tokenizers() -> dict[str, Tokenizer]:
    return {kind: Tokenizer.train(TEXTS * 3, Text(kind=kind), (MASK,)) for kind in KINDS}


def words(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\S+", text)]


def own(tokenizer: Tokenizer, text: str, begin: int, end: int, glued: bool) -> list[int]:
    """The tokens of these characters and, where it is glued to them, of the blank before."""
    found = tokenizer.encode_with_offsets(text)
    begin -= glued and text[:begin].endswith(" ")
    return [i for i, (b, e) in zip(found.ids, found.offsets, strict=True) if b >= begin and e <= end]


def gapped(tokenizer: Tokenizer, kind: str, text: str, gaps: list[tuple[int, int]]) -> tuple[Gapped, list[list[int]]]:
    """The text without these pieces, and their tokens."""
    shown, last = "", 0
    for begin, end in gaps:
        shown, last = shown + text[last:begin] + MASK, end
    missing = [own(tokenizer, text, *gap, kind in ("bpe", "byte-bpe", "unigram")) for gap in gaps]
    return Gapped.cut(shown + text[last:], kind), missing


@every_kind
@pytest.mark.parametrize("text", TEXTS)
def test_a_gap_filled_with_its_own_tokens_is_the_whole_text(
    kind: str, text: str, tokenizers: dict[str, Tokenizer]
) -> None:
    """One word missing, every second one, two in a row, all of them."""
    tokenizer, every = tokenizers[kind], words(text)
    for gaps in ([each] for each in every), [every[::2], every[1::2], every[1:3], every]:
        for chosen in gaps:
            found, missing = gapped(tokenizer, kind, text, chosen)
            assert found.gaps == len(chosen)
            assert all(missing)
            assert found.tokens(tokenizer, missing) == tokenizer.encode(text)
            assert found.text(tokenizer, missing) == text


@pytest.mark.parametrize("kind", ["char", "byte", "byte-bpe"])
def test_a_gap_may_be_any_token_of_these_kinds(kind: str, tokenizers: dict[str, Tokenizer]) -> None:
    tokenizer, text = tokenizers[kind], TEXTS[1]
    found = tokenizer.encode_with_offsets(text)
    for token, (begin, end) in zip(found.ids, found.offsets, strict=True):
        kept = begin + (kind == "byte-bpe" and text[begin] == " " and end > begin + 1)
        cut = Gapped.cut(f"{text[:kept]}<mask>{text[end:]}", kind)
        assert cut.tokens(tokenizer, [[token]]) == found.ids


@every_kind
def test_a_mark_before_a_full_stop_hides_the_word_alone(kind: str, tokenizers: dict[str, Tokenizer]) -> None:
    found = Gapped.cut("The cat sat on the ___.", kind)
    tokenizer = tokenizers[kind]
    assert found.tokens(tokenizer, [[tokenizer.symbol(MASK)]])[-1:] == tokenizer.encode(".")[-1:]
    assert found.parts[1] == "."


@pytest.mark.parametrize("mark", [*MARKS, "_____"])
def test_marks_are_alike(mark: str) -> None:
    found = Gapped.cut(f"a {mark} b {mark}", "bpe")
    assert found.parts == ("a ", " b ", "") and found.read == ["a", " b", ""] and found.gaps == 2
    assert Gapped.cut(f"a {mark} b", "char").read == ["a ", " b"]


def test_no_mark_is_no_gap() -> None:
    found = Gapped.cut("a __ b <MASK>", "bpe")
    assert found.gaps == 0 and found.parts == ("a __ b <MASK>",)


def test_a_mark_of_the_text_is_never_the_symbol(tokenizers: dict[str, Tokenizer]) -> None:
    for tokenizer in tokenizers.values():
        assert tokenizer.symbol(MASK) not in tokenizer.encode(f"The {MASK} sat")


def filled(tokenizer: Tokenizer, kind: str, text: str, *fillings: str) -> str:
    return Gapped.cut(text, kind).text(tokenizer, [[tokenizer.backend.token_to_id(piece)] for piece in fillings])


def test_spaces_are_right_where_tokens_are_pieces(tokenizers: dict[str, Tokenizer]) -> None:
    assert filled(tokenizers["bpe"], "bpe", "A ___, unable", "▁cat") == "A cat, unable"
    assert filled(tokenizers["bpe"], "bpe", "___ sat\n___ sat", "▁cat", "▁cat") == "cat sat\ncat sat"
    assert filled(tokenizers["byte-bpe"], "byte-bpe", "A ___.", "Ġcat") == "A cat."
    assert Gapped.cut("A ___ cat.", "bpe").text(tokenizers["bpe"], [[]]) == "A cat."


def test_spaces_are_right_where_tokens_are_words(tokenizers: dict[str, Tokenizer]) -> None:
    assert filled(tokenizers["word"], "word", "A ___, unable", "dogs") == "A dogs, unable"
    assert filled(tokenizers["word"], "word", "A___cat", "dogs") == "A dogs cat"
    assert filled(tokenizers["word"], "word", "(___)", "dogs") == "(dogs)"
    assert Gapped.cut("A ___ cat.", "word").text(tokenizers["word"], [[]]) == "A cat."
    piece = next(p for p in tokenizers["wordpiece"].backend.get_vocab() if p.startswith("##") and len(p) > 3)
    assert filled(tokenizers["wordpiece"], "wordpiece", "a c ___ b", piece) == f"a c{piece[2:]} b"


def test_characters_are_put_in_as_they_are(tokenizers: dict[str, Tokenizer]) -> None:
    assert filled(tokenizers["char"], "char", "c___t s___t", "a", "a") == "cat sat"
    assert filled(tokenizers["char"], "char", "c___ t", "a") == "ca t"
