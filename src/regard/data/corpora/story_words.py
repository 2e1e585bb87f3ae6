"""The words of `stories`: people, things and where they are kept, what is done and what undoes it, causes, jobs.

A verb is written as base, present and past: "put puts put".
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Person:
    name: str
    he: str
    him: str
    his: str


@dataclass(frozen=True)
class Verb:
    base: str
    present: str
    past: str


@dataclass(frozen=True)
class Move:
    """What brings a thing to a place, and what takes it away again."""

    bring: Verb
    to: str
    take: Verb
    off: str
    things: tuple[str, ...]
    places: tuple[str, ...]


@dataclass(frozen=True)
class Habit:
    """What is done to a thing because a place is so, and undone when it is the opposite."""

    do: Verb
    undo: Verb
    thing: str
    so: str
    opposite: str


@dataclass(frozen=True)
class Hurdle:
    """Things that stop an animal: how it would pass them, what they may be, and what would be better."""

    things: tuple[str, ...]
    passing: tuple[str, str]
    traits: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Job:
    """What somebody of a trade makes, and out of what."""

    name: str
    does: Verb
    thing: str
    stuff: str


def listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def rows(text: str) -> tuple[tuple[str, ...], ...]:
    """Written as "tired sleep slept, hungry eat ate"."""
    return tuple(tuple(row.split()) for row in text.split(","))


def verb(text: str) -> Verb:
    return Verb(*text.split())


def people(names: str, pronouns: str) -> tuple[Person, ...]:
    return tuple(Person(name, *pronouns.split()) for name in listed(names))


WOMEN = people("Anna, Mary, Clara, Emma, Julia, Lucy, Nora, Sophie", "she her her")
MEN = people("Tom, Paul, Peter, Max, Ben, Oscar, Felix, David", "he him his")
PEOPLE = WOMEN + MEN

COLOURS = listed("red, blue, green, yellow, black, white, brown")
NUMBERS = listed("one, two, three, four, five, six, seven, eight, nine")
DAYS = listed("Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday")
WHEN = (  # the tense, and when something is done and undone
    ("past", "in the morning", "in the evening"),
    ("past", "yesterday", "today"),
    ("past", "last summer", "last winter"),
    ("past", "before lunch", "after lunch"),
    ("present", "every morning", "every evening"),
    ("present", "every summer", "every winter"),
    ("future", "tomorrow", "the day after"),
    ("future", "next summer", "next winter"),
)

PUT, TAKE = verb("put puts put"), verb("take takes took")
SMALL = listed("ball, key, letter, ring, knife, spoon, doll, coin, candle, ticket")
MOVES = (
    Move(PUT, "into", TAKE, "out of", SMALL, listed("box, bag, basket, drawer, chest, bucket")),
    Move(
        verb("lay lays laid"),
        "on",
        verb("pick picks picked"),
        "up from",
        SMALL,
        listed("table, shelf, chair, bench, desk"),
    ),
    Move(
        verb("hide hides hid"),
        "under",
        verb("pull pulls pulled"),
        "out from under",
        SMALL,
        listed("bed, carpet, sofa, pillow, blanket"),
    ),
    Move(
        verb("hang hangs hung"),
        "on",
        TAKE,
        "down from",
        listed("coat, hat, picture, towel, mirror, scarf"),
        listed("hook, wall, nail, door"),
    ),
    Move(
        verb("tie ties tied"),
        "to",
        verb("free frees freed"),
        "from",
        listed("boat, pony, goat, kite, donkey, balloon"),
        listed("tree, post, fence, gate"),
    ),
)

ROOMS = listed("kitchen, office, bedroom, hall, classroom, workshop, cabin, tent")
OPEN, CLOSE = verb("open opens opened"), verb("close closes closed")
LIGHT = verb("light lights lit")
HABITS = (
    Habit(OPEN, CLOSE, "window", "hot", "cool"),
    Habit(LIGHT, verb("quench quenches quenched"), "fire", "cold", "warm"),
    Habit(LIGHT, verb("dim dims dimmed"), "lamp", "dark", "bright"),
    Habit(verb("start starts started"), verb("stop stops stopped"), "fan", "damp", "dry"),
    Habit(CLOSE, OPEN, "curtain", "bright", "dark"),
    Habit(verb("fetch fetches fetched"), verb("return returns returned"), "broom", "dirty", "clean"),
    Habit(CLOSE, OPEN, "shutter", "noisy", "quiet"),
)

ANIMALS = listed("chicken, dog, cat, cow, horse, duck, fox, hare, sheep, pig, mouse, owl")
NEEDS = rows(  # what an animal is, what it then does first, and what it is afterwards
    "tired sleep slept awake, hungry eat ate full, thirsty drink drank refreshed, scared hide hid brave, "
    "sick rest rested healthy, cold run ran warm"
)
HURDLES = (
    Hurdle(
        listed("road, river, field, square"), ("cross", "crossed"), rows("wide narrower, muddy drier, busy quieter")
    ),
    Hurdle(listed("wall, fence, hill, hedge"), ("climb", "climbed"), rows("high lower, steep flatter, sharp softer")),
    Hurdle(listed("barn, cave, tunnel, hole"), ("enter", "entered"), rows("narrow wider, dark brighter, wet drier")),
)

GOODS = rows(
    "apple apples market, pear pears market, melon melons market, egg eggs farm, hen hens farm, goose geese farm, "
    "pen pens shop, cup cups shop, plate plates shop"
)
VEHICLES = listed("train, bus, car, bike, ship, plane")
GOALS = rows("lake swam, forest hunted, mountain climbed, village danced, city shopped, island fished, castle painted")

CHORES = rows(
    "wash washed plates, dry dried cups, feed fed cat, sweep swept floor, water watered flowers, make made bed, "
    "bake baked bread, mend mended coat, write wrote letter, milk milked cow, paint painted fence, cut cut grass"
)
DEGREES = rows("older younger, taller shorter, faster slower, richer poorer, stronger weaker, louder quieter")
MEASURES = rows("heavier lighter, bigger smaller, longer shorter, cheaper dearer, harder softer, newer older")

JOBS = tuple(
    Job(name, Verb(base, present, past), thing, stuff)
    for name, base, present, past, thing, stuff in rows(
        "baker bake bakes baked bread flour, tailor sew sews sewed coats thread, carpenter build builds built tables "
        "wood, gardener grow grows grew roses water, smith forge forges forged knives iron, potter shape shapes shaped "
        "cups clay, writer write writes wrote letters ink, weaver weave weaves wove carpets wool"
    )
)

LUCK = rows(  # what brings joy, what brings grief, and what both are done to
    "win won lose lost race, find found lose lost key, pass passed fail failed test, catch caught miss missed bus, "
    "mend mended break broke cup, save saved spoil spoiled bread"
)
GLAD = listed("was glad about it, was glad all day, smiled all day, smiled on the way home")
SORRY = listed("was sorry about it, was sorry all day, frowned all day, frowned on the way home")
