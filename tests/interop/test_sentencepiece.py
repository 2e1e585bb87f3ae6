"""SentencePiece's models are cut as by SentencePiece itself, whatever blanks, symbols and bytes a text has."""

import io
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from transformers import XLMRobertaTokenizer

from regard.interop import tokens
from regard.interop.families import FAMILIES
from regard.interop.files.hugging_face import Folder
from regard.interop.tokens import Symbols
from regard.text import Text, Tokenizer
from regard.text.tokenizer import MASK
from tests.helpers import refused
from tests.interop.test_tokens import CORPUS

LINES = (
    *("the  road   is\ttoo wide", "Ünicode ﬁt", " roads ", "apple京", "A1a", "", " ", "   the", "the   "),
    *("\tThe road\n", "The \u00a0 road", "\u2581The \u2581 road", "The\u200b road", "The\u3000road ", "a\n\n b"),
    *("a foo b", "afoob", "foobar foo", " foo", "foo ", "<sep> The", "The <sep>road", "a <0x41> b", "<0xE4>", "é京b"),
)


def read(folder: Path, symbols: Symbols, rows: int, **config: Any) -> tuple[Tokenizer, Text]:
    return tokens.read(Folder(folder), symbols, config, rows)[:2]


def trained_pieces(kind: str, **more: Any) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_writer=model,
        model_type=kind,
        vocab_size=more.pop("vocab_size", 57),
        minloglevel=2,
        **more,
    )
    return model.getvalue()


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("unigram", {}),
        ("unigram", {"add_dummy_prefix": False, "remove_extra_whitespaces": False}),
        ("unigram", {"normalization_rule_name": "nfkc_cf"}),
        ("unigram", {"normalization_rule_name": "identity"}),
        ("unigram", {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}),
        ("unigram", {"byte_fallback": True, "vocab_size": 310}),
        ("unigram", {"user_defined_symbols": ["<sep>", "foo", "foobar"], "vocab_size": 61}),
        ("unigram", {"split_by_whitespace": False, "vocab_size": 50}),
        ("bpe", {}),
        ("bpe", {"normalization_rule_name": "identity"}),
        ("bpe", {"user_defined_symbols": ["<sep>", "foo"], "vocab_size": 61}),
        ("bpe", {"byte_fallback": True, "vocab_size": 330, "normalization_rule_name": "identity"}),
    ],
)
def test_pieces_are_cut_as_by_sentencepiece(kind: str, more: dict[str, Any], tmp_path: Path) -> None:
    content = trained_pieces(kind, **more)
    (tmp_path / "spiece.model").write_bytes(content)
    theirs = sentencepiece.SentencePieceProcessor(model_proto=content)
    tokenizer, text = read(tmp_path, Symbols(), len(theirs))
    assert (tokenizer.start, tokenizer.end, tokenizer.unknown) == (theirs.bos_id(), theirs.eos_id(), theirs.unk_id())
    assert text.kind == kind
    for line in (*CORPUS[:2], *LINES):
        assert tokenizer.encode(line) == theirs.encode(line), line
        if theirs.unk_id() not in theirs.encode(line):
            assert tokenizer.decode(tokenizer.encode(line)) == theirs.decode(theirs.encode(line)), line
    assert not {tokenizer.start, tokenizer.end} & set(tokenizer.encode("a</s>b <s>"))


def test_a_piece_that_is_unused_is_not_found(tmp_path: Path) -> None:
    theirs = sentencepiece.SentencePieceProcessor(model_proto=trained_pieces("unigram", vocab_size=60))
    piece = max(theirs.encode(CORPUS[0], out_type=str), key=len)
    content = marked(trained_pieces("unigram", vocab_size=60), piece, tokens.sentencepiece.UNUSED)
    (tmp_path / "spiece.model").write_bytes(content)
    theirs = sentencepiece.SentencePieceProcessor(model_proto=content)
    tokenizer = read(tmp_path, Symbols(), len(theirs))[0]
    number = theirs.piece_to_id(piece)
    for line in CORPUS[:4]:
        assert tokenizer.encode(line) == theirs.encode(line)
        assert number not in tokenizer.encode(line)
    assert tokenizer.decode([number]) == piece.replace("\u2581", "")


def marked(content: bytes, name: str, kind: int) -> bytes:
    """A model one of whose pieces is of another kind."""
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(content)
    next(piece for piece in model.pieces if piece.piece == name).type = kind
    return model.SerializeToString()


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_no_text_spells_a_symbol_or_a_byte(kind: str, tmp_path: Path) -> None:
    """Not even one that does not begin with "<", as BigBird's."""
    symbols = {"control_symbols": ["[CLS]", "[SEP]", "[MASK]"], "byte_fallback": True, "vocab_size": 318}
    (tmp_path / "spiece.model").write_bytes(content := trained_pieces(kind, **symbols))
    theirs = sentencepiece.SentencePieceProcessor(model_proto=content)
    tokenizer = read(tmp_path, FAMILIES["big_bird"].symbols, len(theirs), pad_token="<unk>")[0]
    spelt = {tokenizer.symbol(MASK), tokenizer.start, tokenizer.end, theirs.piece_to_id("<0x7E>"), theirs.bos_id()}
    for text in ("a [MASK] b", "[MASK]", "a[CLS]b[SEP]", "<0x7E>", "a<0x7E><s>", "[[MASK]]", "a<s>"):
        assert tokenizer.encode(text) == theirs.encode(text)
        assert not spelt & {*tokenizer.encode(text)}


def test_pieces_behind_four_symbols(tmp_path: Path) -> None:
    """As XLM-RoBERTa numbers them: its model begins with <unk>, <s>, </s>."""
    (tmp_path / "sentencepiece.bpe.model").write_bytes(content := trained_pieces("unigram"))
    pieces = sentencepiece.SentencePieceProcessor(model_proto=content)
    symbols, rows = FAMILIES["xlm-roberta"].symbols, len(pieces) + 2
    tokenizer, text = read(tmp_path, symbols, rows)
    theirs = XLMRobertaTokenizer.from_pretrained(str(tmp_path))
    assert len(tokenizer) == text.vocabulary == len(theirs) == rows
    assert (tokenizer.start, tokenizer.pad, tokenizer.end, tokenizer.unknown) == (0, 1, 2, 3)
    assert tokenizer.symbol(MASK) == theirs.mask_token_id == rows - 1
    for line in (*CORPUS[:3], "apple京", "a [MASK] b"):
        assert theirs(line)["input_ids"] == [0, *tokenizer.encode(line), 2]
        assert tokenizer.encode(line) == [{0: 3}.get(piece, piece + 1) for piece in pieces.encode(line)]
    (tmp_path / "sentencepiece.bpe.model").write_bytes(trained_pieces("unigram", unk_id=1, bos_id=0))
    with refused("and not <unk>, <s>, </s>: not supported"):
        read(tmp_path, symbols, rows)
