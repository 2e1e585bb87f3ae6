"""The same text gives the same tokenizer, whatever process it is trained in."""

import json
import os
import subprocess
import sys

import pytest

from regard.text import KINDS, Text, Tokenizer
from regard.text.unigram import settled

SCRIPT = """
import json
from itertools import islice
from regard.data import CORPORA
from regard.text import KINDS, Text, Tokenizer

pairs = list(islice(CORPORA["road"].make("train"), 300))
lines = [line for pair in pairs for line in pair]
sizes = {"bpe": 307, "byte-bpe": 401, "wordpiece": 311, "unigram": 307}
made = {kind: Tokenizer.train(lines, Text(kind=kind, vocabulary=sizes.get(kind, 0)), ("<mask>",)) for kind in KINDS}
print(json.dumps({kind: tokenizer.fingerprint for kind, tokenizer in made.items()}))
"""


@pytest.fixture(scope="module")
def fingerprints() -> list[dict[str, str]]:
    """Of every kind, in four processes."""
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, env={**os.environ, "PYTHONHASHSEED": str(seed)}
        )
        for seed in (1, 2, 3, 5)
    ]
    return [json.loads(run.communicate(timeout=120)[0]) for run in runs]


@pytest.mark.parametrize("kind", KINDS)
def test_a_tokenizer_is_the_same_in_every_process(kind: str, fingerprints: list[dict[str, str]]) -> None:
    assert len({found[kind] for found in fingerprints}) == 1


def test_letters_inside_words_are_numbered_in_order_and_no_special_symbols() -> None:
    tokenizer = Tokenizer.train(["dab bad cab bad\n", "#7 a7"], Text(kind="wordpiece"), ("<mask>",))
    inside = [tokenizer.piece(i) for i in range(5, 9)]
    assert inside == ["##7", "##a", "##b", "##d"]
    assert tokenizer.backend.get_added_tokens_decoder().keys() == set(range(5))
    assert [tokenizer.piece(i) for i in tokenizer.encode("##a ba")] == ["#", "#", "a", "b", "##a"]
    assert "ab" not in tokenizer.backend.get_vocab() and "##ab" in tokenizer.backend.get_vocab()


def test_a_text_need_not_end_its_lines_and_is_read_once() -> None:
    lines = ["a dog and a", "dog saw the cat\n", "", "the cat\nsaw dogs"]
    once = Tokenizer.train(iter(lines), Text(kind="wordpiece"))
    assert once.fingerprint == Tokenizer.train([line + "\n" for line in lines], Text(kind="wordpiece")).fingerprint
    assert "adog" not in once.backend.get_vocab()


def test_letters_without_a_place_share_the_lowest_value_and_others_are_rounded() -> None:
    found = [
        ("the", -1.23456),
        ("q", -9.0 + 2e-4),
        ("dog", -9.0),
        ("z", -9.0 + 1e-4),
        ("e", -8.5001),
        ("cat", -9.0 + 1e-4),
    ]
    assert settled(found) == [("the", -1.235), ("e", -8.5), ("cat", -9.0), ("dog", -9.0), ("q", -9.0), ("z", -9.0)]
    swapped = [("the", -1.23456 + 4e-11), ("z", -9.0 + 2e-4), ("dog", -9.0), ("q", -9.0 + 1e-4), *found[4:]]
    assert settled(swapped) == settled(found)
