"""`reviews`: two sentences of one opinion, and nothing that `moods` holds out."""

import pytest

from regard.data.corpora import CORPORA
from regard.data.corpora.corpus import SPLITS
from regard.data.corpora.mood_words import BLAME, LIKING, LOATHING, PRAISE
from regard.data.corpora.reviews import SIZES
from tests.data.test_moods import MOODS, meant, pairs_in
from tests.data.test_stories import words

REVIEWS = {split: list(CORPORA["reviews"].make(split)) for split in SPLITS}
EVERY = [review for records in REVIEWS.values() for review in records]
GOOD = {*PRAISE, *(verb.past for verb in LIKING)}
BAD = {*BLAME, *(verb.past for verb in LOATHING)}


@pytest.mark.parametrize("split", SPLITS)
def test_sizes(split: str) -> None:
    assert len(REVIEWS[split]) == len(set(REVIEWS[split])) == SIZES[split]
    assert REVIEWS["valid"] == list(CORPORA["reviews"].make("valid"))


def test_no_first_sentence_stands_in_two_splits() -> None:
    train, valid, test = ({" ".join(words(first)) for first, _ in REVIEWS[split]} for split in SPLITS)
    assert not train & test and not train & valid and not valid & test


def test_the_second_sentence_means_what_a_slow_reader_finds_in_the_first() -> None:
    for first, second in EVERY:
        said = set(words(second))
        assert bool(said & GOOD) is meant(first) and bool(said & BAD) is not meant(first), (first, second)
    assert abs(sum(meant(first) for first, _ in EVERY) / len(EVERY) - 0.5) < 0.02


def test_no_held_out_pair_of_moods_is_seen() -> None:
    held_out = pairs_in(MOODS["valid"] + MOODS["test"])
    assert not pairs_in(EVERY) & held_out
    assert ("movie", "great") in held_out
