"""`road` and `road-long`: English to German around "The chicken didn't cross the road because it was too tired / wide."

"It" is the chicken when tired and the road when wide, and German says which: es (das Huhn) or sie (die Straße). So a
right translation shows that "it" was resolved; nothing but the adjective tells. Sentences differ in verb, tense,
conjunction and order of clauses, and some have no such "it".

Held out: whole pairs of actor and thing. A pair belongs to one split and stands in no other, whatever a sentence says
of it, while each noun by itself stands in the training sentences. The chicken and the road are a pair of the test.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

from regard.data.corpora.corpus import Corpus
from regard.data.corpora.road_words import (
    ACTORS,
    CROSS,
    MOODS,
    PLACE_OF,
    SHUNNING,
    THINGS,
    Adjective,
    Case,
    Noun,
    Verb,
)
from regard.data.sources import Record

SIZES = {"train": 16_000, "valid": 300, "test": 600}
PASSAGES = {"train": 8_000, "valid": 200, "test": 300}

Pair = tuple[str, str]  # a word in English and in German


@dataclass(frozen=True)
class Form:
    """A tense or a modal: the English verb, plain and negated, both parts of the German one, and the fitting "be"."""

    affirmed: str
    negated: str
    finite: str
    final: str
    be: Pair


WAS, IS = ("was", "war"), ("is", "ist")
PAST = Form("{0.past}", "didn't {0.base}", "{0.past}", "", WAS)
PRESENT = Form("{0.present}", "doesn't {0.base}", "{0.present}", "", IS)
PERFECT = Form("has {0.done}", "hasn't {0.done}", "{0.helper}", "{0.done}", WAS)
FUTURE = Form("will {0.base}", "won't {0.base}", "wird", "{0.base}", IS)
WISH = Form("wanted to {0.base}", "didn't want to {0.base}", "wollte", "{0.base}", WAS)
CAN = Form("can {0.base}", "can't {0.base}", "kann", "{0.base}", IS)
COULD = Form("could {0.base}", "couldn't {0.base}", "konnte", "{0.base}", WAS)
DOING = (PAST, PRESENT, PERFECT, FUTURE, WISH)
FORMS = (*DOING, CAN, COULD)

BECAUSE, SINCE, ALTHOUGH = ("because", "weil"), ("since", "da"), ("although", "obwohl")
TOO, VERY, SO, QUITE = ("too", "zu"), ("very", "sehr"), ("so", "so"), ("quite", "ziemlich")
CAUSES, ENOUGH, MUCH = (BECAUSE, BECAUSE, SINCE), (TOO, TOO, VERY, SO), (VERY, SO, QUITE)
DAYS = (
    ("yesterday", "gestern", PAST),
    ("today", "heute", PERFECT),
    ("tomorrow", "morgen", FUTURE),
    ("every day", "jeden Tag", PRESENT),
)


@dataclass(frozen=True)
class Event:
    """The main clause: an actor does something to a thing, or does not."""

    actor: Noun
    thing: Noun
    verb: Verb
    form: Form
    negated: bool = False
    traits: tuple[Adjective | None, Adjective | None] = (None, None)

    def english(self, subject: str = "") -> str:
        """`subject` replaces the actor's name."""
        does = (self.form.negated if self.negated else self.form.affirmed).format(self.verb.english)
        subject = subject or the(self.actor, self.traits[0])
        return words(subject, does, self.verb.particle, the(self.thing, self.traits[1]))

    def german(self, subject: str = "", *, inverted: bool = False) -> str:
        """The verb stands second; `inverted`, when something else came first, so that the subject follows the verb."""
        subject = subject or self.actor.phrase(Case.NOMINATIVE, self.traits[0])
        finite = self.form.finite.format(self.verb.german)
        opening = (finite, subject) if inverted else (subject, finite)
        return words(*opening, self.german_rest())

    def german_rest(self) -> str:
        """What follows verb and subject: "nicht" stands after a plain object and before one with a preposition."""
        thing = self.thing.phrase(self.verb.case, self.traits[1])
        no = "nicht" if self.negated else ""
        final = self.form.final.format(self.verb.german)
        if self.verb.preposition:
            return words(no, self.verb.preposition, thing, final)
        return words(thing, no, final)


@dataclass(frozen=True)
class Reason:
    """The subordinate clause: what is true of one of the two nouns, said with a pronoun or, if `named`, the noun."""

    conjunction: Pair
    about: Noun
    degree: Pair
    adjective: Adjective
    be: Pair
    named: bool = False

    def english(self) -> str:
        subject = the(self.about) if self.named else "it"
        return words(self.conjunction[0], subject, self.be[0], self.degree[0], self.adjective.english)

    def german(self) -> str:
        """The verb stands last."""
        subject = self.about.phrase(Case.NOMINATIVE) if self.named else self.about.gender.pronoun
        return words(self.conjunction[1], subject, self.degree[1], self.adjective.german, self.be[1])


def the(noun: Noun, trait: Adjective | None = None) -> str:
    return words("the", trait.english if trait else "", noun.english)


def words(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def joined(event: Event, reason: Reason, *, reason_first: bool) -> Record:
    if reason_first:
        english = f"{reason.english()}, {event.english()}"
        german = f"{reason.german()}, {event.german(inverted=True)}"
    else:
        english = f"{event.english()} {reason.english()}"
        german = f"{event.german()}, {reason.german()}"
    return sentence(english), sentence(german)


def refused(chance: random.Random, actor: Noun, thing: Noun) -> Record:
    """Not done, because. "The chicken didn't cross the road because it was too tired." """
    event = Event(actor, thing, chance.choice(PLACE_OF[thing].verbs), chance.choice(FORMS), negated=True)
    return explained(chance, event, chance.choice(CAUSES), chance.choice(ENOUGH))


def shunned(chance: random.Random, actor: Noun, thing: Noun) -> Record:
    """Avoided or left, because. "The chicken avoided the road because it was too wide." """
    event = Event(actor, thing, chance.choice(SHUNNING), chance.choice(DOING))
    return explained(chance, event, chance.choice(CAUSES), chance.choice(ENOUGH))


def dared(chance: random.Random, actor: Noun, thing: Noun) -> Record:
    """Done, although. "Although it was very tired, the chicken crossed the road." """
    event = Event(actor, thing, chance.choice(PLACE_OF[thing].verbs), chance.choice(DOING))
    return explained(chance, event, ALTHOUGH, chance.choice(MUCH))


def explained(chance: random.Random, event: Event, conjunction: Pair, degree: Pair) -> Record:
    """The event with a reason: "it" is as often the actor as the thing, and one in ten names the thing once more."""
    named = chance.random() < 0.1
    about = event.thing if named else chance.choice((event.actor, event.thing))
    fitting = MOODS if about is event.actor else PLACE_OF[about].adjectives
    reason = Reason(conjunction, about, degree, chance.choice(fitting), event.form.be, named)
    # "hasn't crossed the road since it was tired" would speak of time, so "since" only opens a sentence
    return joined(event, reason, reason_first=conjunction is SINCE or chance.random() < 0.3)


def described(chance: random.Random, actor: Noun, thing: Noun) -> Record:
    """No pronoun: the adjectives stand at their nouns. "Yesterday the tired chicken crossed the wide road." """
    place = PLACE_OF[thing]
    verb = chance.choice((*place.verbs, *SHUNNING))
    traits = (chance.choice(MOODS), chance.choice(place.adjectives))
    if chance.random() < 0.5:
        english, german, form = chance.choice(DAYS)
        event = Event(actor, thing, verb, form, traits=traits)
        return sentence(f"{english} {event.english()}"), sentence(f"{german} {event.german(inverted=True)}")
    event = Event(actor, thing, verb, chance.choice(FORMS), chance.random() < 0.5, traits)
    return sentence(event.english()), sentence(event.german())


def contrasted(chance: random.Random, actor: Noun, thing: Noun) -> Record:
    """A pronoun that can be only one noun: "The chicken was very tired, but it crossed the road." """
    event = Event(actor, thing, chance.choice(PLACE_OF[thing].verbs), chance.choice(DOING))
    mood, degree = chance.choice(MOODS), chance.choice(MUCH)
    english = words(the(actor), event.form.be[0], degree[0], mood.english)
    german = words(actor.phrase(Case.NOMINATIVE), event.form.be[1], degree[1], mood.german)
    return (
        sentence(f"{english}, but {event.english('it')}"),
        sentence(f"{german}, aber {event.german(actor.gender.pronoun)}"),
    )


def lecture() -> list[Record]:
    """The lecture's own two sentences."""
    actor, thing = LECTURE
    event = Event(actor, thing, CROSS, PAST, negated=True)
    tired, wide = MOODS[0], PLACE_OF[thing].adjectives[0]
    reasons = (Reason(BECAUSE, about, TOO, trait, WAS) for about, trait in ((actor, tired), (thing, wide)))
    return [joined(event, reason, reason_first=False) for reason in reasons]


ACTOR = {noun.english: noun for noun in ACTORS}
THING = {noun.english: noun for noun in THINGS}
LECTURE = (ACTOR["chicken"], THING["road"])
SHAPES = {refused: 42, shunned: 10, dared: 18, described: 20, contrasted: 10}


def split_of(actor: Noun, thing: Noun) -> str:
    """Where a pair belongs: one in twenty to validation, two in twenty to the test, the rest to training."""
    if (actor, thing) == LECTURE:
        return "test"
    residue = crc32(f"{actor.english} {thing.english}".encode()) % 20
    return {0: "valid", 1: "test", 2: "test"}.get(residue, "train")


def said(chance: random.Random, actor: Noun, thing: Noun) -> Record:
    shape = chance.choices(list(SHAPES), list(SHAPES.values()))[0]
    return shape(chance, actor, thing)


def pairs(split: str) -> Iterator[Record]:
    """Sentences of a split, no two alike; the lecture's own open the test."""
    chance = random.Random(f"road {split}")
    opening = lecture() if split == "test" else []
    yield from opening
    seen = set(opening)
    while len(seen) < SIZES[split]:
        actor, thing = chance.choice(ACTORS), chance.choice(THINGS)
        if split_of(actor, thing) != split or (record := said(chance, actor, thing)) in seen:
            continue
        seen.add(record)
        yield record


def passages(split: str) -> Iterator[Record]:
    """Two to six sentences in a row, no noun twice."""
    chance = random.Random(f"road-long {split}")
    seen: set[Record] = set()
    while len(seen) < PASSAGES[split]:
        record = passage(chance, split, chance.randint(2, 6))
        if record not in seen:
            seen.add(record)
            yield record


def passage(chance: random.Random, split: str, length: int) -> Record:
    used: list[Noun] = []
    sentences: list[Record] = []
    while len(sentences) < length:
        actor, thing = chance.choice(ACTORS), chance.choice(THINGS)
        if split_of(actor, thing) == split and actor not in used and thing not in used:
            used += (actor, thing)
            sentences.append(said(chance, actor, thing))
    source, target = zip(*sentences, strict=True)
    return " ".join(source), " ".join(target)


def sentences(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"[.!?]", text) if part.strip()]


def decisive(source: str) -> list[str | None]:
    """For each sentence the German pronoun that "it" must become, where nothing but the adjective decides it.

    None where there is no such "it", or where both nouns have the same gender, so that either gives the same pronoun.
    """
    return [deciding_pronoun(part.lower()) for part in sentences(source)]


REFERRING = re.compile(r"\b(?:because|since|although) it (?:is|was) (?:too|very|so|quite) (\w+)")


def deciding_pronoun(text: str) -> str | None:
    clause, spoken = REFERRING.search(text), re.findall(r"\w+", text)
    actors = [ACTOR[word] for word in spoken if word in ACTOR]
    things = [THING[word] for word in spoken if word in THING]
    if clause is None or (len(actors), len(things)) != (1, 1) or actors[0].gender == things[0].gender:
        return None
    for noun, fitting in ((actors[0], MOODS), (things[0], PLACE_OF[things[0]].adjectives)):
        if clause[1] in (adjective.english for adjective in fitting):
            return noun.gender.pronoun
    return None


ROAD = Corpus("road", ("source", "target"), pairs)
ROAD_LONG = Corpus("road-long", ("source", "target"), passages)
