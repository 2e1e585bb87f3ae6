"""`senses`: sentences in which another word, seldom a neighbour, tells what a word means."""

import re
from collections import Counter, defaultdict

import pytest

from regard.data.corpora import CORPORA
from regard.data.corpora.corpus import SPLITS
from regard.data.corpora.sense_words import WORDS
from regard.data.corpora.senses import SIZES
from regard.data.corpora.story_words import ANIMALS, HURDLES, NEEDS

SENSES = {split: list(CORPORA["senses"].make(split)) for split in SPLITS}
CUES = {word.word: {cue: sense for sense, cues in word.senses.items() for cue in cues} for word in WORDS}
CUES["it"] = {need[0]: "animal" for need in NEEDS} | {trait[0]: "place" for h in HURDLES for trait in h.traits}


def words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.lower())


def pair_in(text: str, label: str) -> tuple[str, str]:
    """What is said and what tells; for "it" the animal and the place."""
    spoken, word = words(text), label.split("/")[0]
    if word == "it":
        (animal,) = set(ANIMALS) & set(spoken)
        (place,) = {thing for hurdle in HURDLES for thing in hurdle.things} & set(spoken)
        return animal, place
    (cue,) = set(CUES[word]) & set(spoken)
    (said,) = (
        said
        for said in next(each.said for each in WORDS if each.word == word)
        if re.search(re.sub(r"\{\w+\}", r"[\\w ]+", said), text, re.IGNORECASE)
    )
    return said, cue


def test_a_dozen_words_of_two_senses_or_more_that_are_told_by_other_words() -> None:
    assert len(WORDS) == 12
    for word in WORDS:
        assert len(word.senses) >= 2
        cues = [cue for told in word.senses.values() for cue in told]
        assert len(cues) == len(set(cues)), f"a word tells two senses of {word.word}"
        assert word.word not in cues
        assert all(re.search(rf"\b{word.word}\b", said) for said in word.said)


@pytest.mark.parametrize("split", SPLITS)
def test_sizes_and_labels(split: str) -> None:
    texts = [text for text, _ in SENSES[split]]
    assert len(texts) == len(set(texts)) == SIZES[split]
    found = Counter(label for _, label in SENSES[split])
    assert set(found) == {f"{word}/{sense}" for word, cues in CUES.items() for sense in cues.values()}
    assert max(found.values()) - min(found.values()) <= 2


@pytest.mark.parametrize("split", SPLITS)
def test_the_word_that_tells_is_there_and_is_the_only_one(split: str) -> None:
    for text, label in SENSES[split]:
        word, sense = label.split("/")
        spoken = words(text)
        assert spoken.count(word) == 1
        assert {CUES[word][cue] for cue in set(CUES[word]) & set(spoken)} == {sense}, text
    lengths = Counter(len(words(text)) for text, _ in SENSES[split])
    assert sum(count for length, count in lengths.items() if 8 <= length <= 15) > 0.85 * SIZES[split]


def test_the_lecture_s_it_opens_the_test() -> None:
    assert SENSES["test"][:2] == [
        ("The chicken didn't cross the road because it was too tired.", "it/animal"),
        ("The chicken didn't cross the road because it was too wide.", "it/place"),
    ]


def test_no_pair_stands_in_two_splits_and_every_word_stands_in_training() -> None:
    train, valid, test = ({pair_in(*record) for record in SENSES[split]} for split in SPLITS)
    assert not train & test and not train & valid and not valid & test
    assert len(test) > 150
    assert ("chicken", "road") in test
    known = {word for text, _ in SENSES["train"] for word in words(text)}
    assert {word for split in ("valid", "test") for text, _ in SENSES[split] for word in words(text)} <= known


def test_neither_the_word_nor_its_neighbours_suffice() -> None:
    """The commonest sense of a word, or of a word between its two neighbours, is right for half at most."""
    alone: defaultdict[str, Counter[str]] = defaultdict(Counter)
    between: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)

    def near(text: str, label: str) -> tuple[str, tuple[str, ...]]:
        word, spoken = label.split("/")[0], ["", *words(text), ""]
        place = spoken.index(word)
        return word, tuple(spoken[place - 1 : place + 2])

    for text, label in SENSES["train"]:
        word, around = near(text, label)
        alone[word][label] += 1
        between[around][label] += 1
    right = Counter()
    for text, label in SENSES["test"]:
        word, around = near(text, label)
        commonest = alone[word].most_common(1)[0][0]
        right["alone"] += commonest == label
        right["between"] += (between[around].most_common(1)[0][0] if between[around] else commonest) == label
    assert right["alone"] < 0.55 * SIZES["test"]
    assert right["between"] < 0.55 * SIZES["test"]


def test_always_the_same() -> None:
    assert SENSES["valid"] == list(CORPORA["senses"].make("valid"))
