"""The words of `tags` and `trees`. Many stand in two lists or three: a guard guards, the cross man crosses the cross.

A verb is written with its past and, after a colon, what it may be done to.
"""

from collections import defaultdict
from dataclasses import dataclass


@dataclass(frozen=True)
class Sort:
    """What nouns of one sort may be said to be, and whether they live and speak."""

    traits: tuple[str, ...]
    lives: bool = False
    speaks: bool = False


@dataclass(frozen=True)
class Noun:
    one: str
    many: str
    sort: Sort


@dataclass(frozen=True)
class Verb:
    base: str
    present: str
    past: str
    objects: tuple[Noun, ...] = ()


def with_s(word: str) -> str:
    """The plural of a noun, or a verb as "she" has it."""
    if word.endswith(("s", "x", "ch", "sh")):
        return f"{word}es"
    return f"{word[:-1]}ies" if word[-1] == "y" and word[-2] not in "aeiou" else f"{word}s"


def nouns(text: str, sort: Sort) -> tuple[Noun, ...]:
    """Written as "dog, child children"; a plural is given only where it is not regular."""
    rows = [row.split() for row in text.split(",")]
    return tuple(Noun(row[0], row[1] if row[1:] else with_s(row[0]), sort) for row in rows)


def verbs(text: str) -> tuple[Verb, ...]:
    """Written as "cross crossed: road river, sleep slept"."""
    found = []
    for row in text.split(","):
        forms, _, objects = row.partition(":")
        base, past = forms.split()
        found.append(Verb(base, with_s(base), past, tuple(NOUN[name] for name in objects.split())))
    return tuple(found)


PERSON = Sort(("old", "young", "calm", "slow", "cross", "kind", "tired", "clean"), lives=True, speaks=True)
ANIMAL = Sort(("old", "young", "calm", "slow", "cross", "tired"), lives=True)
THING = Sort(("old", "new", "light", "dry", "clean", "open", "warm", "empty", "cool", "red"))
EVENT = Sort(("long", "light", "open", "slow", "early", "calm"))
PLACE = Sort(("old", "open", "empty", "dry", "clean", "wide", "calm", "cool"))

PEOPLE = nouns(
    "cook, guard, guide, judge, coach, nurse, pilot, fool, teacher, farmer, boy, girl, child children, man men, "
    "woman women",
    PERSON,
)
ANIMALS = nouns("dog, chicken, fox, duck, bear, fly, seal, cow", ANIMAL)
THINGS = nouns(
    "watch, light, ring, plant, book, ship, box, drink, can, saw, cross, well, letter, lamp, door, cup, clock, fish "
    "fish",
    THING,
)
EVENTS = nouns("show, dance, play, test, walk, talk, rest, call, visit, work, answer, order, plan", EVENT)
PLACES = nouns("park, farm, bank, shop, field, road, river, garden, house, bridge, station", PLACE)
NOUN = {noun.one: noun for noun in PEOPLE + ANIMALS + THINGS + EVENTS + PLACES}

DEEDS = verbs(  # what people do to something
    "guard guarded: bank house park ship box, guide guided: man woman child pilot farmer, judge judged: show dance "
    "play cook fool, coach coached: boy girl child, nurse nursed: child dog man, pilot piloted: ship, fool fooled: "
    "guard judge teacher, book booked: show visit play, box boxed: cup lamp clock watch, water watered: plant "
    "garden field, plant planted: field garden, light lit: lamp house road, ring rang: teacher nurse, show showed: "
    "watch ring letter plant, play played: judge guard fool, test tested: light clock plan saw, call called: guide "
    "nurse dog, visit visited: farm bank shop judge, answer answered: call letter teacher, order ordered: drink "
    "fish book, plan planned: visit dance show, cook cooked: fish chicken duck, farm farmed: field, dry dried: cup "
    "plant can, clean cleaned: box can door saw, open opened: door letter can shop, empty emptied: box cup well, "
    "warm warmed: drink house, calm calmed: child cow bear, read read: letter book plan, buy bought: ring watch "
    "drink can, man manned: station bridge"
)
SIGHTS = verbs(  # what people and animals do to something
    "watch watched: show play light fly ship, cross crossed: road river bridge field, see saw: light saw cross bear "
    "guide, find found: ring well can plant, leave left: park farm station, like liked: walk rest drink fish, love "
    "loved: dance talk seal, hear heard: call answer order, bear bore: cross light, face faced: judge bear test"
)
MOVES = verbs(  # what people and animals do alone
    "walk walked, rest rested, play played, run ran, sleep slept, wait waited, drink drank, turn turned, duck ducked"
)
TRADES = verbs(  # what people do alone
    "dance danced, talk talked, cook cooked, fish fished, farm farmed, work worked, shop shopped, smile smiled, "
    "laugh laughed, read read"
)
CHANGES = verbs("fall fell, turn turned, stop stopped, work worked, dry dried, open opened, light lit, cool cooled")
WISHES = verbs("want wanted, like liked, plan planned, hope hoped, need needed")
THOUGHTS = verbs("know knew, think thought, hope hoped, see saw, say said")

FREQUENCIES = ("often", "always", "never", "still")
MANNERS = ("fast", "hard", "early", "well", "slowly", "loudly")
MODALS = ("can", "will", "must", "may")
NAMES = ("Anna", "Peter", "Mary", "Mark", "Rose", "Will", "Bill")
PRONOUNS = {"he": False, "she": False, "it": False, "they": True, "we": True}  # True: the verb is a plural's
CAUSES = ("because", "before", "after", "when", "while", "although")


def tags_of() -> dict[str, set[str]]:
    """Every form of the open classes with the tags that it may have."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    every_verb = (*DEEDS, *SIGHTS, *MOVES, *TRADES, *CHANGES, *WISHES, *THOUGHTS)
    lists = {
        "NOUN": [form for noun in NOUN.values() for form in (noun.one, noun.many)],
        "VERB": [form for verb in every_verb for form in (verb.base, verb.present, verb.past)],
        "ADJ": [trait for sort in (PERSON, ANIMAL, THING, EVENT, PLACE) for trait in sort.traits],
        "ADV": [*FREQUENCIES, *MANNERS],
        "AUX": MODALS,
        "PROPN": [name.lower() for name in NAMES],
        "ADP": ["like"],
    }
    for tag, forms in lists.items():
        for form in forms:
            found[form].add(tag)
    return found


AMBIGUOUS = {form for form, tags in tags_of().items() if len(tags) > 1}
