"""The words of `road`: who acts, what is crossed, entered, climbed or swum through, and which adjective fits which.

Every actor is "it" in English; in German its grammatical gender says er, sie or es, and so it is with every thing. No
adjective of an actor fits a thing, none of a thing fits an actor, and none lets "it" stand for nothing at all: "dark"
and "slippery" are left out, because "it was too dark" may speak of no noun.
"""

from dataclasses import dataclass
from enum import IntEnum


class Case(IntEnum):
    """What a noun is to its verb; the number is the place of its article in `Gender.articles`."""

    NOMINATIVE = 0
    ACCUSATIVE = 1
    DATIVE = 2


@dataclass(frozen=True)
class Gender:
    """The articles by case, the ending of an adjective by case, and the pronoun."""

    articles: tuple[str, str, str]
    endings: tuple[str, str, str]
    pronoun: str


DER = Gender(("der", "den", "dem"), ("e", "en", "en"), "er")
DIE = Gender(("die", "die", "der"), ("e", "e", "en"), "sie")
DAS = Gender(("das", "das", "dem"), ("e", "e", "en"), "es")


@dataclass(frozen=True)
class Noun:
    english: str
    german: str
    gender: Gender

    def phrase(self, case: Case, trait: "Adjective | None" = None) -> str:
        """With its article, and with an adjective between them if there is one."""
        before = f"{trait.stem}{self.gender.endings[case]} " if trait else ""
        return f"{self.gender.articles[case]} {before}{self.german}"


@dataclass(frozen=True)
class Adjective:
    """`stem` is what the endings are put on: müde, müd-."""

    english: str
    german: str
    stem: str


@dataclass(frozen=True)
class Inflected:
    """The forms of a verb, in either language; `helper` makes the perfect."""

    base: str
    present: str
    past: str
    done: str
    helper: str


@dataclass(frozen=True)
class Verb:
    """What is done to a thing; `particle` ("across") and `preposition` ("über") tie it to its object."""

    english: Inflected
    german: Inflected
    case: Case
    particle: str = ""
    preposition: str = ""


@dataclass(frozen=True)
class Place:
    """Things of one sort, what can be done to them, and the adjectives that fit them."""

    things: tuple[Noun, ...]
    verbs: tuple[Verb, ...]
    adjectives: tuple[Adjective, ...]


def nouns(*, der: str, die: str, das: str) -> tuple[Noun, ...]:
    """Written as "dog Hund, hare Hase"."""
    lists = ((DER, der), (DIE, die), (DAS, das))
    rows = [(gender, row.split()) for gender, listed in lists for row in listed.split(",")]
    return tuple(Noun(english, german, gender) for gender, (english, german) in rows)


def adjectives(listed: str) -> tuple[Adjective, ...]:
    """Written as "tired müde müd, hungry hungrig"; the stem is given only where it differs from the word."""
    rows = [row.split() for row in listed.split(",")]
    return tuple(Adjective(row[0], row[1], row[-1]) for row in rows)


def verb(english: str, german: str, case: Case, *, particle: str = "", preposition: str = "") -> Verb:
    """Written as base, present, past, participle; the German one also with its helper."""
    return Verb(Inflected(*f"{english} has".split()), Inflected(*german.split()), case, particle, preposition)


CROSS = verb("cross crosses crossed crossed", "überqueren überquert überquerte überquert hat", Case.ACCUSATIVE)
ENTER = verb("enter enters entered entered", "betreten betritt betrat betreten hat", Case.ACCUSATIVE)
EXPLORE = verb("explore explores explored explored", "erkunden erkundet erkundete erkundet hat", Case.ACCUSATIVE)
CLIMB = verb("climb climbs climbed climbed", "erklimmen erklimmt erklomm erklommen hat", Case.ACCUSATIVE)
REACH = verb("reach reaches reached reached", "erreichen erreicht erreichte erreicht hat", Case.ACCUSATIVE)
TRUST = verb("trust trusts trusted trusted", "trauen traut traute getraut hat", Case.DATIVE)
ESCAPE = verb("escape escapes escaped escaped", "entkommen entkommt entkam entkommen ist", Case.DATIVE, particle="from")
RUN = verb("run runs ran run", "laufen läuft lief gelaufen ist", Case.ACCUSATIVE, particle="across", preposition="über")
STAY = verb(
    "stay stays stayed stayed", "bleiben bleibt blieb geblieben ist", Case.DATIVE, particle="on", preposition="auf"
)
SWIM = verb(
    "swim swims swam swum",
    "schwimmen schwimmt schwamm geschwommen ist",
    Case.ACCUSATIVE,
    particle="through",
    preposition="durch",
)
AVOID = verb("avoid avoids avoided avoided", "meiden meidet mied gemieden hat", Case.ACCUSATIVE)
LEAVE = verb("leave leaves left left", "verlassen verlässt verließ verlassen hat", Case.ACCUSATIVE)
SHUNNING = (AVOID, LEAVE)  # done to any thing, and for the reasons for which the others are not done

ACTORS = nouns(
    der="dog Hund, hare Hase, fox Fuchs, wolf Wolf, bear Bär, hedgehog Igel, frog Frosch, donkey Esel, lion Löwe, "
    "tiger Tiger, monkey Affe, elephant Elefant, rooster Hahn, turkey Truthahn, swan Schwan, beetle Käfer, "
    "badger Dachs, beaver Biber, peacock Pfau, ostrich Strauß, stork Storch, puppy Welpe",
    die="cat Katze, cow Kuh, goat Ziege, mouse Maus, duck Ente, goose Gans, rat Ratte, turtle Schildkröte, "
    "snake Schlange, owl Eule, snail Schnecke, bee Biene, ant Ameise, spider Spinne, crow Krähe, pigeon Taube, "
    "giraffe Giraffe, lizard Eidechse, toad Kröte, hyena Hyäne, antelope Antilope, seal Robbe",
    das="chicken Huhn, horse Pferd, sheep Schaf, pig Schwein, calf Kalb, lamb Lamm, rabbit Kaninchen, "
    "squirrel Eichhörnchen, camel Kamel, deer Reh, zebra Zebra, crocodile Krokodil, rhino Nashorn, hippo Nilpferd, "
    "kangaroo Känguru, chick Küken, pony Pony, foal Fohlen, piglet Ferkel, weasel Wiesel, llama Lama, reindeer Rentier",
)
MOODS = adjectives(
    "tired müde müd, hungry hungrig, thirsty durstig, scared ängstlich, sick krank, lazy faul, shy scheu, "
    "sleepy schläfrig, nervous nervös, exhausted erschöpft, clumsy ungeschickt, impatient ungeduldig, "
    "cautious vorsichtig, stubborn stur, proud stolz, confused verwirrt"
)

OPEN = Place(
    nouns(
        der="sidewalk Gehweg, path Pfad, quay Kai, beach Strand, lawn Rasen, footbridge Steg",
        die="road Straße, bridge Brücke, meadow Wiese, avenue Allee, highway Autobahn, terrace Terrasse",
        das="field Feld, track Gleis, airfield Flugfeld, plateau Plateau, deck Deck, site Gelände",
    ),
    (CROSS, RUN, STAY),
    adjectives("wide breit, bumpy holprig, uneven uneben, crowded überfüllt"),
)
INSIDE = Place(
    nouns(
        der="cellar Keller, stable Stall, tunnel Tunnel, shed Schuppen, palace Palast, hall Saal",
        die="barn Scheune, hut Hütte, kitchen Küche, garage Garage, church Kirche, library Bibliothek",
        das="house Haus, castle Schloss, room Zimmer, museum Museum, theatre Theater, office Büro",
    ),
    (ENTER, EXPLORE, ESCAPE),
    adjectives("narrow eng, crowded überfüllt, dilapidated baufällig, spacious geräumig"),
)
HEIGHT = Place(
    nouns(
        der="mountain Berg, hill Hügel, rock Felsen, tower Turm, slope Hang, fence Zaun",
        die="wall Mauer, ladder Leiter, staircase Treppe, dune Düne, pyramid Pyramide, ramp Rampe",
        das="roof Dach, scaffold Gerüst, monument Denkmal, gate Tor, platform Podest, cliff Kliff",
    ),
    (CLIMB, REACH, TRUST),
    adjectives("steep steil, high hoch hoh, smooth glatt, unstable instabil"),
)
WATER = Place(
    nouns(
        der="river Fluss, stream Bach, lake See, pond Teich",
        die="bay Bucht, lagoon Lagune, puddle Pfütze, strait Meerenge",
        das="sea Meer, pool Becken, delta Delta, reservoir Reservoir",
    ),
    (CROSS, SWIM, TRUST),
    adjectives("deep tief, wide breit, shallow seicht, murky trüb"),
)
PLACES = (OPEN, INSIDE, HEIGHT, WATER)
PLACE_OF = {thing: place for place in PLACES for thing in place.things}
THINGS = tuple(PLACE_OF)
