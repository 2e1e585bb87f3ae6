"""The paired bootstrap and the scores by length."""

import random

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from regard.lab.bootstrap import (
    BLEU_SCORE,
    EXACT,
    LOSS,
    against,
    bleu_statistics,
    buckets,
    by_length,
    draw,
    statistics,
)

WORDS = ["the", "road", "was", "too", "wide", ",", "tired", "because"]


def sentences(seed: int, count: int = 61) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, 19))) for _ in range(count)]


def spoilt(texts: list[str], share: float, seed: int = 3) -> list[str]:
    chance = random.Random(seed)
    return [" ".join("x" if chance.random() < share else word for word in text.split()) for text in texts]


def test_bleu_from_the_sums_is_sacrebleus() -> None:
    references = sentences(5)
    for hypotheses in (spoilt(references, 0.3), sentences(7), [""] * 61):
        numbers = bleu_statistics(hypotheses, references)
        assert BLEU_SCORE.of(numbers.sum(0)) == pytest.approx(BLEU().corpus_score(hypotheses, [references]).score)


def test_a_member_is_not_told_apart_from_itself() -> None:
    numbers = bleu_statistics(spoilt(sentences(5), 0.3), sentences(5))
    found = draw([numbers], BLEU_SCORE, draws=101)
    assert found.draws.std() > 0, "draws differ"
    assert against(found, draw([numbers], BLEU_SCORE, draws=101), BLEU_SCORE) == {
        "worse_by": 0.0,
        "low": 0.0,
        "high": 0.0,
        "p": 1.0,
    }


@pytest.mark.parametrize(("share", "least", "most"), [(0.5, 0, 0.01), (0.3, 0.02, 0.98)])
def test_the_p_value_falls_with_the_distance(share: float, least: float, most: float) -> None:
    references = sentences(5)
    best, other = (bleu_statistics(spoilt(references, *how), references) for how in ((0.3, 3), (share, 5)))
    found = against(draw([best], BLEU_SCORE, draws=301), draw([other], BLEU_SCORE, draws=301), BLEU_SCORE)
    assert least <= found["p"] <= most
    assert found["low"] <= found["worse_by"] <= found["high"]
    assert found["worse_by"] == BLEU_SCORE.of(best.sum(0)) - BLEU_SCORE.of(other.sum(0)), "as observed"


def losses(nats: float) -> np.ndarray:
    """53 texts of different length in which every token costs the same."""
    tokens = np.arange(1, 54)
    return np.stack([tokens * nats, tokens], axis=1)


def test_of_losses_the_lower_is_better_and_seeds_are_averaged() -> None:
    mixed = draw([losses(2.5), losses(3.5)], LOSS, draws=17)
    assert mixed.observed == pytest.approx(3)
    found = against(draw([losses(2)], LOSS, draws=17), mixed, LOSS)
    assert found["worse_by"] == pytest.approx(1) and found["p"] == pytest.approx(1 / 18)


def test_seeds_are_drawn_too_and_each_members_on_their_own() -> None:
    """Examples decide nothing here: all that differs from draw to draw is which seeds were taken."""
    one, other = (draw([losses(2), losses(4)], LOSS, member=i, draws=401) for i in (0, 1))
    values, counts = np.unique(one.draws.round(6), return_counts=True)
    assert values.tolist() == [2, 3, 4] and counts / 401 == pytest.approx([0.25, 0.5, 0.25], abs=0.08)
    assert 0.15 < (one.draws == other.draws).mean() < 0.6, "not the same seeds in both"
    found = against(one, other, LOSS)
    assert (found["worse_by"], found["low"], found["high"]) == (0, -2, 2) and 0.5 < found["p"] < 0.8


def test_what_was_kept_says_which_score_counts() -> None:
    score, numbers = statistics(
        {"hypothesis": ["good", "bad", "bad"], "reference": ["good", "good", "bad"]}
    ) or pytest.fail("nothing found")
    assert score.name == "accuracy" and score.of(numbers.sum(0)) == pytest.approx(2 / 3)
    assert statistics({"nats": [(3.0, 2)]})[0] is LOSS  # type: ignore[index]
    assert statistics({"else": []}) is None


def test_where_no_reference_has_four_words_translations_are_right_or_wrong() -> None:
    """Longer outputs do not help: their n-grams count in BLEU's smoothing alone."""
    examples = {"source": ["a", "b", "c"], "hypothesis": [" 3", "3 3 3 3 3", "4 5 6"], "reference": ["3", "3", "4 5 6"]}
    score, numbers = statistics(examples) or pytest.fail("nothing found")
    assert score is EXACT and score.of(numbers.sum(0)) == pytest.approx(2 / 3)
    assert statistics({**examples, "reference": ["3", "3", "4 5 6."]})[0] is BLEU_SCORE, "four tokens"  # type: ignore[index]
    (bucket,) = by_length(examples["source"], [numbers], score)
    assert bucket["exact_match"] == pytest.approx([2 / 3])


@pytest.mark.parametrize("seed", range(7))
def test_buckets_hold_every_length_once_and_enough_of_them(seed: int) -> None:
    chance = random.Random(seed)
    lengths = [chance.randint(1, chance.choice([3, 40])) for _ in range(chance.randint(1, 307))]
    found = buckets(lengths)
    assert 1 <= len(found) <= 5
    assert [sum(first <= n <= last for first, last in found) for n in lengths] == [1] * len(lengths)
    assert found[0][0] == min(lengths) and found[-1][1] == max(lengths)


def test_short_and_long_sources_are_scored_apart() -> None:
    short, long = ["a b c d e"] * 31, ["a b c d e f g h"] * 37
    numbers = bleu_statistics([*short, *["x y z q"] * 37], [*short, *long])
    first, second = by_length([*short, *long], [numbers, numbers], BLEU_SCORE)
    assert (first["from"], first["texts"], second["to"], second["texts"]) == (5, 31, 8, 37)
    assert first["bleu"] == pytest.approx([100, 100]) and second["bleu"] == [0, 0]
