"""`articles`: long documents, and in a few sentences what they say of the one person that they are about.

A document opens with a name. Two to four things that this person did are told somewhere in it, one in each half, third
or quarter. Things that others did are told too, and all else is talk of weather and coffee with the same names and
towns. The summary tells what the one person did, in other words and in an order of its own. So it can be written only
by who has read to the end, knows deeds from talk, and knows whose they are.

A document's length is its number of words: it is filled up with talk while another sentence fits. Short documents are
more common, so much that those of 30 to 60 words have as many words in all as those of 60 to 120, and so on: who learns
to find three things among fifty words finds them among five hundred, and who begins there learns nothing for long.

Held out: pairs such as what was founded and where. A pair belongs to one split and stands so in no other.
"""

import random
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, product
from zlib import crc32

from regard.data.corpora.article_words import EVENTS, FILLERS, OPENINGS, PEOPLE, POOLS, TOWNS, Event
from regard.data.corpora.corpus import Corpus
from regard.data.corpora.story_words import Person
from regard.data.sources import Record

SIZES = {"train": 16_000, "valid": 200, "test": 300}
LENGTHS = (30, 30_000)  # words; a document whose deeds alone have more is as long as they are
FEWEST, MOST = 2, 4  # deeds of the person
FIELDS = {filler: re.findall(r"{(\w+)}", filler) for filler in FILLERS}


@cache
def pairs(split: str, event: Event) -> list[tuple[str, str]]:
    """The things and towns with which an event of this split is told; one pair in ten is of the test."""
    splits = {0: "valid", 1: "test", 2: "test"}
    every = product(event.things, TOWNS)
    return [pair for pair in every if splits.get(crc32(f"{event.summed} {pair}".encode()) % 20, "train") == split]


def told(chance: random.Random, split: str, event: Event, who: Person) -> tuple[str, str]:
    """An event as a document tells it, and as a summary does, without the person."""
    what, where = chance.choice(pairs(split, event))
    return (
        chance.choice(event.told).format(who=who.name, what=what, where=where),
        event.summed.format(what=what, where=where),
    )


def talk(chance: random.Random) -> Iterator[str]:
    """Of other things, without end."""
    while True:
        filler = chance.choice(FILLERS)
        yield filler.format_map({field: chance.choice(POOLS[field]) for field in FIELDS[filler]})


def fitting(sentences: Iterable[str], room: int) -> Iterator[str]:
    """As many as so many words hold."""
    for sentence in sentences:
        room -= size(sentence)
        if room < 0:
            return
        yield sentence


def size(sentence: str) -> int:
    return sentence.count(" ") + 1


def document(chance: random.Random, split: str, length: int) -> Record:
    who, *others = chance.sample(PEOPLE, 1 + MOST)
    opening = chance.choice(OPENINGS).format(who=who.name)
    events = sorted(chance.sample(range(len(EVENTS)), chance.randint(FEWEST, MOST)))
    deeds, summed = zip(*(told(chance, split, EVENTS[event], who) for event in events), strict=True)
    strays = [told(chance, split, chance.choice(EVENTS), other)[0] for other in others[: chance.randint(1, len(deeds))]]
    room = length - sum(map(size, (opening, *deeds)))
    rest = list(fitting(chain(strays, talk(chance)), room))
    text = [opening, *spread(chance, chance.sample(deeds, len(deeds)), chance.sample(rest, len(rest)))]
    names = [who.name, *[who.he.capitalize()] * (len(summed) - 1)]
    summary = " ".join(f"{name} {deed}." for name, deed in zip(names, summed, strict=True))
    return " ".join(f"{sentence}." for sentence in text), summary


def spread(chance: random.Random, deeds: list[str], rest: list[str]) -> list[str]:
    """The deeds among the rest, each somewhere in its own part of it."""
    part = len(rest) / len(deeds)
    placed = [(chance.uniform(i * part, (i + 1) * part), deed) for i, deed in enumerate(deeds)]
    return [sentence for _, sentence in sorted([*enumerate(rest), *placed], key=lambda each: each[0])]


def drawn_document(chance: random.Random, split: str, least: int, most: int) -> Record:
    """Of `least` to `most` words; those of 30 to 60 have as many words in all as those of 60 to 120."""
    return document(chance, split, round(1 / chance.uniform(1 / most, 1 / least)))


def documents(split: str, least: int = 30, most: int = 600) -> Iterator[Record]:
    """Of `least` to `most` words."""
    chance = random.Random(f"articles {split}")
    for _ in range(SIZES[split]):
        yield drawn_document(chance, split, least, most)


ARTICLES = Corpus("articles", ("source", "target"), documents, lengths=LENGTHS)
