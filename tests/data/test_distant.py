"""`distant`: a digit that stands first is the answer, whatever stands after it."""

from collections import Counter

import pytest

from regard.data.corpora import built_in
from regard.data.corpora.corpus import SPLITS


@pytest.mark.parametrize("name", ["distant", "distant:300"])
def test_the_answer_is_the_only_digit_and_no_long_text_stands_in_two_splits(name):
    corpus = built_in(name)
    assert corpus is not None
    made = {split: list(corpus.make(split)) for split in SPLITS}
    assert {split: len(records) for split, records in made.items()} == {"train": 6_000, "valid": 200, "test": 400}
    for records in made.values():
        assert all(
            [word for word in text.split() if word.isdigit()] == [text[0]] == [answer] for text, answer in records
        )
        # about a tenth each; a few short texts stand in a small split many times
        assert min(Counter(answer for _, answer in records).values()) > 0.03 * len(records)
    train, valid, test = ({text for text, _ in made[split]} for split in SPLITS)
    assert not train & valid and not train & test and not valid & test
    assert made["test"] == list(corpus.make("test"))


def test_a_length_counts_letters():
    for name, wanted in (("distant:13", {13}), ("distant:5-7", {5, 6, 7})):
        assert {len(text.split()) - 1 for text, _ in built_in(name).make("test")} == wanted  # type: ignore[union-attr]
