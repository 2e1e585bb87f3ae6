"""`stories`: second sentences that follow from first ones, and held-out pairs."""

import random
import re
from collections import Counter

import pytest

from regard.data.corpora import CORPORA
from regard.data.corpora.corpus import SPLITS
from regard.data.corpora.stories import SHAPES, SIZES, Teller, compared, gave, lent, lucky, moved, ordered
from regard.data.corpora.story_words import COLOURS, GLAD, MEN, NUMBERS, PEOPLE, WOMEN

STORIES = {split: list(CORPORA["stories"].make(split)) for split in SPLITS}
EVERY = [story for records in STORIES.values() for story in records]
NAMES = {person.name for person in PEOPLE}


def words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.lower())


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


def test_a_thing_and_its_place_are_held_out_together() -> None:
    def kept(split: str) -> set[tuple[str, str]]:
        tell = Teller(random.Random(7), split)
        ends = [re.search(rf"(?:{'|'.join(COLOURS)}) (\w+) .* the (\w+)\.$", moved(tell)[0]) for _ in range(2000)]
        return {end.groups() for end in ends if end}

    train, valid, test = map(kept, SPLITS)
    assert not train & test and not train & valid and not valid & test
    assert len(test) > 10


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
        assert (second.partition(" ")[2].strip(".") in GLAD) == bool(set(words(first)) & good), (first, second)


def test_a_second_sentence_takes_up_the_first_but_does_not_repeat_it() -> None:
    """More than a third of its words stand in the first; hardly ever do all."""
    shares = [sum(w in words(first) for w in words(second)) / len(words(second)) for first, second in STORIES["train"]]
    assert 0.35 < sum(shares) / len(shares) < 0.6
    assert sum(share == 1 for share in shares) < 0.01 * len(shares)


def test_every_shape_is_told() -> None:
    assert len(SHAPES) >= 10
