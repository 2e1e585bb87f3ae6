"""What stands beside a model of fairseq and in its file: dictionaries, codes, pieces, settings, traps."""

import math
from argparse import Namespace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch

from regard.checkpoint import load
from regard.interop import import_model
from regard.interop.tokens.fairseq import SYMBOLS
from tests.helpers import refused
from tests.interop.fairseq import ROWS, SIZES, WORDS, fsmt, names_of, written
from tests.interop.translators import ENGLISH, spm

CODES = ["t h", "th e</w>", "e n</w>", "r e", "re d</w>", "t i", "o o</w>", "c h", "ch i", "chi c", "chic k"]


def slowly(text: str, codes: list[str]) -> list[str]:
    """subword-nmt's own way: of all neighbours in a word the best pair is joined, wherever it stands."""
    ranks, found = {tuple(code.split()): rank for rank, code in enumerate(codes)}, []
    for word in text.split():
        pieces = [*word[:-1], word[-1] + "</w>"]
        while len(pieces) > 1:
            best = min(pairwise(pieces), key=lambda pair: ranks.get(pair, math.inf))
            if best not in ranks:
                break
            joined, at = [], 0
            while at < len(pieces):
                two = tuple(pieces[at : at + 2]) == best
                joined.append("".join(best) if two else pieces[at])
                at += 2 if two else 1
            pieces = joined
        found += [piece.removesuffix("</w>") if piece.endswith("</w>") else piece + "@@" for piece in pieces]
    return found


TEXTS = ["the chicken", "tired road", "the theft", "a red chick", "chi the", "x the redo", ""]


@pytest.mark.parametrize("made", ["#version: 0.2", "fastBPE"])
def test_words_are_cut_by_their_codes(made: str, tmp_path: Path) -> None:
    """What the codes join and the dictionary lacks ("chi@@") is unknown, as a character that is in neither."""
    path = written(tmp_path, names_of(fsmt(tied=False)))
    counted = [code if made.startswith("#") else f"{code} 13" for code in CODES]
    lines = [made, *counted] if made.startswith("#") else counted
    (tmp_path / "bpecodes").write_text("\n".join(lines) + "\n")
    import_model(path, tmp_path / "run")
    run = load(tmp_path / "run")
    numbers = {name: number for number, name in enumerate([*SYMBOLS, *WORDS])}
    for text in TEXTS:
        wanted = [numbers.get(piece, 3) for piece in slowly(text, CODES)]
        assert run.tokenizer.encode(text) == wanted
        assert run.tokenizer.encode_with_offsets(text).ids == wanted
    assert run.tokenizer.encode_batch(TEXTS) == [run.tokenizer.encode(text) for text in TEXTS]
    assert len(run.tokenizer) == ROWS == run.model.vocabulary
    assert run.tokenizer.decode(run.tokenizer.encode("the chicken tired")) == "the chicken tired"
    assert run.tokenizer.decode([numbers["the"], 3, numbers["a"]]) == "the <unk> a"


def test_without_codes_words_are_tokens(tmp_path: Path) -> None:
    import_model(written(tmp_path, names_of(fsmt(tied=False))), tmp_path / "run")
    tokenizer = load(tmp_path / "run").tokenizer
    assert tokenizer.encode("the chick@@ en flew") == [4, 5, 6, 3]
    assert tokenizer.decode([4, 7]) == "the road"
    assert (tokenizer.start, tokenizer.end, tokenizer.pad, tokenizer.unknown) == (2, 2, 1, 3)


def test_words_are_cut_by_pieces(tmp_path: Path) -> None:
    """Pieces of SentencePiece under the numbers of the dictionary."""
    (tmp_path / "there").mkdir()
    pieces = spm(tmp_path / "there" / "sentencepiece.bpe.model", ENGLISH, model_type="bpe")[3:]
    words = [*reversed(pieces)][: ROWS - 4]
    path = written(tmp_path / "there", names_of(fsmt(tied=False)), words)
    import_model(path, tmp_path / "run")
    tokenizer = load(tmp_path / "run").tokenizer
    cut = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "there" / "sentencepiece.bpe.model"))
    numbers = {name: number for number, name in enumerate([*SYMBOLS, *words])}
    for text in ("the chicken", "it was too tired", "eating an apple"):
        wanted = [numbers.get(piece, 3) for piece in cut.encode(text, out_type=str)]
        assert tokenizer.encode(text) == wanted
        assert 3 in wanted


def test_two_dictionaries_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, names_of(fsmt(tied=False)))
    (tmp_path / "dict.de.txt").write_text("die 3\n")
    with refused("dict.de.txt differ: a model with two dictionaries"):
        import_model(path, tmp_path / "run")
    for each in tmp_path.glob("dict.*.txt"):
        each.unlink()
    with refused("has no dictionary for model.pt"):
        import_model(path, tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("dict.en.txt", "the\n", "'the' is no token with its count"),
        ("dict.en.txt", "the 3\nthe 4\n", "'the' stands there twice"),
        ("bpecodes", "t h\nth e</w>\n", "'t h' is not a pair of subword-nmt 0.2"),
        ("bpecodes", "#version: 0.1\nt h\n", "'version: 0.1' is not supported"),
        ("bpecodes", "#version: 0.2\nt h e\n", "'t h e' is not a pair"),
    ],
)
def test_damaged_vocabularies_are_refused(name: str, text: str, words: str, tmp_path: Path) -> None:
    path = written(tmp_path, names_of(fsmt(tied=False)))
    (tmp_path / name).write_text(text)
    (tmp_path / "dict.de.txt").write_bytes((tmp_path / "dict.en.txt").read_bytes())
    with refused(words):
        import_model(path, tmp_path / "run")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"decoder_embed_dim": 8}, "decoder_embed_dim = 8 and the encoder has 14: not supported"),
        ({"decoder_normalize_before": True}, "decoder_normalize_before = True"),
        ({"adaptive_softmax_cutoff": [3]}, "adaptive_softmax_cutoff = [3] is not supported"),
        ({"activation_fn": "tanh"}, "activation_fn = 'tanh' is not supported; known: relu"),
        ({"encoder_layers": 10**9}, "depth = 1000000000"),
        ({"encoder_layers": "two"}, "'two' is not a whole number"),
    ],
)
def test_what_is_not_here_is_refused(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    path = written(tmp_path, names_of(fsmt(tied=False)), **changes)
    with refused(words):
        import_model(path, tmp_path / "run")


class Trap:
    """A pickle of it would run a command."""

    def __reduce__(self):
        return Path.touch, (Path("trapped"),)


def test_nothing_of_a_file_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, {})
    for content, words in (
        ({"args": Trap(), "model": {}}, "is damaged or holds more than tensors"),
        ({"args": Namespace(**SIZES), "model": {"a": 3}}, "has no tensors under 'model'"),
        ({"cfg": [], "model": {}}, "has no settings under 'args' or 'cfg'"),
        ({"args": Namespace(**SIZES), "model": {}}, "has no word vectors"),
        ([1, 2], "has no tensors under 'model'"),
    ):
        torch.save(content, path)
        with refused(words):
            import_model(path, tmp_path / "run")
    path.write_bytes(b"nothing")
    with refused("is damaged or holds more than tensors"):
        import_model(path, tmp_path / "run")
    assert not Path("trapped").exists()
