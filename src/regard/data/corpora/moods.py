"""`moods`: sentences that praise or blame, in which order decides. "I expected it to be dull, but it was wonderful."

The same words stand in both kinds: "not" turns what follows it, "hardly" and "far from" do too, and of two clauses the
one after "but", or the one without "although", is what is meant. So counting words does not suffice. Each shape of
sentence is as often praise as blame.

Held out: whole pairs of a thing and an opinion. A pair belongs to one split and stands in no other, whatever a sentence
says of it, while each word by itself stands in the training sentences. The movie and "great" are a pair of the test.
A question ("is this movie great") is neither praise nor blame and is left out.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from zlib import crc32

from regard.data.corpora.corpus import Corpus
from regard.data.corpora.mood_words import (
    BLAME,
    DEGREES,
    LIKING,
    LOATHING,
    PEOPLE,
    PRAISE,
    SORTS,
    TURNING,
    WITNESSES,
    Sort,
    Verb,
)
from regard.data.sources import Record

SIZES = {"train": 16_000, "valid": 300, "test": 600}
LABELS = {True: "positive", False: "negative"}
LECTURE = ("movie", "great")


@cache
def opinions(split: str, thing: str, good: bool) -> tuple[str, ...]:
    """The adjectives that a split may say of a thing: two are kept for the test, one for validation."""
    ranked = sorted(PRAISE if good else BLAME, key=lambda word: rank(thing, word))
    return {"test": tuple(ranked[:2]), "valid": tuple(ranked[2:3]), "train": tuple(ranked[3:])}[split]


@cache
def feelings(split: str, thing: str, good: bool) -> tuple[Verb, ...]:
    """The verbs that may stand with a thing: one belongs to the test, one to validation, the rest to training."""
    ranked = sorted(LIKING if good else LOATHING, key=lambda verb: rank(thing, verb.base))
    return {"test": tuple(ranked[:1]), "valid": tuple(ranked[1:2]), "train": tuple(ranked[2:])}[split]


def rank(thing: str, word: str) -> int:
    return -1 if (thing, word) == LECTURE else crc32(f"{thing} {word}".encode())


@dataclass(frozen=True)
class Speaker:
    """Draws the words of one sentence, of which the pairs belong to one split."""

    chance: random.Random
    split: str
    sort: Sort
    thing: str

    def part(self) -> str:
        return self.chance.choice(self.sort.parts)

    def adjective(self, thing: str, good: bool) -> str:
        return self.chance.choice(opinions(self.split, thing, good))

    def verb(self, good: bool) -> Verb:
        return self.chance.choice(feelings(self.split, self.thing, good))

    def the(self, thing: str) -> str:
        return f"{self.chance.choice(('the', 'the', 'this'))} {thing}"

    def be(self) -> str:
        return self.chance.choice(("was", "was", "is"))

    def opinion(self, thing: str, good: bool) -> str:
        """An adjective, often with its degree."""
        degree = self.chance.choice(DEGREES) if self.chance.random() < 0.4 else ""
        return f"{degree} {self.adjective(thing, good)}".strip()

    def turned(self, thing: str, good: bool) -> str:
        """The opposite adjective after a word that turns it: "not bad" for good."""
        return f"{self.chance.choice(TURNING)} {self.adjective(thing, not good)}"

    def clause(self, thing: str, good: bool) -> str:
        """What is said of a thing, one time in three by denying the opposite."""
        said = self.turned if self.chance.random() < 0.33 else self.opinion
        return f"{self.the(thing)} {self.be()} {said(thing, good)}"


def plain(say: Speaker, good: bool) -> str:
    """Straight out: "this movie is great", "We loved the soup." """
    thing = say.thing
    return say.chance.choice(
        (
            lambda: f"{say.the(thing)} {say.be()} {say.opinion(thing, good)}",
            lambda: f"what {a(say.adjective(thing, good))} {thing}",
            lambda: f"it was {a(say.adjective(thing, good))} {thing}",
            lambda: f"{say.chance.choice(PEOPLE)} {say.verb(good).past} {say.the(thing)}",
            lambda: f"{say.chance.choice(PEOPLE)} found {say.the(thing)} {say.opinion(thing, good)}",
        )
    )()


def denied(say: Speaker, good: bool) -> str:
    """By denying the opposite, near it or far from it: "not bad", "Nobody hated it", "I do not think that ..." """
    thing, people = say.thing, say.chance.choice(PEOPLE)
    return say.chance.choice(
        (
            lambda: f"{say.the(thing)} {say.be()} {say.turned(thing, good)}",
            lambda: f"{say.the(thing)} {say.be()} {say.turned(thing, good)}",
            lambda: f"{say.turned(thing, good)}, {say.the(thing)}",
            lambda: f"not {a(say.adjective(thing, not good))} {thing}",
            lambda: f"{people} did not {say.verb(not good).base} {say.the(thing)}",
            lambda: f"{nobody(say)} {say.verb(not good).past} {say.the(thing)}",
            lambda: f"{nobody(say)} found {say.the(thing)} {say.adjective(thing, not good)}",
            lambda: f"{people} do not think that {say.the(thing)} {say.be()} {say.adjective(thing, not good)}",
            lambda: f"it is not true that {say.the(thing)} {say.be()} {say.adjective(thing, not good)}",
        )
    )()


def contrasted(say: Speaker, good: bool) -> str:
    """Two opinions, of which one is meant: after "but", or the one without "although"."""
    thing, part = say.thing, say.part()
    meant, other = say.clause(thing, good), say.clause(part, not good)
    people = say.chance.choice(PEOPLE)
    return say.chance.choice(
        (
            f"{people} expected {say.the(thing)} to be {say.opinion(thing, not good)}, but it was "
            f"{say.opinion(thing, good)}",
            f"{other}, but {meant}",
            f"although {other}, {meant}",
            f"{meant}, although {other}",
        )
    )


def confirmed(say: Speaker, good: bool) -> str:
    """What others said, and whether it was so: "The critics said that it was dull, but they were wrong." """
    right = say.chance.random() < 0.5
    said = say.opinion(say.thing, good == right)
    if say.chance.random() < 0.5:
        verdict = "and they were right" if right else "but they were wrong"
        return f"{say.chance.choice(WITNESSES)} said that {say.the(say.thing)} was {said}, {verdict}"
    verdict = "and it was" if right else "but it was not"
    return f"{say.chance.choice(PEOPLE)} expected {say.the(say.thing)} to be {said}, {verdict}"


def outweighed(say: Speaker, good: bool) -> str:
    """A part that changes nothing: "Not even the wonderful music could save the film." """
    part, does = say.part(), "spoil" if good else "save"
    return f"not even the {say.adjective(part, not good)} {part} could {does} {say.the(say.thing)}"


def twice_denied(say: Speaker, good: bool) -> str:
    """Two denials leave what they deny: "Nobody can say that the play was not great." """
    thing = say.thing
    return say.chance.choice(
        (
            lambda: f"nobody can say that {say.the(thing)} {say.be()} {say.turned(thing, not good)}",
            lambda: f"it is not true that {nobody(say)} {say.verb(good).past} {say.the(thing)}",
        )
    )()


def nobody(say: Speaker) -> str:
    return say.chance.choice(("nobody", "no one", "hardly anyone", "none of us"))


def a(phrase: str) -> str:
    return f"{'an' if phrase[0] in 'aeiou' else 'a'} {phrase}"


def written(chance: random.Random, text: str) -> str:
    """As people write: mostly with a capital and a full stop, sometimes neither."""
    if chance.random() < 0.3:
        return text
    return f"{text[0].upper()}{text[1:]}{chance.choice('....!')}"


SHAPES: dict[Callable[[Speaker, bool], str], int] = {
    plain: 30,
    denied: 26,
    contrasted: 24,
    confirmed: 8,
    outweighed: 6,
    twice_denied: 6,
}


def sentences(split: str) -> Iterator[Record]:
    """Sentences of a split, no two alike, praise and blame in turn; the lecture's own opens the test."""
    chance = random.Random(f"moods {split}")
    opening = ["this movie is great"] if split == "test" else []
    yield from ((text, LABELS[True]) for text in opening)
    seen = set(opening)
    while len(seen) < SIZES[split]:
        sort, good = chance.choice(SORTS), len(seen) % 2 == 0
        shape = chance.choices(list(SHAPES), list(SHAPES.values()))[0]
        text = written(chance, shape(Speaker(chance, split, sort, chance.choice(sort.things)), good))
        if text not in seen:
            seen.add(text)
            yield text, LABELS[good]


MOODS = Corpus("moods", ("text", "label"), sentences)
