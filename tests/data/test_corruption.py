"""What corruption does to a large sample: rates, lengths, no overlap, nothing lost."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from regard.data import IGNORE
from regard.data.corruption import Masking, Spans, parted, pieces, restored, rounded

MASK, WORDS = 997, np.arange(10, 900)
SENTINELS = tuple(range(1000, 1050))


def sample(seed: int, texts: int = 2000, longest: int = 90) -> list[tuple[np.ndarray, np.random.Generator]]:
    chance = np.random.default_rng(seed)
    return [
        (chance.choice(WORDS, int(chance.integers(1, longest))), np.random.default_rng([seed, i])) for i in range(texts)
    ]


@pytest.mark.parametrize("share", [0.15, 0.4])
def test_masks_are_as_many_as_asked_and_hide_80_swap_10_keep_10(share: float) -> None:
    seen: Counter[str] = Counter()
    tokens = 0
    for ids, chance in sample(1):
        shown, targets = Masking(MASK, WORDS, share)(ids, chance)
        hidden = targets != IGNORE
        assert hidden.any() and np.array_equal(shown[~hidden], ids[~hidden])
        assert np.array_equal(np.where(hidden, targets, shown), ids), (
            "what is hidden is known, and nothing else changed"
        )
        tokens += len(ids)
        seen["mask"] += int((shown[hidden] == MASK).sum())
        seen["kept"] += int((shown[hidden] == ids[hidden]).sum())
        seen["all"] += int(hidden.sum())
    assert seen["all"] / tokens == pytest.approx(share, abs=0.012)  # at least one in the shortest texts
    assert seen["mask"] / seen["all"] == pytest.approx(0.8, abs=0.02)
    assert seen["kept"] / seen["all"] == pytest.approx(0.1, abs=0.015)


def test_every_place_and_every_other_word_has_its_turn() -> None:
    places, others = np.zeros(20), set()
    for i in range(3000):
        ids = np.full(20, 5)
        shown, targets = Masking(MASK, WORDS)(ids, np.random.default_rng(i))
        places += targets != IGNORE
        others |= set(shown.tolist()) - {MASK, 5}
    assert places.min() > 0.75 * places.mean() and places.max() < 1.25 * places.mean()
    assert others <= set(WORDS.tolist()) and len(others) > 400


def test_whole_words_are_hidden_whole() -> None:
    leads = np.arange(1000) % 3 == 0  # a word is a multiple of 3 and what follows it
    shares = []
    for ids, chance in sample(2, 800):
        _, targets = Masking(MASK, WORDS, 0.15, leads)(ids, chance)
        hidden, word = targets != IGNORE, np.cumsum(leads[ids])
        for name in np.unique(word):
            assert len(set(hidden[word == name].tolist())) == 1
        shares.append((hidden.sum(), len(ids)))
    hidden_all, all_tokens = map(sum, zip(*shares, strict=True))
    assert hidden_all / all_tokens == pytest.approx(0.15, abs=0.03)


@pytest.mark.parametrize(("share", "mean"), [(0.15, 3.0), (0.5, 2.0)])
def test_spans_are_as_many_and_as_long_as_asked_and_nothing_is_lost(share: float, mean: float) -> None:
    cut = runs = tokens = 0
    for ids, chance in sample(3):
        source, target = Spans(SENTINELS, share, mean)(ids, chance)
        assert restored(source.tolist(), target.tolist(), SENTINELS) == ids.tolist()
        own = [token for token in target.tolist() if token in SENTINELS]
        assert own == list(SENTINELS[: len(own)]) == [token for token in source.tolist() if token in SENTINELS]
        assert all(pieces(target.tolist(), SENTINELS).values()), "no run is empty"
        inside = source.tolist()
        assert not any(a in SENTINELS and b in SENTINELS for a, b in pairwise(inside)), "runs touch"
        cut, runs, tokens = cut + len(target) - len(own), runs + len(own), tokens + len(ids)
    assert cut / tokens == pytest.approx(share, abs=0.012)
    assert cut / runs == pytest.approx(mean, abs=0.15)


def test_a_run_may_stand_anywhere_from_the_first_token_to_the_last() -> None:
    begins = [Spans(SENTINELS)(np.arange(10, 17), np.random.default_rng(i))[0].tolist() for i in range(300)]
    assert {source.index(SENTINELS[0]) for source in begins} == set(range(7))


def test_no_more_runs_than_sentinels_and_one_token_is_cut_whole() -> None:
    source, target = Spans(SENTINELS[:2], 0.6, 1.0)(np.arange(10, 60), np.random.default_rng(0))
    assert sum(token in SENTINELS for token in source.tolist()) == 2
    assert restored(source.tolist(), target.tolist(), SENTINELS) == list(range(10, 60))
    source, target = Spans(SENTINELS)(np.array([7]), np.random.default_rng(0))
    assert (source.tolist(), target.tolist()) == ([1000], [1000, 7])


def test_what_a_model_writes_is_read_as_far_as_it_makes_sense() -> None:
    """Words before the first sentinel belong nowhere; of two alike the first counts; one that is missing is empty."""
    assert pieces([3, 1000, 4, 5, 1002, 1000, 6], SENTINELS) == {1000: [4, 5], 1002: []}
    assert restored([1, 1000, 2, 1001], [1000, 8, 9], SENTINELS) == [1, 8, 9, 2]


def test_numbers_are_rounded_rightly_on_average_and_parted_evenly() -> None:
    chance = np.random.default_rng(5)
    assert np.mean([rounded(2.3, chance) for _ in range(4000)]) == pytest.approx(2.3, abs=0.05)
    assert rounded(0.01, chance) == 1
    ways = Counter(tuple(parted(5, 3, chance)) for _ in range(6000))
    assert len(ways) == 6 and min(ways.values()) > 800
    assert all(sum(way) == 5 and min(way) >= 1 for way in ways)
