"""ROUGE-L against the table of the longest common subsequence and against rouge_score."""

import random

import pytest
from rouge_score.rouge_scorer import RougeScorer

from regard.data.corpora import CORPORA
from regard.evaluate.rouge import common, f1, rouge_l, words

WRITTEN = [  # as people write them, with what makes scorers differ: hyphens, digits, apostrophes, brackets, many lines
    "We propose a memory-efficient model (FearNet) for incremental learning; it doesn't store any examples.",
    "We proposed memory efficient models for incremental class-learning that store no example.",
    "State-of-the-art F1: 93.2% on 1,500 documents, at 2x the speed.\nCode is available.",
    "On 1500 documents it reaches an F1 of 93.2 %, which is state of the art, and it's 2 x faster!",
    "U.S. shares fell 3.5 percent on Monday - the worst day since 2008.",
    "Shares in the US falling on Mondays: worst days since 2008?",
    "...",
    "",
]


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


def test_of_other_letters_than_ascii_rouge_score_makes_gaps() -> None:
    """As the page about evaluation says: there they part words, here they belong to them."""
    reference = RougeScorer(["rougeL"], use_stemmer=False)
    for one, other, theirs, ours in (("müde", "möde", 100, 0), ("дом", "дом", 0, 100)):
        assert 100 * reference.score(target=other, prediction=one)["rougeL"].fmeasure == pytest.approx(theirs)
        assert rouge_l([one], [other]) == ours


def test_it_equals_rouge_score_on_what_people_write() -> None:
    """Every line against every other; stemming, which we leave out, would make some of them more alike."""
    plain, stemmed = (RougeScorer(["rougeL"], use_stemmer=stems) for stems in (False, True))
    more = 0
    for one in WRITTEN:
        for other in WRITTEN:
            expected, cut = (each.score(target=other, prediction=one)["rougeL"].fmeasure for each in (plain, stemmed))
            assert rouge_l([one], [other]) == pytest.approx(100 * expected)
            more += cut > expected
    assert more >= 4


def test_it_equals_rouge_score_on_documents_and_their_summaries() -> None:
    reference = RougeScorer(["rougeL"], use_stemmer=False)
    records = list(CORPORA["articles"].make("test"))[:41]
    summaries = [summary for _, summary in records]
    others = [*summaries[1:], summaries[0]]
    for written in (others, [text for text, _ in records], summaries):
        expected = [reference.score(b, a)["rougeL"].fmeasure for a, b in zip(written, summaries, strict=True)]
        assert rouge_l(written, summaries) == pytest.approx(100 * sum(expected) / len(expected))


def test_of_several_references_the_best_counts() -> None:
    reference = RougeScorer(["rougeL"], use_stemmer=False)
    for one in WRITTEN:
        expected = reference.score_multi(WRITTEN[1::2], one)["rougeL"].fmeasure
        assert rouge_l([one], [WRITTEN[1::2]]) == pytest.approx(100 * expected)
    assert rouge_l(["a b", "c"], [["c", "a b"], "c"]) == 100
    assert rouge_l(["a"], [[]]) == 0
