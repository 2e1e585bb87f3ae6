"""`tags` and `trees`: sentences in which the place of a word tells what it is, with tags, brackets and dependencies.

"The guard watches the plays ." "The park guards play ." Three words in ten may be nouns or verbs, adjectives or verbs,
and only their neighbours tell. `tags` holds words and tags of Universal Dependencies, `trees` the same sentences and
their phrases in brackets, and `conllu` writes them with their dependencies.

Held out: pairs of words that hang together, such as a verb and its object, one of which is ambiguous. A pair belongs to
one split and hangs together in no other, whatever its words are there; each sentence of the test has one of its own.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar
from zlib import crc32

from regard.data.corpora import trees
from regard.data.corpora.corpus import Corpus
from regard.data.corpora.tag_words import (
    AMBIGUOUS,
    ANIMALS,
    CAUSES,
    CHANGES,
    DEEDS,
    EVENTS,
    FREQUENCIES,
    MANNERS,
    MODALS,
    MOVES,
    NAMES,
    NOUN,
    PEOPLE,
    PLACES,
    PRONOUNS,
    SIGHTS,
    THINGS,
    THOUGHTS,
    TRADES,
    WISHES,
    Noun,
    Verb,
)
from regard.data.corpora.trees import HEAD, Leaf, Phrase, Tree, phrase
from regard.data.sources import HEADS, Record, Source

SIZES = {"train": 12_000, "valid": 300, "test": 600}
LECTURE = ("chicken", "cross")
T = TypeVar("T")
OPEN = ("NOUN", "VERB", "ADJ", "ADV", "PROPN")
DIDNT = (("aux", Leaf("did", "do", "AUX")), ("advmod", Leaf("not", "not", "PART")))
POSSESSIVE = {"her": "she", "his": "he", "my": "I"}
PAST, PRESENT, BASE = "past", "present", "base"


def leaf(form: str, tag: str, lemma: str = "") -> Leaf:
    return Leaf(form, lemma or form, tag)


@dataclass(frozen=True)
class Subject:
    """Who or what a clause is about, whether it is more than one, and the verbs that it may have."""

    tree: Tree
    many: bool
    verbs: tuple[Verb, ...]


@dataclass(frozen=True)
class Speaker:
    """Draws the parts of one sentence."""

    chance: random.Random

    def one(self, options: Sequence[T]) -> T:
        return self.chance.choice(options)

    def maybe(self, share: float) -> bool:
        return self.chance.random() < share

    def noun_phrase(self, noun: Noun, *, many: bool, plain: bool = False) -> Phrase:
        """ "the old guard", "her park guards", "the dog that sleeps" """
        parts: list[tuple[str, Tree]] = []
        if self.maybe(0.3):
            parts.append(("amod", leaf(self.one(noun.sort.traits), "ADJ")))
        if noun.sort.speaks and self.maybe(0.25):
            parts.append(("compound", leaf(self.one(PLACES[:5] + EVENTS[:4]).one, "NOUN")))
        parts.append((HEAD, leaf(noun.many if many else noun.one, "NOUN", noun.one)))
        relation, article = self.article(next(trees.leaves(parts[0][1])).form, many)
        parts.insert(0, (relation, article))
        if not plain and noun.sort.lives and self.maybe(0.12):
            clause = self.predicate(Subject(article, many, MOVES + SIGHTS), plain=True)
            parts.append(("acl:relcl", phrase("SBAR", ("nsubj", leaf("that", "PRON")), (HEAD, clause))))
        return phrase("NP", *parts)

    def article(self, following: str, many: bool) -> tuple[str, Leaf]:
        word = self.one(("the",) * 5 + (("these", "those", "some") if many else ("a", "a", "this", "that", "every")))
        if self.maybe(0.15):
            word = self.one(tuple(POSSESSIVE))
            return "nmod:poss", leaf(word, "PRON", POSSESSIVE[word])
        if word == "a":
            return "det", leaf("an" if following[0] in "aeiou" else "a", "DET", "a")
        return "det", leaf(word, "DET", {"these": "this", "those": "that"}.get(word, word))

    def subject(self, *, plain: bool = False) -> Subject:
        """People most often, else an animal, a thing, somebody by name or a pronoun."""
        kind, many = self.chance.random(), self.maybe(0.4)
        if kind < 0.12:
            return Subject(phrase("NP", (HEAD, leaf(self.one(NAMES), "PROPN"))), False, DEEDS + TRADES + SIGHTS)
        if kind < 0.22:
            word = self.one(tuple(PRONOUNS))
            verbs = SIGHTS + MOVES if word == "it" else DEEDS + TRADES + SIGHTS
            return Subject(phrase("NP", (HEAD, leaf(word, "PRON"))), PRONOUNS[word], verbs)
        nouns, verbs = self.chance.choices(
            ((PEOPLE, DEEDS + SIGHTS + TRADES), (ANIMALS, SIGHTS + MOVES), (THINGS, CHANGES)), (6, 2, 2)
        )[0]
        return Subject(self.noun_phrase(self.one(nouns), many=many, plain=plain), many, verbs)

    def object(self, verb: Verb, *, plain: bool = False) -> Tree:
        return self.noun_phrase(self.one(verb.objects), many=self.maybe(0.4), plain=plain)

    def verb_phrase(self, verb: Verb, form: str, *, plain: bool = False) -> Phrase:
        """The verb with its object, or with where, when, how or like whom it is done."""
        parts: list[tuple[str, Tree]] = [(HEAD, leaf(getattr(verb, form), "VERB", verb.base))]
        if self.maybe(0.15):
            parts.insert(0, ("advmod", leaf(self.one(FREQUENCIES), "ADV")))
        if verb.objects:
            parts.append(("obj", self.object(verb, plain=plain)))
        if self.maybe(0.2):
            parts.append(("advmod", leaf(self.one(MANNERS), "ADV")))
        elif not plain and self.maybe(0.35):
            parts.append(("obl", self.aside()))
        return phrase("VP", *parts)

    def aside(self) -> Phrase:
        """ "near the park", "before the show", "like a guard" """
        words, nouns = self.one(
            ((("in", "near", "behind", "to"), PLACES), (("before", "after"), EVENTS), (("like", "with"), PEOPLE))
        )
        inner = self.noun_phrase(self.one(nouns), many=self.maybe(0.2), plain=True)
        return phrase("PP", ("case", leaf(self.one(words), "ADP")), (HEAD, inner))

    def predicate(self, subject: Subject, *, plain: bool = False) -> Phrase:
        """What the subject does, in some tense; denied, or with a modal."""
        verb, kind = self.one(subject.verbs), self.chance.random()
        if kind < 0.2:
            return self.with_helper(leaf(self.one(MODALS), "AUX"), verb, plain=plain)
        if kind < 0.28:
            helper = self.one(("did", "do" if subject.many else "does"))
            return self.with_helper(leaf(helper, "AUX", "do"), verb, denied=True, plain=plain)
        form = PAST if self.maybe(0.3) else BASE if subject.many else PRESENT
        return self.verb_phrase(verb, form, plain=plain)

    def with_helper(self, helper: Leaf, verb: Verb, *, denied: bool = False, plain: bool = False) -> Phrase:
        no = (("advmod", leaf("not", "PART")),) if denied else ()
        return phrase("VP", ("aux", helper), *no, (HEAD, self.verb_phrase(verb, BASE, plain=plain)))

    def clause(self, *, plain: bool = False) -> Phrase:
        subject = self.subject(plain=plain)
        return phrase("S", ("nsubj", subject.tree), (HEAD, self.predicate(subject, plain=plain)))


def ended(tree: Phrase, mark: str = ".") -> Phrase:
    return phrase(tree.label, *tree.parts, ("punct", leaf(mark, "PUNCT")))


def told(say: Speaker) -> Phrase:
    """ "The guard watches the plays ." """
    return ended(say.clause())


def asked(say: Speaker) -> Phrase:
    """ "Will the cook light the lamp ?" """
    subject = say.subject(plain=True)
    helper = say.one(("did", "do" if subject.many else "does", *MODALS))
    aux = leaf(helper, "AUX", helper if helper in MODALS else "do")
    verb = say.verb_phrase(say.one(subject.verbs), BASE, plain=True)
    return ended(phrase("S", ("aux", aux), ("nsubj", subject.tree), (HEAD, verb)), "?")


def commanded(say: Speaker) -> Phrase:
    """ "Water the plants ." """
    return ended(phrase("S", (HEAD, say.verb_phrase(say.one(DEEDS + SIGHTS), BASE))))


def explained(say: Speaker) -> Phrase:
    """ "The boys dance while the cook works ." """
    cause = phrase("SBAR", ("mark", leaf(say.one(CAUSES), "SCONJ")), (HEAD, say.clause(plain=True)))
    subject = say.subject(plain=True)
    does = say.predicate(subject, plain=True)
    return ended(phrase("S", ("nsubj", subject.tree), (HEAD, phrase("VP", *does.parts, ("advcl", cause)))))


def thought(say: Speaker) -> Phrase:
    """ "Mark knows that the guards play ." """
    that = phrase("SBAR", ("mark", leaf("that", "SCONJ")), (HEAD, say.clause(plain=True)))
    return governed(say, say.one(THOUGHTS), ("ccomp", that))


def wanted(say: Speaker) -> Phrase:
    """ "She wants to book the show ." """
    verb = say.verb_phrase(say.one(DEEDS + SIGHTS + TRADES), BASE, plain=True)
    return governed(say, say.one(WISHES), ("xcomp", phrase("VP", ("mark", leaf("to", "PART")), (HEAD, verb))))


def governed(say: Speaker, verb: Verb, *rest: tuple[str, Tree]) -> Phrase:
    """A clause of somebody whose verb governs another one."""
    many = say.maybe(0.4)
    subject = say.noun_phrase(say.one(PEOPLE), many=many, plain=True)
    form = PAST if say.maybe(0.3) else BASE if many else PRESENT
    does = phrase("VP", (HEAD, leaf(getattr(verb, form), "VERB", verb.base)), *rest)
    return ended(phrase("S", ("nsubj", subject), (HEAD, does)))


def described(say: Speaker) -> Phrase:
    """ "The light was too cool ." """
    noun, many = say.one(tuple(NOUN.values())), say.maybe(0.4)
    be, degree = say.one(("were", "are") if many else ("was", "is")), say.one(("too", "very", "so"))
    return ended(quality(say.noun_phrase(noun, many=many, plain=True), be, degree, say.one(noun.sort.traits)))


def quality(subject: Tree, be: str, degree: str, adjective: str) -> Phrase:
    what = phrase("ADJP", ("advmod", leaf(degree, "ADV")), (HEAD, leaf(adjective, "ADJ")))
    return phrase("S", ("nsubj", subject), (HEAD, phrase("VP", ("cop", leaf(be, "AUX", "be")), (HEAD, what))))


def joined(say: Speaker) -> Phrase:
    """ "The nurse rests and plans the visit ." """
    subject = say.subject(plain=True)
    form = PAST if say.maybe(0.3) else BASE if subject.many else PRESENT
    one, other = (say.verb_phrase(verb, form, plain=True) for verb in say.chance.sample(subject.verbs, 2))
    second = phrase("", ("cc", leaf("and", "CCONJ")), (HEAD, other))
    both = phrase("VP", (HEAD, one), ("conj", second))
    return ended(phrase("S", ("nsubj", subject.tree), (HEAD, both)))


def lecture() -> list[Tree]:
    """ "The chicken crosses the road ." and the lecture's own two sentences."""
    chicken, road = (
        phrase("NP", ("det", leaf("the", "DET")), (HEAD, leaf(noun, "NOUN"))) for noun in ("chicken", "road")
    )

    def crossing(form: str, *rest: tuple[str, Tree]) -> Phrase:
        return phrase("VP", (HEAD, leaf(form, "VERB", "cross")), ("obj", road), *rest)

    def refused(trait: str) -> Phrase:
        it = phrase("NP", (HEAD, leaf("it", "PRON")))
        cause = phrase("SBAR", ("mark", leaf("because", "SCONJ")), (HEAD, quality(it, "was", "too", trait)))
        return phrase("VP", *DIDNT, (HEAD, crossing("cross")), ("advcl", cause))

    does = (crossing("crosses"), refused("tired"), refused("wide"))
    return [trees.capital(ended(phrase("S", ("nsubj", chicken), (HEAD, each)))) for each in does]


SHAPES: dict[Callable[[Speaker], Phrase], int] = {
    told: 30,
    asked: 10,
    commanded: 10,
    explained: 14,
    thought: 10,
    wanted: 8,
    described: 8,
    joined: 10,
}


def ties(tree: Tree) -> set[tuple[str, str]]:
    """The pairs of content words, one of them ambiguous, of which one hangs on the other."""
    found = trees.arcs(tree)
    return {
        (min(word.lemma, other.lemma), max(word.lemma, other.lemma))
        for word, head, _ in found
        if head and word.tag in OPEN and (other := found[head - 1][0]).tag in OPEN
        if word.form.lower() in AMBIGUOUS or other.form.lower() in AMBIGUOUS
    }


def split_of(tie: tuple[str, str]) -> str:
    """Where a pair belongs: one in twenty to validation, two in twenty to the test, the rest to training."""
    if tie == LECTURE:
        return "test"
    residue = crc32(" ".join(tie).encode()) % 20
    return {0: "valid", 1: "test", 2: "test"}.get(residue, "train")


def sentences(split: str) -> Iterator[Tree]:
    """The trees of a split, no two alike; with a held-out pair they belong where the pair does."""
    say = Speaker(random.Random(f"tags {split}"))
    opening = lecture() if split == "test" else []
    yield from opening
    seen = {trees.words(tree) for tree in opening}
    while len(seen) < SIZES[split]:
        tree = trees.capital(say.chance.choices(list(SHAPES), list(SHAPES.values()))[0](say))
        homes = {split_of(tie) for tie in ties(tree)} - {"train"} or {"train"}
        if homes == {split} and (text := trees.words(tree)) not in seen:
            seen.add(text)
            yield tree


def tagged(split: str) -> Iterator[Record]:
    return ((trees.words(tree), trees.tags(tree)) for tree in sentences(split))


def bracketed(split: str) -> Iterator[Record]:
    return ((trees.words(tree), trees.brackets(tree)) for tree in sentences(split))


def conllu(split: str) -> Iterator[str]:
    """The sentences of `tags` as CoNLL-U, each with the empty line after it."""
    return (trees.conllu(tree, f"tags-{split}-{number}") for number, tree in enumerate(sentences(split), 1))


def parsed(split: str) -> Iterator[Record]:
    for tree in sentences(split):
        yield trees.words(tree), " ".join(str(head) for _, head, _ in trees.arcs(tree))


class Treebank(Corpus):
    """Sentences with tags or, where they are asked for, with the word that each word hangs on."""

    def source(self, split: str, columns: tuple[str, ...] = ()) -> Source:
        if HEADS not in columns:
            return super().source(split, columns)
        return Corpus(self.name, ("words", HEADS), parsed).source(split, columns)


TAGS = Treebank("tags", ("words", "tags"), tagged)
TREES = Corpus("trees", ("source", "target"), bracketed)
