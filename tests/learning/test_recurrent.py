"""Recurrent systems learn: a state carries what was read, attention finds it again."""

import math
from pathlib import Path

import pytest

from tests.learning.toys import copied, spelt

CHANCE = math.log(8)  # nats of one letter out of eight


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_a_recurrent_language_model_carries_letters(tmp_path: Path, cell: str) -> None:
    first, second = copied(tmp_path, "rnn-lm", range(3, 4), steps=400, width=64, context=16, cell=cell)
    assert second < 0.1
    assert first == pytest.approx(CHANCE, abs=0.05)  # what is chance stays chance: nothing leaks from the future


@pytest.mark.parametrize("enters", ["start", "every"])
def test_seq2seq_spells_backwards(tmp_path: Path, enters: str) -> None:
    """One vector holds the whole word."""
    assert spelt(tmp_path, "seq2seq", steps=600, longest=4, enters=enters, cell="gru", width=64) >= 0.9


@pytest.mark.parametrize("query", ["previous", "current"])
def test_seq2seq_with_attention_spells_backwards(tmp_path: Path, query: str) -> None:
    assert spelt(tmp_path, "seq2seq-attention", query=query, cell="gru") >= 0.9


def test_gnmt_spells_backwards(tmp_path: Path) -> None:
    """Four layers each way: two of them add to what they were given."""
    assert spelt(tmp_path, "gnmt", depth=4) >= 0.9


def test_deep_att_spells_backwards(tmp_path: Path) -> None:
    assert spelt(tmp_path, "deep-att", depth=3) >= 0.9


def test_a_translator_whose_source_says_nothing_cannot_spell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The threshold above is not reached by chance: all words of the source made alike."""
    from regard.systems.gnmt import ResidualRnn

    encode = ResidualRnn.encode
    monkeypatch.setattr(ResidualRnn, "encode", lambda self, source, present=None: encode(self, source * 0, present))
    assert spelt(tmp_path, "gnmt", depth=1) < 0.2
