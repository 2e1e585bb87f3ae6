"""Recurrent systems learn: a state carries what was read, attention finds it again."""

import math
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from regard import decode
from regard.evaluate import evaluate
from tests.helpers import lines_file
from tests.learning.toys import trained, words

CHANCE = math.log(8)  # nats of one letter out of eight


def remembered(folder: Path, **system: Any) -> tuple[float, float]:
    """Nats per letter for the first half of `abc|abc`, which is chance, and for the second, which a state carries."""
    files = {}
    for split, count in (("train", 3000), ("test", 100)):
        lines = [f"{word}|{word}" for word in words(count, range(3, 4), split, "abcdefgh")]
        files[split] = lines_file(folder / f"{split}.txt", lines)
    run = trained(
        folder,
        "rnn-lm",
        {**files, "valid": files["test"], "document": "line"},
        system={"width": 64, "context": 16, **system},
        train={"steps": 300, "batch_tokens": 500, "rate": 1e-2},
    )
    lines = Path(files["test"]).read_text().splitlines()
    found = decode.score(run.model, run.tokenizer, [run.tokenizer.encode(line) for line in lines])
    return -mean(x for row in found for x in row[:3]), -mean(x for row in found for x in row[4:])


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_a_recurrent_language_model_carries_letters(tmp_path: Path, cell: str) -> None:
    first, second = remembered(tmp_path, cell=cell)
    assert second < 0.1
    assert first == pytest.approx(CHANCE, abs=0.05)  # what is chance stays chance: nothing leaks from the future


def spelt(folder: Path, kind: str, steps: int = 200, longest: int = 5, **system: Any) -> float:
    """The share of short words never seen that a small translator spells backwards without a mistake."""
    files = {}
    for split, count in (("train", 2000), ("test", 200)):
        pairs = [f"{word}\t{word[::-1]}" for word in words(count, range(2, longest + 1), split)]
        files[split] = lines_file(folder / f"{split}.tsv", pairs)
    run = trained(
        folder,
        kind,
        {**files, "valid": files["test"]},
        system={"width": 48, "context": 16, **system},
        objective={"smoothing": 0.0},
        train={"steps": steps, "batch_tokens": 300, "rate": 1e-2},
    )
    return evaluate([run])["exact_match"]


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
