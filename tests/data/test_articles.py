"""`articles`: summaries as a slow reader writes them, deeds all over a document, pairs held out, any length."""

import re
from collections import Counter

import pytest

from regard.data.corpora import CORPORA, built_in
from regard.data.corpora.article_words import EVENTS, PEOPLE, TOWNS
from regard.data.corpora.articles import FEWEST, MOST, pairs
from regard.data.corpora.corpus import SPLITS
from regard.data.sources import Record
from tests.helpers import refused

MADE = {split: list(CORPORA["articles"].make(split)) for split in SPLITS}
NAMES = {person.name: person for person in PEOPLE}


def pattern(template: str) -> re.Pattern[str]:
    """A template that finds what it was filled with."""
    parts = re.split(r"({\w+})", template)
    return re.compile("".join(f"(?P<{p[1:-1]}>\\w+)" if p.startswith("{") else re.escape(p) for p in parts))


TOLD = [(event, pattern(told)) for event in EVENTS for told in event.told]


def deeds(document: str) -> list[tuple[int, int, str, str, str]]:
    """Every deed that is told: in which sentence, which it is, and who, what and where."""
    return [
        (place, EVENTS.index(event), found["who"], found["what"], found["where"])
        for place, sentence in enumerate(document.removesuffix(".").split(". "))
        for event, told in TOLD
        if (found := told.fullmatch(sentence))
    ]


def summed_up(document: str) -> str:
    """The deeds of the one whose name stands in the first sentence, in the order of `EVENTS`."""
    who = re.findall(r"\w+", document.split(".")[0])[-1]
    mine = sorted(each[1:] for each in deeds(document) if each[2] == who)
    told = [EVENTS[number].summed.format(what=what, where=where) for number, _, what, where in mine]
    names = [who, *[NAMES[who].he.capitalize()] * (len(told) - 1)]
    return " ".join(f"{name} {deed}." for name, deed in zip(names, told, strict=True))


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize("split", SPLITS)
def test_summaries_are_what_a_slow_reader_writes(split: str) -> None:
    assert [text for text, summary in MADE[split] if summed_up(text) != summary] == []


def test_each_deed_stands_in_its_own_part_of_the_document() -> None:
    """Of n deeds the i-th stands in the i-th of n equal parts of all else but the opening, and anywhere in it."""
    within: list[float] = []
    for text, summary in built_made("articles:600", "valid"):
        who, sentences = summary.split()[0], text.count(".")
        places = [place for place, _, name, _, _ in deeds(text) if name == who]
        assert FEWEST <= len(places) <= MOST
        part = (sentences - 1 - len(places)) / len(places)
        for i, place in enumerate(places):
            before = place - 1 - i - i * part  # how much of its part is told before it
            assert 0 <= before < part + 1
            within.append(before / part)
    assert min(within) < 0.05 and max(within) > 0.95
    assert sum(within) / len(within) == pytest.approx(0.5, abs=0.03)


def built_made(name: str, split: str) -> list[Record]:
    corpus = built_in(name)
    assert corpus is not None
    return list(corpus.make(split))


def test_what_others_did_is_told_too() -> None:
    strays = [
        sum(name != summary.split()[0] for _, _, name, _, _ in deeds(text)) for text, summary in MADE["train"][:400]
    ]
    assert Counter(strays)[0] < 200, "short documents have no room for them"
    assert set(strays) == set(range(MOST + 1))


def test_a_pair_of_a_thing_and_a_town_belongs_to_one_split() -> None:
    for event in EVENTS:
        mine = {split: set(pairs(split, event)) for split in SPLITS}
        assert all(mine.values())
        assert sum(map(len, mine.values())) == len(set.union(*mine.values())) == len(event.things) * len(TOWNS)
    seen = {
        split: {(number, what, where) for text, _ in records for _, number, _, what, where in deeds(text)}
        for split, records in MADE.items()
    }
    assert not seen["train"] & (seen["valid"] | seen["test"]) and not seen["valid"] & seen["test"]
    assert len(seen["train"]) > 0.8 * len(EVENTS) * 6 * len(TOWNS)


def test_every_word_of_the_test_is_known_from_training() -> None:
    known = set(re.findall(r"\w+", " ".join(text for record in MADE["train"] for text in record)))
    assert set(re.findall(r"\w+", " ".join(text for record in MADE["test"] for text in record))) <= known


@pytest.mark.parametrize(("name", "least", "most"), [("articles", 30, 600), ("articles:300-900", 300, 900)])
def test_lengths_are_as_asked_for(name: str, least: int, most: int) -> None:
    lengths = [words(text) for text, _ in built_made(name, "valid")]
    assert max(lengths) <= most
    assert min(lengths) >= least - 20, "a document is filled up while another sentence fits"
    assert max(lengths) > 0.8 * most


def test_half_of_the_words_stand_in_documents_below_the_middle_length() -> None:
    """As many in those of 30 to 134 words as in those of 134 to 600."""
    lengths = [words(text) for text, _ in MADE["train"]]
    below = sum(length for length in lengths if length**2 <= 30 * 600)
    assert below / sum(lengths) == pytest.approx(0.5, abs=0.03)


def test_documents_are_always_the_same_and_number_as_said() -> None:
    assert list(CORPORA["articles"].make("test")) == MADE["test"]
    assert {split: len(records) for split, records in MADE.items()} == {"train": 16_000, "valid": 200, "test": 300}


def test_a_length_out_of_range_is_refused() -> None:
    with refused("'articles:10-600': a length lies between 30 and 30000"):
        built_in("articles:10-600")
