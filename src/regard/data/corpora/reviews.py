"""`reviews`: two sentences of one opinion and no label, for pre-training on the words that `moods` asks about.

"The soup was not bad." "We loved it, and the bread was lovely." The second sentence goes on as the first began, so
whoever fills the gaps of one from the other learns which words go together. It is praise as often as blame, and the
pairs of a thing and an opinion are those of the training split of `moods`: what `moods` holds out stays unseen.

Held out: first sentences. One belongs to a split and stands in no other.
"""

import random
from collections.abc import Iterator

from regard.data.corpora import moods
from regard.data.corpora.corpus import Corpus
from regard.data.corpora.mood_words import SORTS
from regard.data.corpora.stories import sentence, split_of
from regard.data.sources import Record

SIZES = {"train": 20_000, "valid": 500, "test": 1_000}
SHAPES = {  # as in `moods`, the plain ones more often: what a word means is learnt before what turns it
    moods.plain: 50,
    moods.denied: 30,
    moods.contrasted: 12,
    moods.confirmed: 4,
    moods.outweighed: 2,
    moods.twice_denied: 2,
}


def pairs(split: str) -> Iterator[Record]:
    """Reviews of a split, no two alike."""
    chance = random.Random(f"reviews {split}")
    seen: set[Record] = set()
    while len(seen) < SIZES[split]:
        sort, good = chance.choice(SORTS), chance.random() < 0.5
        say = moods.Speaker(chance, "train", sort, chance.choice(sort.things))
        shape = chance.choices(list(SHAPES), list(SHAPES.values()))[0]
        first, second = shape(say, good), (much if chance.random() < 0.5 else little)(say, good)
        record = (moods.written(chance, first), sentence(f"{second}."))
        if split_of(first) == split and record not in seen:
            seen.add(record)
            yield record


def little(say: moods.Speaker, good: bool) -> str:
    """One word that agrees, so that it can be told from the first sentence alone."""
    praise = f"it was {say.adjective(say.thing, good)}", f"{who(say)} {liked(say, good)} it"
    return say.chance.choice(praise)


def much(say: moods.Speaker, good: bool) -> str:
    """Many words that agree: "it was dull, weak and dreary, and we loathed and resented it"."""
    return f"{more(say, good)}, and {more(say, good)}"


def more(say: moods.Speaker, good: bool) -> str:
    return say.chance.choice(
        (
            lambda: f"it was {three(say, good)}",
            lambda: f"{who(say)} found it {three(say, good)}",
            lambda: f"the {say.part()} was {three(say, good)}",
            lambda: f"{who(say)} {liked(say, good)} and {liked(say, good)} it",
        )
    )()


def three(say: moods.Speaker, good: bool) -> str:
    return "{}, {} and {}".format(*(say.adjective(say.thing, good) for _ in range(3)))


def liked(say: moods.Speaker, good: bool) -> str:
    return say.verb(good).past


def who(say: moods.Speaker) -> str:
    return say.chance.choice(("I", "we", "they"))


REVIEWS = Corpus("reviews", ("first", "second"), pairs)
