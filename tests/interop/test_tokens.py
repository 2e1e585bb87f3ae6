"""Tokenizers of others cut as theirs do, keep their numbers and names, and no text spells a special symbol."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Backend
from tokenizers import models, pre_tokenizers, trainers
from transformers import BertTokenizer

from regard.checkpoint import load
from regard.decode import check_alignment
from regard.decode.settings import Decode
from regard.interop import export_model, import_model, tokens
from regard.interop.families import FAMILIES
from regard.interop.files.hugging_face import Folder
from regard.interop.tokens import Symbols
from regard.interop.tokens.writing import write_tokenizer
from regard.text import KINDS, Text, Tokenizer
from tests.helpers import refused, steady
from tests.interop.folders import WORDS, vocabulary
from tests.interop.tiny import tiny

BERT, GPT2 = FAMILIES["bert"].symbols, FAMILIES["gpt2"].symbols
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
CORPUS = [
    f"The {animal} didn't cross the {way} because it was too {state}; a boy saw {number} apples, e.g. this one."
    for animal, way, state, number in product(
        ("chicken", "old dog", "penguin"), ("road", "river", "bridge"), ("tired", "wide", "narrow"), (3, 17, 204)
    )
]


def read(folder: Path, symbols: Symbols = BERT, rows: int = len(WORDS), **config: Any) -> tuple[Tokenizer, Text]:
    return tokens.read(Folder(folder), symbols, config, rows)[:2]


@pytest.fixture(scope="module", params=WAYS)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Tokenizer, Any]:
    folder = tmp_path_factory.mktemp("cut")
    vocabulary(folder, **WAYS[request.param])
    return read(folder)[0], BertTokenizer(str(folder / "vocab.txt"), **WAYS[request.param])


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


def test_every_token_keeps_its_number_and_name(both: tuple[Tokenizer, Any]) -> None:
    tokenizer = both[0]
    assert [tokenizer.piece(i) for i in range(len(tokenizer))] == list(WORDS)
    assert Tokenizer.from_json(tokenizer.to_json()).fingerprint == tokenizer.fingerprint
    assert tokenizer.decode([2, *tokenizer.encode("the dog"), 3, 0]) == "the dog"


def test_the_settings_say_what_was_read(tmp_path: Path) -> None:
    vocabulary(tmp_path, do_lower_case=False)
    assert read(tmp_path)[1] == Text(kind="wordpiece", vocabulary=len(WORDS), lowercase=False)
    (tmp_path / "tokenizer_config.json").unlink()
    assert read(tmp_path)[1].lowercase


def test_tokenizer_json_cuts_as_the_vocabulary(tmp_path: Path) -> None:
    vocabulary(tmp_path, strip_accents=False)
    plain = read(tmp_path)[0]
    BertTokenizer(str(tmp_path / "vocab.txt"), strip_accents=False).save_pretrained(tmp_path)
    (tmp_path / "vocab.txt").unlink(missing_ok=True)
    found, text = read(tmp_path)
    assert [found.encode(each) for each in TEXTS] == [plain.encode(each) for each in TEXTS]
    assert text.lowercase


def test_a_text_is_neither_padded_nor_cut_short(tmp_path: Path) -> None:
    """Though the file of a model for sentences asks for both."""
    vocabulary(tmp_path / "plain")
    backend = Backend.from_str(json.dumps(tokens.wordpiece.read(Folder(tmp_path / "plain"))))
    backend.enable_padding(length=17, pad_token="[PAD]")
    backend.enable_truncation(5)
    (tmp_path / "asks").mkdir()
    backend.save(str(tmp_path / "asks" / "tokenizer.json"))
    (asks, _), (plain, _) = (read(tmp_path / name) for name in ("asks", "plain"))
    for text in ("the dog", "the dog crosses the road the dog crosses the road"):
        assert asks.encode(text) == plain.encode(text) == asks.encode_batch([text])[0]


def test_rows_that_no_token_has_stay(tmp_path: Path) -> None:
    vocabulary(tmp_path)
    tokenizer, text = read(tmp_path, rows=len(WORDS) + 3)
    assert len(tokenizer) == text.vocabulary == len(WORDS) + 3
    assert tokenizer.piece(len(WORDS) + 2) == f"<empty {len(WORDS) + 2}>"
    assert tokenizer.decode([len(WORDS) + 1, WORDS.index("dog")]) == "dog"
    with pytest.raises(IndexError):
        tokenizer.piece(len(WORDS) + 3)
    with refused(f"has {len(WORDS)} tokens, the model has a vector for {len(WORDS) - 1}"):
        read(tmp_path, rows=len(WORDS) - 1)


def test_symbols_may_have_other_names(tmp_path: Path) -> None:
    """In the tokenizer's settings, as a name or a record, or as a number in the model's."""
    vocabulary(tmp_path, cls_token="<s>", unk_token={"content": "un", "special": True})
    lines = (tmp_path / "vocab.txt").read_text().replace("[CLS]", "<s>")
    (tmp_path / "vocab.txt").write_text(lines)
    tokenizer = read(tmp_path)[0]
    assert (tokenizer.start, tokenizer.unknown) == (2, WORDS.index("un"))
    numbered = Symbols(start=("decoder_start_token_id", ""), end=("sep_token", "[SEP]"), unknown=("unk_token", ""))
    tokenizer = read(tmp_path, numbered, decoder_start_token_id=7)[0]
    assert (tokenizer.start, tokenizer.pad) == (7, tokenizer.end)
    with refused("the vocabulary has no number 777"):
        read(tmp_path, numbered, decoder_start_token_id=777)
    (tmp_path / "vocab.txt").write_text(lines.replace("[SEP]", "[END]"))
    with refused("the vocabulary has no [SEP]"):
        read(tmp_path)


def test_a_vocabulary_that_cannot_be_is_refused(tmp_path: Path) -> None:
    vocabulary(tmp_path, do_basic_tokenize=False)
    with refused("do_basic_tokenize = false is not supported"):
        read(tmp_path)
    vocabulary(tmp_path)
    (tmp_path / "vocab.txt").write_text("\n".join([*WORDS, "dog"]))
    with refused("1 tokens stand there twice"):
        read(tmp_path)
    (tmp_path / "vocab.txt").write_bytes(b"\xff\xfe\x00")
    with refused("vocab.txt is damaged"):
        read(tmp_path)
    (tmp_path / "vocab.txt").unlink()
    with refused("has no tokenizer: none of tokenizer.json, vocab.txt"):
        read(tmp_path)


@pytest.mark.parametrize("names", [("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe")])
def test_bytes_in_two_files_of_either_library(names: tuple[str, str], tmp_path: Path) -> None:
    backend = Backend(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet, show_progress=False
    )
    backend.train_from_iterator(CORPUS, trainer)
    tree = json.loads(backend.to_str())["model"]
    (tmp_path / names[0]).write_text(json.dumps(tree["vocab"]))
    lines = ["#version: 0.2", *(" ".join(pair) for pair in tree["merges"])]
    (tmp_path / names[1]).write_text("\n".join(lines) + "\n")
    tokenizer, text = read(tmp_path, GPT2, 300)
    for line in (*CORPUS[:2], *TEXTS, "<|endoftext|> 😊"):
        if "<|" not in line:
            assert tokenizer.encode(line) == backend.encode(line).ids
        assert tokenizer.decode(tokenizer.encode(line)) == line
        assert tokenizer.end not in tokenizer.encode(line)
    assert (text.kind, tokenizer.start, tokenizer.pad, tokenizer.unknown) == ("byte-bpe", 0, 0, -1)
    assert tokenizer.begun(tokenizer.encode("road")) == tokenizer.encode("road")
    assert tokenizer.begun([]) == [0]
    (tmp_path / names[1]).write_text("a b c\n")
    with refused("is damaged: 'a b c' is no pair"):
        read(tmp_path, GPT2, 300)
    (tmp_path / names[1]).write_text("zz yy\n")
    with refused("does not fit the vocabulary"):
        read(tmp_path, GPT2, 300)


def test_what_is_put_around_a_text_is_told_to_their_library(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    vocabulary(tmp_path)
    tokenizer = read(tmp_path)[0]
    start, ids, end = tokenizer.start, tokenizer.encode("the dog"), tokenizer.end
    for source, ends, wanted in (
        (False, True, [start, *ids, end]),
        (True, False, [*ids, end]),
        (False, False, [start, *ids]),
    ):
        folder = tmp_path / f"{source} {ends}"
        write_tokenizer(tokenizer, folder, source=source, ends=ends)
        theirs = AutoTokenizer.from_pretrained(folder)
        assert theirs("the dog")["input_ids"] == wanted
        assert (theirs.pad_token, theirs.mask_token, theirs.eos_token_id) == ("[PAD]", "[MASK]", end)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_goes_out_and_comes_back_has_the_same_kind_of_tokens(kind: str, tmp_path: Path) -> None:
    """And so refuses what it refused before: only whole words are copied."""
    tiny(tmp_path / "run", "transformer", text=kind, norm="post", tied="all")
    for to in ("hf", "ct2"):
        export_model(tmp_path / "run", tmp_path / to, to=to)
        back = import_model(tmp_path / to, tmp_path / f"{to}-back").recipe.text
        assert back.kind == kind
    if kind != "word":
        run = load(tmp_path / "ct2-back")
        with refused(f"text.kind is '{kind}'"):
            check_alignment(run.model, Decode(replace_unknown=True), run.recipe.text.kind)
