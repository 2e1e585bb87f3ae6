"""Neighbours, analogies and similarity, over vectors whose answers are known, and ranks against a slow formula."""

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.evaluate.words import Words, ranks, spearman
from tests.helpers import lines_file, refused

# Sex along one axis, rank along another, and a third of their own.
TABLE = {
    "man": [1.0, 0.0, 0.1, 0.0],
    "woman": [-1.0, 0.0, 0.1, 0.0],
    "king": [1.0, 1.5, 0.0, 0.1],
    "queen": [-1.0, 1.5, 0.0, 0.1],
    "Rome": [0.0, 0.0, 0.3, 2.0],
    "dog": [0.1, 0.0, 5.0, 0.1],
}


def words() -> Words:
    return Words(torch.tensor(list(TABLE.values())), list(TABLE))


def slow_ranks(values: list[float]) -> list[float]:
    """One more than how many are smaller, and half of how many others are equal."""
    return [1 + sum(v < x for v in values) + (sum(v == x for v in values) - 1) / 2 for x in values]


def slow_spearman(one: list[float], other: list[float]) -> float:
    """The covariance of the ranks over their spreads."""
    a, b, n = slow_ranks(one), slow_ranks(other), len(one)
    mean = (n + 1) / 2
    covariance = sum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True))
    return covariance / math.sqrt(sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b))


@pytest.mark.parametrize("kinds", [2, 7, 10_000])
def test_spearman_is_that_of_the_slow_formula_with_any_number_of_ties(kinds: int) -> None:
    chance = random.Random(kinds)
    for size in (3, 5, 53):
        one, other = ([float(chance.randrange(kinds)) for _ in range(size)] + [0.0, kinds] for _ in range(2))
        assert ranks(np.array(one)).tolist() == slow_ranks(one)
        assert spearman(np.array(one), np.array(other)) == pytest.approx(slow_spearman(one, other))


def test_without_ties_spearman_is_that_of_the_differences() -> None:
    """1 - 6 sum d^2 / (n (n^2 - 1))."""
    one, other = np.array([3.0, 1, 4, 15, 9, 2, 6]), np.array([2.0, 7, 1, 8, 28, 18, 4])
    d = np.array(slow_ranks(one.tolist())) - slow_ranks(other.tolist())
    assert spearman(one, other) == pytest.approx(1 - 6 * (d @ d) / (7 * 48))
    assert spearman(one, one**3) == pytest.approx(1) and spearman(one, -one) == pytest.approx(-1)
    assert spearman(one, np.ones(7)) == 0


def test_neighbours_are_those_of_the_smallest_angle() -> None:
    """The length of a vector does not count, and a word is not its own neighbour."""
    found = words().neighbours("king", 3)
    assert [word for word, _ in found] == ["man", "queen", "Rome"]
    one, other = torch.tensor(TABLE["king"]), torch.tensor(TABLE["man"])
    assert found[0][1] == pytest.approx(float(torch.nn.functional.cosine_similarity(one, other, dim=0)))
    assert len(words().neighbours("king", 99)) == 5


def test_an_analogy_leaves_its_three_words_out() -> None:
    assert words().analogy("man", "king", "woman")[0][0] == "queen"
    assert words().analogy("king", "man", "queen")[0][0] == "woman"
    found = [word for word, _ in words().analogy("man", "woman", "dog", 9)]
    assert sorted(found) == sorted(set(TABLE) - {"man", "woman", "dog"})


def test_every_vector_counts_alike_in_an_analogy() -> None:
    """3CosAdd takes vectors of length 1: what is written larger pulls no harder."""
    larger = {word: [x * (50 if word == "man" else 1) for x in vector] for word, vector in TABLE.items()}
    table = Words(torch.tensor(list(larger.values())), list(larger))
    assert table.analogy("man", "king", "woman", 3) == [
        (word, pytest.approx(value, abs=1e-5)) for word, value in words().analogy("man", "king", "woman", 3)
    ]


def test_a_word_is_found_as_written_then_in_small_letters() -> None:
    assert words().find("Rome") == 4 and words().find("KING") == 2
    assert words().find("rome") is None
    pieces = Words(torch.eye(4), ["king", "▁king", "▁queen", "Ġrook"])
    assert [pieces.find(word) for word in ("king", "Queen", "rook", "pawn")] == [1, 2, 3, None]
    with refused("no vector for 'quen'; did you mean 'queen'?"):
        words().neighbours("quen")
    with refused("no vector for 'xyzzy'"):
        words().analogy("king", "xyzzy", "man")


def test_similarity_reads_pairs_and_says_how_many_are_known(tmp_path: Path) -> None:
    rows = ["# Pairs", "# one\tother\tmean", "king\tqueen\t8.5", "King\tdog\t1.0", "man\tking\t9", "", "king\tcat\t7"]
    found = words().similarity(lines_file(tmp_path / "pairs.tsv", rows))
    assert found == {"spearman": pytest.approx(1.0), "pairs": 4, "covered": 3}
    rows[2] = "king\tqueen\t0.5"
    assert words().similarity(lines_file(tmp_path / "pairs.tsv", rows))["spearman"] == pytest.approx(0.5)


def test_analogies_are_counted_by_section(tmp_path: Path) -> None:
    rows = [": family", "man king woman queen", "King man queen woman", "man king woman dog", ": cities"]
    rows += ["man Rome woman Paris", "man woman king queen", "man woman king Rome"]
    found = words().analogies(lines_file(tmp_path / "questions.txt", rows))
    sections: dict[str, dict[str, Any]] = found.pop("sections")
    assert sections["family"] == {"accuracy": pytest.approx(2 / 3), "right": 2, "covered": 3, "questions": 3}
    assert sections["cities"] == {"accuracy": 0.5, "right": 1, "covered": 2, "questions": 3}
    assert found == {"accuracy": pytest.approx(3 / 5), "right": 3, "covered": 5, "questions": 6}


def test_analogies_together_are_those_asked_one_by_one(tmp_path: Path) -> None:
    chance, names = random.Random(3), [f"w{i}" for i in range(41)]
    table = Words(torch.randn(41, 3), names)
    rows = [" ".join(chance.choices(names, k=4)) for _ in range(601)]
    found = table.analogies(lines_file(tmp_path / "questions.txt", rows))
    alone = sum(table.analogy(*row.split()[:3])[0][0] == row.split()[3] for row in rows)
    assert found["right"] == alone > 3
    assert found["covered"] == 601


@pytest.mark.parametrize(
    ("read", "line", "message"),
    [
        ("similarity", "king queen 3", "line 2: expected word, word and score, with tabs between"),
        ("similarity", "king\tqueen\tmuch", "line 2: expected word, word and score, with tabs between"),
        ("similarity", "king\tqueen\tnan", "line 2: the score nan has no place in an order"),
        ("analogies", "man king woman", "line 2: 3 words, an analogy has four"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, read: str, line: str, message: str) -> None:
    with refused(message):
        getattr(words(), read)(lines_file(tmp_path / "file.txt", ["# first" if read == "similarity" else ": a", line]))


def test_what_cannot_be_measured_is_refused(tmp_path: Path) -> None:
    with refused("1 of 2 pairs are known: nothing to put in order"):
        words().similarity(lines_file(tmp_path / "pairs.tsv", ["king\tqueen\t1", "cat\tdog\t2"]))
    with refused("of 2 questions none has four words that are known"):
        words().analogies(lines_file(tmp_path / "questions.txt", [": a", "man king woman cat", "a b c d"]))
    with refused("no such file"):
        words().analogies(tmp_path / "missing.txt")
    with pytest.raises(ValueError, match="6 vectors for 1 words"):
        Words(words().vectors, ["one"])
