"""`road`: right German, held-out pairs, and an "it" that only the adjective decides."""

import re
from collections import Counter

import pytest

from regard.data.corpora import CORPORA
from regard.data.corpora.corpus import SPLITS
from regard.data.corpora.road import (
    ACTOR,
    CAN,
    COULD,
    FUTURE,
    PAST,
    PERFECT,
    PRESENT,
    THING,
    WISH,
    Event,
    decisive,
    passages,
    sentences,
)
from regard.data.corpora.road_words import (
    ACTORS,
    CROSS,
    DAS,
    DER,
    DIE,
    ESCAPE,
    LEAVE,
    MOODS,
    PLACES,
    RUN,
    STAY,
    SWIM,
    THINGS,
    TRUST,
)

ROADS = {split: list(CORPORA["road"].source(split)) for split in SPLITS}
LONG = {split: list(CORPORA["road-long"].source(split)) for split in SPLITS}
DOG, ROAD, LAKE, BARN, ROOF = ACTOR["dog"], THING["road"], THING["lake"], THING["barn"], THING["roof"]
IT = re.compile(r"\b(?:because|since|although) it (?:is|was) \w+ (\w+)", re.IGNORECASE)


def spoken(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def named(source: str) -> tuple[str, str]:
    """The actor and the thing of an English sentence."""
    found = set(spoken(source.lower()))
    (actor,), (thing,) = found & set(ACTOR), found & set(THING)
    return actor, thing


def pairs_in(records: list) -> set[tuple[str, str]]:
    return {named(part) for source, _ in records for part in sentences(source)}


@pytest.mark.parametrize("gender", [DER, DIE, DAS])
def test_forty_nouns_of_each_gender(gender) -> None:
    assert sum(noun.gender == gender for noun in ACTORS + THINGS) >= 40


def test_a_word_has_one_meaning() -> None:
    """Else a sentence would have two right translations, or an adjective would fit both nouns."""
    nouns = ACTORS + THINGS
    of_things = {adjective for place in PLACES for adjective in place.adjectives}
    assert len({noun.english for noun in nouns}) == len({noun.german for noun in nouns}) == len(nouns)
    adjectives = {*MOODS, *of_things}
    assert len({adjective.english for adjective in adjectives}) == len(MOODS) + len(of_things)
    verbs = {form for place in PLACES for verb in place.verbs for form in vars(verb.english).values()}
    names = {noun.english for noun in nouns}
    assert not names & verbs
    assert not names & {adjective.english for adjective in adjectives}


def test_sizes() -> None:
    assert [len(ROADS[split]) for split in SPLITS] == [16_000, 300, 600]
    assert [len(LONG[split]) for split in SPLITS] == [8_000, 200, 300]


@pytest.mark.parametrize("name", ["road", "road-long"])
def test_always_the_same_and_never_twice(name: str) -> None:
    for split, made in (ROADS if name == "road" else LONG).items():
        assert made == list(CORPORA[name].make(split))
        assert len({source for source, _ in made}) == len(made)


def test_held_out_pairs_of_nouns_are_not_trained_on() -> None:
    road, long = ({split: pairs_in(made[split]) for split in SPLITS} for made in (ROADS, LONG))
    for one, other in (("train", "valid"), ("train", "test"), ("valid", "test")):
        assert not (road[one] | long[one]) & (road[other] | long[other])
    assert len(road["test"]) > 200


def test_every_word_of_the_test_is_trained_on() -> None:
    for column in (0, 1):
        trained = {word for record in ROADS["train"] for word in record[column].split()}
        held_out = {word for split in ("valid", "test") for record in ROADS[split] for word in record[column].split()}
        assert held_out <= trained
    trained = Counter(word for source, _ in ROADS["train"] for word in spoken(source))
    assert min(trained[noun.english] for noun in ACTORS + THINGS) >= 100


def test_it_is_either_noun_equally_often() -> None:
    moods = {mood.english for mood in MOODS}
    for split, slack in (("train", 0.02), ("test", 0.06)):
        cases = [IT.search(source)[1] in moods for source, _ in ROADS[split] if decisive(source) != [None]]
        assert abs(sum(cases) / len(cases) - 0.5) < slack
        assert len(cases) > len(ROADS[split]) / 3


def test_the_lecture_opens_the_test() -> None:
    assert ROADS["test"][:2] == [
        (
            "The chicken didn't cross the road because it was too tired.",
            "Das Huhn überquerte die Straße nicht, weil es zu müde war.",
        ),
        (
            "The chicken didn't cross the road because it was too wide.",
            "Das Huhn überquerte die Straße nicht, weil sie zu breit war.",
        ),
    ]


def test_articles_agree_with_gender() -> None:
    """Each noun, wherever it stands, has an article of its gender; an actor is always the subject."""
    articles = {DER: {"der", "den", "dem"}, DIE: {"die", "der"}, DAS: {"das", "dem"}}
    actors = {noun.german: noun for noun in ACTORS}
    things = {noun.german: noun for noun in THINGS}
    checked = 0
    for _, target in ROADS["train"][:2000]:
        words = spoken(target)
        for place, word in enumerate(words):
            near = {before.lower() for before in words[max(0, place - 2) : place]}
            if word in actors:
                assert actors[word].gender.articles[0] in near, target
            elif word in things:
                assert articles[things[word].gender] & near, target
            checked += word in actors or word in things
    assert checked >= 4000


def test_adjectives_before_nouns_take_their_ending() -> None:
    phrases = {german for _, target in ROADS["train"] for german in re.findall(r"\bde[rnm] \w+en? \w+", target)}
    assert {"den breiten Fluss", "dem hohen Berg"} <= phrases
    assert not {phrase for phrase in phrases if re.match(r"(den|dem) \w+[^n] [A-ZÄÖÜ]", phrase)}


def test_a_subordinate_clause_ends_with_its_verb() -> None:
    opening = re.compile(r"\b(?:weil|da|obwohl) [^,.]+", re.IGNORECASE)
    clauses = [clause for _, target in ROADS["train"] for clause in opening.findall(target)]
    assert len(clauses) > 10_000
    assert {clause.split()[-1] for clause in clauses} == {"war", "ist"}


@pytest.mark.parametrize(
    ("event", "english", "german"),
    [
        (Event(DOG, ROAD, CROSS, PAST), "dog crossed the road", "überquerte der Hund die Straße"),
        (Event(DOG, ROAD, CROSS, PRESENT, True), "dog doesn't cross the road", "überquert der Hund die Straße nicht"),
        (Event(DOG, ROAD, RUN, PAST, True), "dog didn't run across the road", "lief der Hund nicht über die Straße"),
        (
            Event(DOG, ROAD, STAY, PERFECT, True),
            "dog hasn't stayed on the road",
            "ist der Hund nicht auf der Straße geblieben",
        ),
        (Event(DOG, LAKE, SWIM, PERFECT), "dog has swum through the lake", "ist der Hund durch den See geschwommen"),
        (Event(DOG, LAKE, CROSS, FUTURE, True), "dog won't cross the lake", "wird der Hund den See nicht überqueren"),
        (Event(DOG, BARN, LEAVE, WISH), "dog wanted to leave the barn", "wollte der Hund die Scheune verlassen"),
        (
            Event(DOG, BARN, ESCAPE, CAN, True),
            "dog can't escape from the barn",
            "kann der Hund der Scheune nicht entkommen",
        ),
        (Event(DOG, ROOF, TRUST, COULD, True), "dog couldn't trust the roof", "konnte der Hund dem Dach nicht trauen"),
    ],
)
def test_tenses_and_the_order_of_words(event: Event, english: str, german: str) -> None:
    finite, der, hund, *rest = german.split()
    assert event.english() == f"the {english}"
    assert event.german(inverted=True) == german
    assert event.german() == " ".join((der, hund, finite, *rest))


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("The chicken didn't cross the road because it was too wide.", "sie"),
        ("Since it is so lazy, the dog can't run across the road.", "er"),
        ("Although it was quite high, the cow climbed the roof.", "es"),
        ("The cat didn't cross the road because it was too wide.", None),  # both are "sie"
        ("The chicken didn't cross the road because the road was too wide.", None),
        ("The chicken was very tired, but it crossed the road.", None),
        ("The chicken didn't cross the road because it was too purple.", None),
        ("The man didn't cross the road because it was too wide.", None),
    ],
)
def test_decisive(source: str, answer: str | None) -> None:
    assert decisive(source) == [answer]


def test_the_decisive_pronoun_is_the_one_that_was_written() -> None:
    for source, target in ROADS["train"]:
        (answer,) = decisive(source)
        if answer is not None:
            assert re.search(rf"\b(weil|da|obwohl) {answer}\b", target, re.IGNORECASE)


def test_passages_are_two_to_six_sentences_with_different_nouns() -> None:
    lengths = Counter()
    for source, target in passages("test"):
        parts = sentences(source)
        assert len(parts) == len(sentences(target)) == len(decisive(source))
        nouns = [noun for part in parts for noun in named(part)]
        assert len(set(nouns)) == 2 * len(parts)
        lengths[len(parts)] += 1
    assert set(lengths) == {2, 3, 4, 5, 6}
