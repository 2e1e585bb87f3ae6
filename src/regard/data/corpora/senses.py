"""`senses`: a word with several senses in a sentence, and which one is meant. "Anna went to the bank because of ..."

What is said with the word fits each sense; another word, before it or after it and seldom beside it, tells which. The
label is the word and its sense: bank/river, bank/money. With them stands the lecture's "it", which is the animal when
tired and the place when wide.

Held out: pairs of what is said and the word that tells. A pair belongs to one split and stands in no other, while both
by themselves stand in the training sentences. The lecture's two sentences open the test.
"""

import random
from collections.abc import Callable, Iterator
from functools import cache, partial
from zlib import crc32

from regard.data.corpora.corpus import Corpus
from regard.data.corpora.sense_words import NAMES, WORDS, Ambiguous
from regard.data.corpora.story_words import ANIMALS, HURDLES, NEEDS
from regard.data.sources import Record

SIZES = {"train": 8_000, "valid": 300, "test": 600}
FRAMES = (
    "{said} because of the {cue}",
    "{said} because {third} had spoken of the {cue}",
    "{said} while {third} was thinking of the {cue}",
    "{said}, and {third} said something about the {cue}",
    "{third} told a story about the {cue}, and {said}",
    "{third} had a picture of the {cue}, and {said}",
    "when {third} asked about the {cue}, {said}",
    "after a long talk about the {cue}, {said}",
)
TIMES = ("", "", "", " again", " once more")
LECTURE = ("chicken", "road")


def home(one: str, other: str) -> int:
    return -1 if (one, other) == LECTURE else crc32(f"{one} {other}".encode())


@cache
def partners(split: str, word: str, others: tuple[str, ...]) -> tuple[str, ...]:
    """What may stand with a word: one of the others belongs to the test, one to validation, the rest to training."""
    ranked = sorted(others, key=lambda other: home(word, other))
    return {"test": tuple(ranked[:1]), "valid": tuple(ranked[1:2]), "train": tuple(ranked[2:])}[split]


def used(chance: random.Random, split: str, word: Ambiguous, sense: str) -> str:
    """A sentence with a word in one of its senses."""
    cue = chance.choice(word.senses[sense])
    who, other, third = chance.sample(NAMES, 3)
    said = chance.choice(partners(split, cue, word.said)).format(who=who, other=other) + chance.choice(TIMES)
    return sentence(chance.choice(FRAMES).format(said=said, cue=cue, third=third))


def referred(chance: random.Random, split: str, sense: str) -> str:
    """A sentence in which "it" is an animal or a place."""
    hurdle, animal = chance.choice(HURDLES), chance.choice(ANIMALS)
    place = chance.choice(partners(split, animal, hurdle.things))
    trait = chance.choice(NEEDS if sense == "animal" else hurdle.traits)[0]
    return stopped(animal, place, hurdle.passing[0], trait, chance.choice(TIMES))


def stopped(animal: str, place: str, passing: str, trait: str, time: str = "") -> str:
    return sentence(f"the {animal} didn't {passing} the {place}{time} because it was too {trait}")


def sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def lecture() -> list[Record]:
    """The lecture's own two sentences."""
    return [
        (stopped(*LECTURE, "cross", trait), f"it/{sense}") for trait, sense in (("tired", "animal"), ("wide", "place"))
    ]


MEANINGS: dict[str, Callable[[random.Random, str], str]] = {
    **{f"{word.word}/{sense}": partial(used, word=word, sense=sense) for word in WORDS for sense in word.senses},
    **{f"it/{sense}": partial(referred, sense=sense) for sense in ("animal", "place")},
}


def sentences(split: str) -> Iterator[Record]:
    """Sentences of a split, no two alike, the senses in turn."""
    chance = random.Random(f"senses {split}")
    opening = lecture() if split == "test" else []
    yield from opening
    seen = {text for text, _ in opening}
    labels = list(MEANINGS)
    while len(seen) < SIZES[split]:
        label = labels[len(seen) % len(labels)]
        text = MEANINGS[label](chance, split)
        if text not in seen:
            seen.add(text)
            yield text, label


SENSES = Corpus("senses", ("text", "label"), sentences)
