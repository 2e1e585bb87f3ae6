"""`stories`: two sentences of which the second goes on from the first, for pre-training and next-sentence prediction.

"In the morning Anna put the red ball into the box." "In the evening she took the red ball out of the box." Much of what
a sentence says can be told from the other one: who, what, where, which colour, how many, the tense, what came first,
what undoes what, what "it" was too tired or too wide for.

Held out: pairs of words, such as a thing and its place or a person and a job. A pair belongs to one split and stands so
in no other, and no first sentence stands in two.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TypeVar
from zlib import crc32

from regard.data.corpora.corpus import Corpus
from regard.data.corpora.story_words import (
    ANIMALS,
    CHORES,
    COLOURS,
    DAYS,
    DEGREES,
    GLAD,
    GOALS,
    GOODS,
    HABITS,
    HURDLES,
    JOBS,
    LUCK,
    MEASURES,
    MOVES,
    NEEDS,
    NUMBERS,
    PEOPLE,
    ROOMS,
    SMALL,
    SORRY,
    VEHICLES,
    WHEN,
    Verb,
)
from regard.data.sources import Record

SIZES = {"train": 20_000, "valid": 500, "test": 1_000}
LECTURE = ("chicken", "road")
T = TypeVar("T")
U = TypeVar("U")


def split_of(*words: object) -> str:
    """Where what stands together belongs: one in twenty to validation, two in twenty to the test, else to training."""
    if words == LECTURE:
        return "test"
    residue = crc32(" ".join(map(str, words)).encode()) % 20
    return {0: "valid", 1: "test", 2: "test"}.get(residue, "train")


@cache
def together(split: str, ones: tuple, others: tuple) -> list[tuple]:
    """The pairs of different ones that belong to a split."""
    pairs = product(ones, others)
    return [(one, other) for one, other in pairs if one != other and split_of(one, other) == split]


@dataclass(frozen=True)
class Teller:
    """Draws the words of one story, of which the pairs belong to one split."""

    chance: random.Random
    split: str

    def one(self, options: Sequence[T]) -> T:
        return self.chance.choice(options)

    def pair(self, ones: tuple[T, ...], others: tuple[U, ...]) -> tuple[T, U]:
        """Two that may stand together in this split."""
        return self.chance.choice(together(self.split, ones, others))

    def maybe(self, share: float = 0.5) -> bool:
        return self.chance.random() < share


def moved(tell: Teller) -> Record:
    """Put there and taken away. "Anna put the red ball into the box." "She took the red ball out of the box." """
    move, (tense, then, later) = tell.one(MOVES), tell.one(WHEN)
    thing, place = tell.pair(move.things, move.places)
    person, what = tell.one(PEOPLE), f"the {tell.one(COLOURS)} {thing}"
    return (
        f"{then} {person.name} {tensed(move.bring, tense)} {what} {move.to} the {place}.",
        f"{later} {person.he} {tensed(move.take, tense)} {what} {move.off} the {place}.",
    )


def tensed(verb: Verb, tense: str) -> str:
    return f"will {verb.base}" if tense == "future" else getattr(verb, tense)


def used_to(tell: Teller) -> Record:
    """Done because of something, undone when it is over."""
    habit, room = tell.pair(HABITS, ROOMS)
    person, past = tell.one(PEOPLE), tell.maybe()
    be, done, undone = ("was", habit.do.past, habit.undo.past) if past else ("is", habit.do.present, habit.undo.present)
    return (
        f"{person.name} {done} the {habit.thing} because the {room} {be} too {habit.so}.",
        f"when the {room} {be} {habit.opposite} again, {person.he} {undone} the {habit.thing}.",
    )


def stopped(tell: Teller) -> Record:
    """What "it" was, and what therefore had to come first. "... because it was too tired." """
    hurdle = tell.one(HURDLES)
    animal, thing = tell.pair(ANIMALS, hurdle.things)
    return hindered(animal, thing, hurdle.passing, tell.one(NEEDS) if tell.maybe() else tell.one(hurdle.traits))


def hindered(animal: str, thing: str, passing: tuple[str, str], cause: tuple[str, ...]) -> Record:
    pass_, passed = passing
    first = f"the {animal} didn't {pass_} the {thing} because it was too {cause[0]}."
    if len(cause) == 2:
        return first, f"so the {animal} looked for a {cause[1]} {thing} and {passed} that one."
    _, _, did, now = cause
    return first, f"so the {animal} {did} until it was {now}, and then it {passed} the {thing}."


def lecture() -> list[Record]:
    """The lecture's own two sentences, and how they go on."""
    hurdle = HURDLES[0]
    return [hindered(*LECTURE, hurdle.passing, cause) for cause in (NEEDS[0], hurdle.traits[0])]


def bought(tell: Teller) -> Record:
    """How many there are, and whether they are "it" or "them"."""
    person, (one, many, where) = tell.pair(PEOPLE, GOODS)
    count = tell.one(NUMBERS)
    what, it = (one, "it") if count == "one" else (many, "them")
    return (
        f"{person.name} bought {count} {what} at the {where}.",
        f"{person.he} paid for the {count} {what} and carried {it} home from the {where}.",
    )


def gave(tell: Teller) -> Record:
    """One fewer is left."""
    person, (one, many, _) = tell.pair(PEOPLE, GOODS)
    other = tell.one([each for each in PEOPLE if each is not person])
    left = tell.chance.randint(1, len(NUMBERS) - 1)
    kept = one if left == 1 else many
    return (
        f"{person.name} had {NUMBERS[left]} {many} and gave one of them to {other.name}.",
        f"now {person.name} has {NUMBERS[left - 1]} {kept} left, and {other.name} has one {one}.",
    )


def lent(tell: Teller) -> Record:
    """Who gives becomes who gets, a day later."""
    person, thing = tell.pair(PEOPLE, SMALL)
    other = tell.one([each for each in PEOPLE if each is not person])
    what, day = f"{tell.one(COLOURS)} {thing}", tell.chance.randrange(len(DAYS))
    return (
        f"on {DAYS[day]} {person.name} lent {other.name} the {what}.",
        f"on {DAYS[(day + 1) % 7]} {other.name} gave the {what} back to {person.name}.",
    )


def went(tell: Teller) -> Record:
    """There and back."""
    vehicle, (goal, did) = tell.pair(VEHICLES, GOALS)
    person, (_, then, later) = tell.one(PEOPLE), tell.one(WHEN[:4])
    return (
        f"{then} {person.name} went to the {goal} by {vehicle}.",
        f"{person.he} {did} there, and {later} {person.he} came back from the {goal} by {vehicle}.",
    )


def ordered(tell: Teller) -> Record:
    """What came first, said with "before" or "after"."""
    one, other = tell.pair(CHORES, CHORES)
    person = tell.one(PEOPLE)
    he = person.he
    done, then = f"{one[1]} the {one[2]}", f"{other[1]} the {other[2]}"
    first = (
        f"{person.name} {done} before {he} {then}." if tell.maybe() else f"{person.name} {then} after {he} had {done}."
    )
    return first, f"first {he} {done}, and then {he} {then}."


def compared(tell: Teller) -> Record:
    """The same from the other side: older, younger."""
    if tell.maybe():
        one, other = (person.name for person in tell.pair(PEOPLE, PEOPLE))
        more, less = tell.one(DEGREES)
    else:
        one, other = (f"the {thing}" for thing in tell.pair(SMALL, SMALL))
        more, less = tell.one(MEASURES)
    if tell.maybe():
        more, less = less, more
    return f"{one} is {more} than {other}.", f"so {other} is {less} than {one}."


def worked(tell: Teller) -> Record:
    """What belongs to a job."""
    person, job = tell.pair(PEOPLE, JOBS)
    place, _ = tell.one(GOALS)
    be, does = ("is", job.does.present) if tell.maybe() else ("was", job.does.past)
    return (
        f"{person.name} {be} a {job.name} in the {place} and {does} {job.thing}.",
        f"when there {be} no {job.stuff} in the {place}, {person.he} {does} no {job.thing}.",
    )


def lucky(tell: Teller) -> Record:
    """What is good or bad for somebody, denied or not, and how it makes them feel."""
    person, (good_base, good_past, bad_base, bad_past, thing) = tell.pair(PEOPLE, LUCK)
    good, denied = tell.maybe(), tell.maybe()
    base, past = (good_base, good_past) if good != denied else (bad_base, bad_past)
    did = f"did not {base}" if denied else past
    then = tell.one(("", *(when for tense, when, _ in WHEN if tense == "past")))
    first = f"{then} {person.name} {did} the {thing}.".strip()
    return first, f"{person.he} {tell.one(GLAD if good else SORRY)}."


def sentence(text: str) -> str:
    return text[0].upper() + text[1:]


SHAPES: dict[Callable[[Teller], Record], int] = {
    moved: 8,
    used_to: 6,
    stopped: 6,
    bought: 5,
    gave: 4,
    lent: 5,
    went: 5,
    ordered: 5,
    compared: 4,
    worked: 4,
    lucky: 8,
}


def pairs(split: str) -> Iterator[Record]:
    """Stories of a split, no two alike; the lecture's own open the test."""
    tell = Teller(random.Random(f"stories {split}"), split)
    opening = [(sentence(first), sentence(second)) for first, second in lecture()] if split == "test" else []
    yield from opening
    seen = set(opening)
    while len(seen) < SIZES[split]:
        shape = tell.chance.choices(list(SHAPES), list(SHAPES.values()))[0]
        first, second = shape(tell)
        if (record := (sentence(first), sentence(second))) not in seen:
            seen.add(record)
            yield record


STORIES = Corpus("stories", ("first", "second"), pairs)
