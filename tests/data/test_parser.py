"""The parser that is sealed into a run: it learns from words and heads, and raw text comes out as a tree."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from regard.data import parser as module
from regard.data.parser import Parser, attached, shape, train_parser
from regard.data.trees import grown
from regard.errors import WorldError
from tests.helpers import refused

NOUNS, VERBS, ENDS = ("dog", "cat", "cow", "hen"), ("sees", "likes", "hears"), (".", "!")


def sentences(count: int, seed: int) -> list[tuple[list[str], list[int]]]:
    """the (old) NOUN VERB the (old) NOUN END: an article and an adjective hang on their noun, the rest on the verb."""
    chance, found = random.Random(seed), []
    for _ in range(count):
        words: list[str] = []
        ties: list[tuple[int, int]] = []
        nouns = []
        for place in range(2):
            extra = ["the", *(["old"] if chance.random() < 0.5 else [])]
            noun = len(words) + len(extra) + 1
            ties += [(len(words) + i + 1, noun) for i in range(len(extra))]
            words += [*extra, chance.choice(NOUNS)]
            nouns.append(noun)
            if place == 0:
                words.append(chance.choice(VERBS))
                verb = len(words)
        words.append(chance.choice(ENDS))
        ties += [(noun, verb) for noun in nouns] + [(verb, 0), (len(words), verb)]
        found.append((words, [head for _, head in sorted(ties)]))
    return found


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Parser:
    path = tmp_path_factory.mktemp("parser") / "parser.udpipe"
    train_parser(sentences(150, seed=1), path, rounds=3)
    return Parser(path)


def test_it_learns_what_hangs_on_what(parser: Parser) -> None:
    unseen = sentences(40, seed=2)
    assert attached(parser, unseen) >= 0.97
    wrong = [(words, [0, *([1] * (len(words) - 1))]) for words, _ in unseen]
    assert attached(parser, wrong) < 0.3


def test_raw_text_becomes_a_sentence_with_a_tree(parser: Parser) -> None:
    found = parser("the old dog sees the cow.")
    assert found.words == ["the", "old", "dog", "sees", "the", "cow", "."]
    assert found.heads == (3, 3, 4, 0, 6, 4, 4)
    assert found.text == "the old dog sees the cow."


def test_whatever_it_is_given_it_makes_a_tree(parser: Parser) -> None:
    """One root and no circle, also of words that it never saw, of one word, and of gaps."""
    for text in ("x", "zebra 1,000 ?! zebra zebra zebra", "the ___ sees <mask> .", "dog dog dog dog dog dog dog"):
        found = parser(text)
        assert grown(found.heads).shape == (3, len(found.words))
    assert parser("").heads == () and parser(" ").words == []


def test_a_word_is_known_by_its_shape() -> None:
    assert [shape(word) for word in ("Road", "1,000", "IBM", "n't", "e-mail", "...")] == [
        *("Xx", "9,9", "X", "x'x", "x-x", "."),
    ]


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "parser.udpipe"
    path.write_bytes(b"no parser")
    with refused(f"{path} is damaged"):
        Parser(path).heads(["a"])


def test_what_udpipe_refuses_is_told(tmp_path: Path) -> None:
    with refused("UDPipe trains no parser from these trees"):
        train_parser([], tmp_path / "parser.udpipe", rounds=1)


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        ("kill -KILL $$", "the training of the parser ran out of memory, or was killed from outside: data.records"),
        ("echo MemoryError >&2; exit 1", "the training of the parser ran out of memory"),
        ("kill -TERM $$", "the training of the parser was ended by SIGTERM"),
        ("echo 'OSError: No space left on device' >&2; exit 1", "failed: OSError: No space left on device"),
    ],
)
def test_a_training_that_dies_is_no_mistake_in_the_trees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, message: str
) -> None:
    process = tmp_path / "python"
    process.write_text(f"#!/bin/sh\n{ending}\n")
    process.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(process))
    with refused(message, WorldError):
        train_parser(sentences(9, seed=1), tmp_path / "parser.udpipe", rounds=1)


def test_without_udpipe_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ufal.udpipe", None)
    with refused("a parser needs UDPipe: pip install 'regard[syntax]'"):
        module.udpipe()


def test_while_it_learns_nothing_is_printed(tmp_path: Path) -> None:
    script = (
        "from pathlib import Path; from regard.data.parser import train_parser; "
        f"train_parser([(['a', 'b'], [0, 1])] * 9, Path({str(tmp_path / 'p')!r}), rounds=1)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout == done.stderr == b""
