"""ROUGE-L against the table of the longest common subsequence and, where it is installed, against rouge_score."""

import random

import pytest
from rouge_score.rouge_scorer import RougeScorer

from regard.evaluate.rouge import common, f1, rouge_l, words


def slow_common(one: list[str], other: list[str]) -> int:
    """The table from its recurrence."""
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


def texts(chance: random.Random, count: int) -> list[str]:
    return [
        " ".join(chance.choices(["a", "b", "c", "The", "road,", "was", "too-wide.", "x1"], k=chance.randint(0, 23)))
        for _ in range(count)
    ]


def test_the_common_subsequence_is_that_of_the_table() -> None:
    chance = random.Random(5)
    for one, other in zip(texts(chance, 211), texts(chance, 211), strict=True):
        assert common(one.split(), other.split()) == slow_common(one.split(), other.split())


def test_a_case_worked_out_by_hand() -> None:
    """police killed the gunman / the gunman police killed: two words of four in order, so P = R = 1/2 (Lin, 2004)."""
    assert f1(["the", "gunman", "police", "killed"], ["police", "killed", "the", "gunman"]) == 0.5
    assert rouge_l(["police kill the gunman", "x"], ["Police killed the gunman.", "y"]) == pytest.approx(100 * 0.75 / 2)


def test_words_are_letters_and_digits_of_any_script() -> None:
    assert words("Über die Straße, 3-mal!") == ["über", "die", "straße", "3", "mal"]
    assert rouge_l(["straße"], ["straüe"]) == 0
    assert rouge_l([""], [""]) == 0


def test_it_equals_rouge_score() -> None:
    reference = RougeScorer(["rougeL"], use_stemmer=False)
    chance = random.Random(7)
    for one, other in zip(texts(chance, 97), texts(chance, 97), strict=True):
        expected = reference.score(target=other, prediction=one)["rougeL"].fmeasure
        assert rouge_l([one], [other]) == pytest.approx(100 * expected)
