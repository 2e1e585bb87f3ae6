"""BERT's vocabulary read as a tokenizer of ours cuts as theirs does, and no text spells a special symbol."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertTokenizer

from regard.interop.hugging_face import Folder
from regard.interop.wordpiece import read
from regard.text import Text, Tokenizer
from tests.helpers import refused, steady
from tests.interop.folders import WORDS, changed, vocabulary

WAYS: dict[str, dict[str, Any]] = {
    "uncased": {},
    "cased": {"do_lower_case": False},
    "accents kept": {"strip_accents": False},
    "cased, accents stripped": {"do_lower_case": False, "strip_accents": True},
    "whole Chinese words": {"tokenize_chinese_chars": False},
}
TEXTS = [
    "The dogs crossed the road.",
    "the café's Cafe, CAFÉ's café",
    "京京 dog京 \u00a0\u2003dog\ufeff\x00\x1fs",
    "aab b3 33 dogas unk",
    "the\ndog\r\n\ncrosses\tthe road\n",
    "x" * 100 + " " + "a" * 100 + " " + "a" * 101,
    "",
]


@pytest.fixture(scope="module", params=WAYS)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Tokenizer, Any]:
    folder = tmp_path_factory.mktemp("cut")
    vocabulary(folder, **WAYS[request.param])
    return read(Folder(folder), len(WORDS))[0], BertTokenizer(str(folder / "vocab.txt"), **WAYS[request.param])


def test_texts_are_cut_as_theirs(both: tuple[Tokenizer, Any]) -> None:
    mine, theirs = both
    for text in TEXTS:
        assert mine.encode(text) == theirs(text, add_special_tokens=False)["input_ids"], text
    assert theirs("dog")["input_ids"] == [mine.start, *mine.encode("dog"), mine.end]
    assert (mine.pad, mine.unknown, mine.symbol("<mask>")) == (theirs.pad_token_id, 1, theirs.mask_token_id)


@steady
@given(st.lists(st.sampled_from([*WORDS[5:], "[", "]", "<", " ", " ", "É", "京", "\n", "x"]), max_size=13).map("".join))
def test_any_text_is_cut_as_theirs(both: tuple[Tokenizer, Any], text: str) -> None:
    if not any(symbol in text for symbol in WORDS[:5]):
        assert both[0].encode(text) == both[1](text, add_special_tokens=False)["input_ids"]


def test_no_text_spells_a_special_symbol(both: tuple[Tokenizer, Any]) -> None:
    tokenizer = both[0]
    special = {tokenizer.pad, tokenizer.start, tokenizer.end, tokenizer.symbol("<mask>")}
    for text in ("[MASK] [CLS][SEP] [PAD]", "<mask> <s>a</s> <pad>", "a<mask>b", "<MASK>"):
        ids = tokenizer.encode(text)
        assert not special & set(ids)
        assert ids == tokenizer.encode_batch([text])[0] == [i for c in cut(text) for i in tokenizer.encode(c)]


def cut(text: str) -> list[str]:
    """Marks are words."""
    for mark in "[]<>/":
        text = text.replace(mark, f" {mark} ")
    return text.split()


def test_every_token_keeps_its_number_and_symbols_get_our_names(both: tuple[Tokenizer, Any]) -> None:
    tokenizer = both[0]
    assert [tokenizer.piece(i) for i in range(5)] == ["<pad>", "<unk>", "<s>", "</s>", "<mask>"]
    assert [tokenizer.piece(i) for i in range(5, len(tokenizer))] == list(WORDS[5:])
    assert Tokenizer.from_json(tokenizer.to_json()).fingerprint == tokenizer.fingerprint


def test_the_settings_say_what_was_read(tmp_path: Path) -> None:
    vocabulary(tmp_path, do_lower_case=False)
    assert read(Folder(tmp_path), len(WORDS))[1] == Text(kind="wordpiece", vocabulary=len(WORDS), lowercase=False)
    (tmp_path / "tokenizer_config.json").unlink()
    assert read(Folder(tmp_path), len(WORDS))[1].lowercase


def test_tokenizer_json_gives_the_same_as_the_vocabulary(tmp_path: Path) -> None:
    vocabulary(tmp_path, strip_accents=False)
    plain = read(Folder(tmp_path), len(WORDS))[0]
    BertTokenizer(str(tmp_path / "vocab.txt"), strip_accents=False).save_pretrained(tmp_path)
    (tmp_path / "vocab.txt").unlink(missing_ok=True)
    assert (tmp_path / "tokenizer.json").exists()
    found, text = read(Folder(tmp_path), len(WORDS))
    assert found.fingerprint == plain.fingerprint
    assert text.lowercase


def test_rows_that_no_token_has_are_filled(tmp_path: Path) -> None:
    vocabulary(tmp_path)
    tokenizer, text = read(Folder(tmp_path), len(WORDS) + 3)
    assert len(tokenizer) == text.vocabulary == len(WORDS) + 3
    assert tokenizer.encode("<empty 40>") == tokenizer.encode("< empty 40 >")
    with refused(f"has {len(WORDS)} tokens, the model has a vector for {len(WORDS) - 1}"):
        read(Folder(tmp_path), len(WORDS) - 1)


def test_symbols_may_have_other_names(tmp_path: Path) -> None:
    vocabulary(tmp_path, cls_token="<s>", unk_token={"content": "un", "special": True})
    lines = (tmp_path / "vocab.txt").read_text().replace("[CLS]", "<s>")
    (tmp_path / "vocab.txt").write_text(lines)
    tokenizer = read(Folder(tmp_path), len(WORDS))[0]
    assert (tokenizer.start, tokenizer.unknown) == (2, WORDS.index("un"))
    (tmp_path / "vocab.txt").write_text(lines.replace("京", "</s>"))
    with refused("the vocabulary has </s> beside [SEP], which is to be called so here"):
        read(Folder(tmp_path), len(WORDS))
    changed(tmp_path, "tokenizer_config.json", pad_token="[SEP]")
    with refused("two special symbols have one name; they are [SEP], un, <s>, [MASK]"):
        read(Folder(tmp_path), len(WORDS))
    changed(tmp_path, "tokenizer_config.json", pad_token="[PAD]")
    (tmp_path / "vocab.txt").write_text(lines.replace("[MASK]", "[HIDE]"))
    with refused("the vocabulary has no [MASK]"):
        read(Folder(tmp_path), len(WORDS))


def test_a_vocabulary_that_cannot_be_is_refused(tmp_path: Path) -> None:
    vocabulary(tmp_path, do_basic_tokenize=False)
    with refused("do_basic_tokenize = false is not supported"):
        read(Folder(tmp_path), len(WORDS))
    vocabulary(tmp_path)
    (tmp_path / "vocab.txt").write_text("\n".join([*WORDS, "dog"]))
    with refused("1 tokens stand there twice"):
        read(Folder(tmp_path), 100)
    (tmp_path / "vocab.txt").write_bytes(b"\xff\xfe\x00")
    with refused("vocab.txt is damaged"):
        read(Folder(tmp_path), 100)
    (tmp_path / "vocab.txt").unlink()
    with refused("has no tokenizer.json and no vocab.txt"):
        read(Folder(tmp_path), 100)


def test_a_tokenizer_that_cuts_otherwise_is_refused(tmp_path: Path) -> None:
    vocabulary(tmp_path)
    BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    changed(tmp_path, "tokenizer_config.json", do_lower_case=False)
    with refused("has lowercase = True, tokenizer_config.json do_lower_case = False: which is it?"):
        read(Folder(tmp_path), len(WORDS))
    changed(tmp_path, "tokenizer_config.json", do_lower_case=True)
    whole = json.loads((tmp_path / "tokenizer.json").read_text())
    for changes, words in [
        ({"model": {"type": "BPE"}}, "model BPE is not supported; BERT has WordPiece"),
        ({"normalizer": None}, "normalizer nothing is not supported; BERT has BertNormalizer"),
        ({"pre_tokenizer": {"type": "Metaspace"}}, "pre_tokenizer Metaspace is not supported"),
        ({"model": {**whole["model"], "continuing_subword_prefix": "@@"}}, 'continuing_subword_prefix = "@@"'),
        ({"added_tokens": [{"id": 99, "content": "[NEW]"}]}, "added tokens are not supported: [NEW]"),
        ({"model": {**whole["model"], "vocab": {"a": 0, "b": 2}}, "added_tokens": []}, "are not numbered from 0 to 1"),
    ]:
        (tmp_path / "tokenizer.json").write_text(json.dumps(whole))
        changed(tmp_path, "tokenizer.json", **changes)
        with refused(words):
            read(Folder(tmp_path), len(WORDS))
