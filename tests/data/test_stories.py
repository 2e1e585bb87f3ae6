"""`stories`: second sentences that follow from first ones, held-out pairs, and ends that fit praise or blame alone."""

import random
import re
from collections import Counter

import pytest

from regard.data.corpora import CORPORA
from regard.data.corpora.corpus import SPLITS
from regard.data.corpora.mood_words import SORTS
from regard.data.corpora.stories import SHAPES, SIZES, Teller, compared, gave, judge, judged, lent, lucky, ordered
from regard.data.corpora.story_ends import ANYWHERE, ENDS, OF_ANYTHING
from regard.data.corpora.story_words import MEN, NUMBERS, PEOPLE, WOMEN
from tests.data.test_moods import MOODS, THINGS, meant, pairs_in

STORIES = {split: list(CORPORA["stories"].make(split)) for split in SPLITS}
EVERY = [story for records in STORIES.values() for story in records]
EVERY_END = {*ANYWHERE, *OF_ANYTHING, *(end for ends in ENDS.values() for end in ends)}
NAMES = {person.name for person in PEOPLE}


def words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.lower())


def pattern(end: str, half: int) -> re.Pattern:
    chosen = re.sub(r"\[(.*?)\|(.*?)\]", rf"\{half}", end)
    return re.compile(re.sub(r"\\\{\w+\\\}", r"[\\w ]+", re.escape(chosen)), re.IGNORECASE)


ENDINGS = [(pattern(end, half), half == 1) for end in EVERY_END for half in (1, 2)]


def praised(second: str) -> set[bool]:
    """What an end follows from, read by its shape; empty where it is no such end."""
    return {good for shape, good in ENDINGS if shape.fullmatch(second)}


OPINIONS = [
    (first, second)
    for first, second in EVERY
    if praised(second) and set(words(first)) & THINGS and not NAMES & set(first.split())
]


@pytest.mark.parametrize("split", SPLITS)
def test_sizes(split: str) -> None:
    assert len(STORIES[split]) == len(set(STORIES[split])) == SIZES[split]
    assert STORIES["valid"] == list(CORPORA["stories"].make("valid"))


def test_no_first_sentence_stands_in_two_splits_and_every_word_stands_in_training() -> None:
    train, valid, test = ({" ".join(words(first)) for first, _ in STORIES[split]} for split in SPLITS)
    assert not train & test and not train & valid and not valid & test
    known = Counter(word for story in STORIES["train"] for text in story for word in words(text))
    assert {
        word for split in ("valid", "test") for story in STORIES[split] for text in story for word in words(text)
    } <= set(known)
    assert 400 <= len(known) <= 700


def test_what_is_judged_and_how_it_ends_are_held_out_together() -> None:
    def kept(split: str) -> set[tuple[str, str]]:
        stories = [story for story in STORIES[split] if story in opinions]
        return {(thing, second) for first, second in stories for thing in named(first, second)}

    def named(first: str, second: str) -> set[str]:
        return {thing for sort in SORTS for thing in sort.things} & set(words(first)) & set(words(second))

    opinions = set(OPINIONS)
    train, valid, test = map(kept, SPLITS)
    assert not train & test and not train & valid and not valid & test
    assert len(test) > 100


def test_the_lecture_s_sentences_open_the_test() -> None:
    assert STORIES["test"][:2] == [
        (
            "The chicken didn't cross the road because it was too tired.",
            "So the chicken slept until it was awake, and then it crossed the road.",
        ),
        (
            "The chicken didn't cross the road because it was too wide.",
            "So the chicken looked for a narrower road and crossed that one.",
        ),
    ]
    for first, _ in STORIES["train"] + STORIES["valid"]:
        assert not {"chicken", "road"} <= set(words(first))


def test_an_end_fits_what_a_slow_reader_finds_in_the_opinion() -> None:
    assert 0.35 < len(OPINIONS) / len(EVERY) < 0.45
    for first, second in OPINIONS:
        assert praised(second) == {meant(first)}, (first, second)
    good = sum(meant(first) for first, _ in OPINIONS)
    assert abs(good / len(OPINIONS) - 0.5) < 0.02


def test_no_held_out_pair_of_moods_is_seen() -> None:
    held_out = pairs_in(MOODS["valid"] + MOODS["test"])
    assert not pairs_in(OPINIONS) & held_out
    assert ("movie", "great") in held_out


def test_an_end_belongs_to_who_judges() -> None:
    assert judge("my friends found the film dull") == "my friends"
    assert judge("the critics said that the film was dull, but they were wrong") == "we"
    assert judge("the film was dull") == "we"
    assert "I was glad" in {" ".join(second.split()[:3]) for _, second in OPINIONS}
    assert not [second for _, second in OPINIONS if re.search(r"\bI were\b|\b(we|they) was\b", second, re.IGNORECASE)]


@pytest.mark.parametrize(("people", "wrong"), [(WOMEN, {"he", "him", "his"}), (MEN, {"she", "her"})])
def test_a_pronoun_has_the_gender_of_its_name(people: tuple, wrong: set[str]) -> None:
    names = {person.name.lower() for person in people}
    about = [story for story in EVERY if (found := set(words(" ".join(story)))) & names and not found & others(names)]
    assert len(about) > 2000
    assert not [story for story in about if set(words(" ".join(story))) & wrong]


def others(names: set[str]) -> set[str]:
    return {name.lower() for name in NAMES} - names


def told(shape, times: int = 300) -> list[tuple[str, str]]:
    tell = Teller(random.Random(7), "train")
    return [shape(tell) for _ in range(times)]


def test_what_came_first_is_said_first() -> None:
    for first, second in told(ordered):
        done, then = re.fullmatch(r"first s?he (.*), and then s?he (.*)\.", second).groups()
        assert (f"{done} before" in first and f" {then}." in first) or (
            f"{then} after" in first and f"had {done}." in first
        )


def test_one_is_given_away_and_one_fewer_is_left() -> None:
    numbers = {number: i for i, number in enumerate(NUMBERS, 1)}
    for first, second in told(gave):
        had, left = (numbers[re.search(r" ha[ds] (\w+) ", text)[1]] for text in (first, second))
        assert left == had - 1
        assert (" one of them to " in first) and re.search(r"has one \w+\.$", second)


def test_who_lends_gets_it_back_the_next_day() -> None:
    days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "Monday"]
    for first, second in told(lent):
        (day, giver, taker, thing), (later, from_, back, to) = (
            re.fullmatch(r"on (\w+) (\w+) lent (\w+) the (.*)\.", first).groups(),
            re.fullmatch(r"on (\w+) (\w+) gave the (.*) back to (\w+)\.", second).groups(),
        )
        assert (giver, taker, thing) == (to, from_, back)
        assert giver != taker
        assert days[days.index(day) + 1] == later


def test_a_comparison_is_turned_round() -> None:
    seen = {}
    for first, second in told(compared):
        one, more, other = re.fullmatch(r"(.*) is (\w+) than (.*)\.", first).groups()
        again, less, back = re.fullmatch(r"so (.*) is (\w+) than (.*)\.", second).groups()
        assert (one, other) == (back, again)
        assert more != less
        seen[one.startswith("the "), more] = less
    for (thing, more), less in seen.items():
        assert seen[thing, less] == more


def test_denied_bad_luck_is_good() -> None:
    good = {"won", "found", "passed", "caught", "mended", "saved"} | {"lose", "fail", "miss", "break", "spoil"}
    for first, second in told(lucky):
        assert praised(second) == {bool(set(words(first)) & good)}, (first, second)


def test_a_second_sentence_takes_up_the_first_but_does_not_repeat_it() -> None:
    """More than a third of its words stand in the first; hardly ever do all."""
    shares = [sum(w in words(first) for w in words(second)) / len(words(second)) for first, second in STORIES["train"]]
    assert 0.35 < sum(shares) / len(shares) < 0.6
    assert sum(share == 1 for share in shares) < 0.01 * len(shares)


def test_every_shape_is_told() -> None:
    assert len(SHAPES) >= 10
    assert 0.33 <= SHAPES[judged] / sum(SHAPES.values()) <= 0.45
