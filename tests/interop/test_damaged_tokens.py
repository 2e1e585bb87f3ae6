"""Vocabularies that are damaged, hostile or of another model end in one sentence that says what is wrong."""

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
from transformers import BertTokenizer

from regard.errors import UserError
from regard.interop.files.hugging_face import Folder
from regard.interop.tokens import Symbols, marian
from regard.interop.tokens.sentencepiece import BPE, NORMAL, UNKNOWN, Pieces
from regard.interop.tokens.trees import PARTS
from tests.helpers import refused
from tests.interop.folders import changed, vocabulary
from tests.interop.test_sentencepiece import read as read_pieces
from tests.interop.test_sentencepiece import trained_pieces
from tests.interop.test_tokens import read
from tests.interop.translators import two_models

TREE = ("version", "truncation", "padding", "added_tokens", "model", *PARTS)
PIECE = {"content": "a", "id": 0}
TEXT = "".join(map(chr, [*range(32, 0x3000), *range(0xFB00, 0xFFFE)]))
ANY = Symbols(start=("", "a"), end=("", "a"), unknown=("", ""))


def test_a_tokenizer_json_that_cannot_be_is_refused(tmp_path: Path) -> None:
    vocabulary(tmp_path)
    BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    whole = json.loads((tmp_path / "tokenizer.json").read_text())
    for changes, words in [
        ({"model": {"type": "Magic"}}, "model 'Magic' is not supported; known: WordPiece"),
        ({"model": {**whole["model"], "vocab": {"a": 0, "b": 0}}, "added_tokens": []}, "two of its 2 tokens have one"),
        ({"model": {**whole["model"], "vocab": {"a": 0, "b": 2}}, "added_tokens": []}, "are not numbered from 0 to 1"),
        ({"normalizer": {"type": "Magic"}}, "is damaged"),
    ]:
        (tmp_path / "tokenizer.json").write_text(json.dumps(whole))
        changed(tmp_path, "tokenizer.json", **changes)
        with refused(words):
            read(tmp_path)


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({"model": [1]}, "model [1] is not supported"),
        ({"model": {"type": ["BPE"]}}, "model ['BPE'] is not supported"),
        ({"added_tokens": [{}]}, "an added token is a record with its id and its content"),
        ({"added_tokens": {"a": 1}}, "an added token is a record with its id and its content"),
        ({"added_tokens": [{**PIECE, "id": "0"}]}, "an added token is a record with its id and its content"),
        ({"model": {"type": "BPE", "vocab": 5}}, "its vocabulary is none"),
        ({"model": {"type": "BPE", "vocab": {"a": [0]}}}, "one has none"),
        ({"model": {"type": "Unigram", "vocab": [1, 2]}}, "its vocabulary is none"),
        ({"model": {"type": "Unigram", "vocab": [["a", "b"]]}}, "its vocabulary is none"),
        ({"model": {"type": "Unigram", "vocab": {"a": 0}}}, "its vocabulary is none"),
        ({"model": {"type": "Unigram", "vocab": [["a", float("nan")]]}}, "is damaged"),
        ({"normalizer": [1]}, "its normalizer is none"),
        ({"pre_tokenizer": "x"}, "its pre_tokenizer is none"),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "BAAAAP///38="}}, "its table of characters is"),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "B"}}, "its table of characters is none"),
        ({"known": 0}, "is damaged"),
        ({"regard": {"rows": 5}, "model": {"type": "WordLevel", "vocab": {"b": 0}}}, "the vocabulary has no a"),
    ],
)
def test_a_tree_of_other_kinds_is_refused(tree: dict[str, Any], words: str, tmp_path: Path) -> None:
    whole = {"version": "1.0", "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "b"}}
    (tmp_path / "tokenizer.json").write_text(json.dumps({**whole, **tree}))
    with refused(words):
        read(tmp_path, ANY, 7)


def test_a_tree_without_words_is_read(tmp_path: Path) -> None:
    """Nothing need be cut before pieces are found."""
    pieces = [["<unk>", 0.0], ["</s>", 0.0], ["a", -1.0], ["b", -1.0], ["ab", -1.5], ["<", -3.0]]
    tree = {"version": "1.0", "model": {"type": "Unigram", "unk_id": 0, "vocab": pieces}, "pre_tokenizer": None}
    (tmp_path / "tokenizer.json").write_text(json.dumps(tree))
    tokenizer = read(tmp_path, Symbols(start=("", "</s>")), 6)[0]
    assert tokenizer.encode("abba") == [4, 3, 2]
    assert 1 not in tokenizer.encode("a</s>b")


def test_nothing_in_a_file_says_how_many_tokens_a_model_must_know(tmp_path: Path) -> None:
    rows = two_models(tmp_path)
    tree, known = marian.read(Folder(tmp_path))
    assert known == rows
    assert {*tree} == {*TREE}


def test_symbols_that_are_none_are_refused(tmp_path: Path) -> None:
    vocabulary(tmp_path, unk_token={"a": 1})
    assert read(tmp_path)[0].unknown == 1
    vocabulary(tmp_path)
    numbered = Symbols(start=("decoder_start_token_id", ""), end=("sep_token", "[SEP]"), unknown=("unk_token", ""))
    assert read(tmp_path, numbered, decoder_start_token_id=[2])[0].start == 2
    for wrong in ({"a": 2}, [[2]], "2", 2.0, True):
        with refused(f"the vocabulary has no decoder_start_token_id = {wrong[0] if wrong == [[2]] else wrong!r}"):
            read(tmp_path, numbered, decoder_start_token_id=wrong)
    for name in ("do_lower_case", "strip_accents", "tokenize_chinese_chars"):
        vocabulary(tmp_path, **{name: "yes"})
        with refused(f"{name} = 'yes' is neither true nor false"):
            read(tmp_path)


def test_a_model_of_pieces_that_cannot_be_is_refused(tmp_path: Path) -> None:
    content, path = trained_pieces("unigram"), tmp_path / "spiece.model"
    for wrong, words in [
        (content[: len(content) // 2], "is damaged"),
        (b"", "is damaged: it has no pieces"),
        (b"\xff" * 30, "is damaged: a number has no end"),
        (b"\x0a\xff\xff\xff\xff\x7f", "it ends in the middle of a field"),
        (b"\x0b", "no field has the type 3"),
        (b"\x0a\x02\x18\x01", "a field is None, and not bytes"),
        (b"\x0a\x02\x08\x01", "a field is 1, and not bytes"),
        (b"\x0a\x05\x0a\x01a\x18\x09", "no piece is of kind 9"),
        (b"\x0a\x05\x0a\x01a\x18\x02\x1a\x02\x10\x05", "a field is 5, and not bytes"),
        (b"\x0a\x05\x0a\x01a\x18\x02\x1a\x0a\x12\x08\xff\xff\xff\x7fabcd", "is damaged: "),
        (b"IQ== 0\nIg== 1\nIw== 2\n", "is a vocabulary of tiktoken, which does not say how text is cut"),
        (trained_pieces("char"), "it is of kind 4"),
    ]:
        path.write_bytes(wrong)
        with refused(words):
            read_pieces(tmp_path, Symbols(), 1000)


def test_a_long_piece_takes_no_time(tmp_path: Path) -> None:
    begun = time.monotonic()
    with refused("small.model is damaged: a piece has 400000 characters"):
        Pieces(["<unk>", "a" * 400_000], [0.0, 0.0], [UNKNOWN, NORMAL], BPE).tree("small.model")
    assert time.monotonic() - begun < 1


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_changed_byte_never_ends_in_anything_else(kind: str, tmp_path: Path) -> None:
    content, path, chance = trained_pieces(kind), tmp_path / "spiece.model", random.Random(11)
    end = max(0, len(content) - 400)  # the table of characters is long
    refusals = 0
    for _ in range(300):
        wrong = bytearray(content)
        for _ in range(chance.choice((1, 1, 2, 4))):
            at = chance.randrange(*chance.choice(((0, 1400), (0, len(wrong)), (end, len(wrong)))))
            wrong[at] = chance.choice((0, 1, 127, 255, chance.randrange(256), wrong[at] ^ 1 << chance.randrange(8)))
        path.write_bytes(bytes(wrong[: chance.choice((len(wrong), len(wrong), chance.randrange(len(wrong))))]))
        try:
            read_pieces(tmp_path, Symbols(), 57)[0].encode(TEXT)
        except UserError as error:
            refusals += 1
            assert "\n" not in str(error)
    assert 20 < refusals < 300
