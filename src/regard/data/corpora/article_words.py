"""The words of `articles`: people, towns, what somebody may be remembered for, and what else there is to say."""

from dataclasses import dataclass

from regard.data.corpora.story_words import DAYS, listed, people


@dataclass(frozen=True)
class Event:
    """What somebody may be remembered for: how a document tells it, how a summary does, and what it may be about."""

    told: tuple[str, ...]
    summed: str
    things: tuple[str, ...]


PEOPLE = people("Ada, Bella, Carla, Dora, Edith, Flora, Greta, Helen", "she her her") + people(
    "Adam, Boris, Conrad, Dylan, Ernst, Frank, Georg, Harold", "he him his"
)
TOWNS = listed("Bergen, Lyon, Ulm, Turin, Delft, Porto, Basel, Krakow, Ghent, Leeds, Graz, Dublin")

EVENTS = (  # in the order in which a summary tells them
    Event(
        (
            "For half a life {who} gave lessons in {what} at {where}",
            "Whoever learnt {what} in {where} learnt it from {who}",
        ),
        "taught {what} in {where}",
        listed("algebra, music, Latin, botany, chemistry, dancing"),
    ),
    Event(
        (
            "After years of saving, {who} opened a {what} in {where}",
            "An uncle paid for the {what} that {who} opened in {where}",
        ),
        "founded a {what} in {where}",
        listed("bakery, school, theatre, library, choir, bank"),
    ),
    Event(
        (
            "{who} sat before the {what} of {where} with brush and easel",
            "The best picture of the {what} of {where} is by {who}",
        ),
        "painted the {what} of {where}",
        listed("harbour, cathedral, bridge, castle, gate, tower"),
    ),
    Event(
        (
            "At night {who} worked on a {what} about {where}",
            "Of all verse and prose about {where} the {what} by {who} is best known",
        ),
        "wrote a {what} about {where}",
        listed("novel, poem, song, play, guide, hymn"),
    ),
    Event(
        (
            "While digging a well near {where}, {who} came upon a {what}",
            "Near {where} a {what} lay hidden until {who} stumbled over it",
        ),
        "discovered a {what} near {where}",
        listed("cave, mine, skeleton, treasure, volcano, temple"),
    ),
    Event(
        (
            "To general surprise {who} came first in the {what} of {where}",
            "In {where} the jury gave {who} the medal of the {what}",
        ),
        "won the {what} of {where}",
        listed("marathon, regatta, lottery, tournament, election, derby"),
    ),
    Event(
        (
            "On the way through {where} thieves took a {what} from {who}",
            "In an inn of {where} the {what} of {who} was suddenly gone",
        ),
        "lost a {what} in {where}",
        listed("ring, violin, trunk, diary, purse, watch"),
    ),
    Event(
        (
            "But for {who} the {what} would have been the end of {where}",
            "When the {what} came to {where}, {who} alone knew what to do",
        ),
        "saved {where} from the {what}",
        listed("flood, fire, famine, plague, storm, siege"),
    ),
)

OPENINGS = (
    "This is the story of {who}",
    "Here is what is known of {who}",
    "We tell what was done by {who}",
)
FILLERS = (
    "The road to the coast was {so} at that time of the year",
    "{person} and {friend} talked about the weather for a while and then about nothing at all",
    "On {day} the streets were {so}, and nobody was in a hurry",
    "Nobody could remember such a {so} winter",
    "{person} had never been to {town}, but that is another matter",
    "There is little to say about the village except that bread is cheap there",
    "{person} wrote to {friend} on {day} and got no answer",
    "Some people still speak of {person}, others of {friend}",
    "It was {so} in the valley, as it often is before {day}",
    "The bus from {town} was late again, and {person} waited with {friend}",
    "{person} would rather have stayed in bed than walk through the rain of {town}",
    "Behind the hills they tell other tales, but nobody believes them",
    "In the opinion of {person} the coffee was {so}",
    "{friend} asked {person} about the price of butter, and {person} shrugged",
    "Every {day} a letter came, and {person} read half of it",
    "A cousin of {person} lived upstairs and did not like the noise",
)
POOLS = {
    "person": tuple(person.name for person in PEOPLE),
    "friend": tuple(person.name for person in PEOPLE),
    "town": TOWNS,
    "day": DAYS,
    "so": listed("quiet, dusty, grey, crowded, cold, muddy, bright, pleasant, long, windy, dull, strange"),
}
