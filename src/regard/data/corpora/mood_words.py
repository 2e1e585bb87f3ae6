"""The words of `moods`: what is judged, what it consists of, who judges, and the words that praise or blame.

Every opinion fits everything that is judged, so that nothing but the sentence tells which one is meant. No word praises
in one place and blames in another.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sort:
    """Things of one sort, and the parts that each of them has."""

    things: tuple[str, ...]
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Verb:
    base: str
    past: str


def listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def verbs(text: str) -> tuple[Verb, ...]:
    """Written as "love loved, hate hated"."""
    return tuple(Verb(*row.split()) for row in text.split(","))


SORTS = (
    Sort(
        listed("movie, film, play, opera, musical, series, episode, comedy, thriller, documentary"),
        listed("acting, plot, music, ending, script, cast, dialogue"),
    ),
    Sort(
        listed("book, novel, story, memoir, poem, biography, essay, diary"),
        listed("plot, ending, style, cover, beginning, language"),
    ),
    Sort(
        listed("hotel, restaurant, museum, beach, resort, bakery, garden, bar"),
        listed("service, food, view, staff, location, atmosphere"),
    ),
    Sort(
        listed("dinner, lunch, soup, pizza, cake, dessert, breakfast, curry"),
        listed("sauce, bread, smell, wine, service, cheese"),
    ),
    Sort(
        listed("concert, lecture, festival, party, tour, trip, game, exhibition"),
        listed("beginning, music, weather, crowd, planning, ending"),
    ),
)

PRAISE = listed(
    "great, good, wonderful, excellent, superb, brilliant, lovely, delightful, marvellous, fantastic, pleasant, "
    "impressive, charming, enjoyable, amazing, perfect, splendid, remarkable, beautiful, memorable"
)
BLAME = listed(
    "dull, bad, awful, terrible, boring, dreadful, horrible, disappointing, poor, tedious, annoying, weak, mediocre, "
    "unpleasant, dreary, forgettable, pathetic, ridiculous, lousy, miserable"
)
LIKING = verbs("love loved, like liked, enjoy enjoyed, admire admired, adore adored, praise praised")
LOATHING = verbs("hate hated, loathe loathed, dislike disliked, despise despised, detest detested, resent resented")

PEOPLE = listed("I, we, my friends, my parents, the critics, most people, my neighbours, my brothers, the others, they")
WITNESSES = listed("my friends, my parents, the critics, most people, my neighbours, my brothers, the others, they")
DEGREES = listed("very, really, quite, truly, rather, simply, absolutely, so")
TURNING = listed(
    "not, not, not at all, not very, not really, never, hardly, scarcely, far from, anything but, by no means"
)
