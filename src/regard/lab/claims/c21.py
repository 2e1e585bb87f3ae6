"""C21: one-hot vectors carry no similarity, embeddings do."""

from itertools import permutations

import torch

from regard.data.corpora import story_words as stories
from regard.evaluate.words import Words
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.panels import Bars
from regard.lab.claims.trial import Row, Trial

ONE_HOT, DRAWN, LEARNT = "one-hot", "before training", "learnt"
KINDS = {
    "names": tuple(person.name for person in stories.PEOPLE),
    "colours": stories.COLOURS,
    "numbers": stories.NUMBERS,
    "days": stories.DAYS,
    "animals": stories.ANIMALS,
    "vehicles": stories.VEHICLES,
    "rooms": stories.ROOMS,
    "trades": tuple(job.name for job in stories.JOBS),
}
PLURALS = [(one, many) for one, many, _ in stories.GOODS]
ALIKE = 1e-5  # cosines that differ by less are the same
SAME, OTHER = "same kind", "other kind"
NEAREST, PLURAL = "nearest is of its kind", "apple : apples = pear : ?"


def measure(trial: Trial) -> list[Row]:
    words = Words.of(trial.train())
    if ONE_HOT in trial.arms:
        words = Words(torch.eye(len(words.pieces)), words.pieces)
    kinds = {words.row(word): kind for kind, each in KINDS.items() for word in each}
    rows = list(kinds)
    cosines = words.vectors[rows] @ words.vectors.T
    cosines[range(len(rows)), rows] = -torch.inf
    same = torch.tensor([[kinds[row] == kinds.get(other) for other in range(len(words.pieces))] for row in rows])
    known = torch.tensor([other in kinds for other in range(len(words.pieces))]) & cosines.isfinite()
    best = cosines > cosines.amax(1, keepdim=True) - ALIKE  # several where they are equally near
    asked = [list(map(words.row, (*one, *other))) for one, other in permutations(PLURALS, 2)]
    return [
        {"pair": SAME, "cosine": float(cosines[same & known].mean())},
        {"pair": OTHER, "cosine": float(cosines[~same & known].mean())},
        {"spread": float(cosines[known].max() - cosines[known].min())},
        {"asked": NEAREST, "right": float(((best & same).sum(1) / best.sum(1)).mean())},
        {"asked": PLURAL, "right": words.right(asked) / len(asked)},
    ]


def gap(of: Found, arm: str) -> float:
    return of("cosine", arm, pair=SAME) - of("cosine", arm, pair=OTHER)


def known(of: Found, arm: str) -> str:
    one, other = (of("cosine", arm, pair=pair) for pair in (SAME, OTHER))
    near, plurals = (of("right", arm, asked=asked) for asked in (NEAREST, PLURAL))
    return (
        f"the cosine is {one:.2f} within a kind and {other:.2f} across, {near:.0%} of the words are nearest to one of "
        f"their kind and {plurals:.0%} of the plurals are found"
    )


EXPERIMENT = Experiment(
    id="C21",
    title="One-hot vectors and embeddings",
    claim="One-hot vectors carry no similarity, embeddings do.",
    method="word2vec learns from two-sentence stories in which nobody says what is a colour and what a day. Then the "
    f"words of {len(KINDS)} kinds ({', '.join(KINDS)}) are compared: with each other, with their nearest words, and "
    "singulars with plurals.",
    refuted="words of one kind are no nearer to each other than others when vectors are learnt, or are when they are "
    "one-hot",
    arms={
        ONE_HOT: Arm("word2vec", "train.steps=1"),
        DRAWN: Arm("word2vec", "train.steps=1", "train.rate=1e-9"),
        LEARNT: Arm("word2vec"),
    },
    settings=("data.train=stories", "text.kind=wordpiece", "objective.subsample=0.01", "train.batch_tokens=4096"),
    small=Size(12, "train.steps=2000", "system.width=50"),
    full=Size(60, "train.steps=2000", "system.width=100"),
    measure=measure,
    predictions=(
        Prediction(
            "two words of one kind have a cosine at least 0.2 higher than others where vectors are learnt, and exactly "
            "the same where they are one-hot",
            lambda of: gap(of, LEARNT) >= 0.2 and of("spread", ONE_HOT) == 0,
        ),
        Prediction(
            "the nearest word is of the same kind for more than half of the words where vectors are learnt, and for "
            "less than a tenth where they are not",
            lambda of: (
                of("right", LEARNT, asked=NEAREST)
                > 0.5
                > 0.1
                > max(of("right", arm, asked=NEAREST) for arm in (ONE_HOT, DRAWN))
            ),
        ),
        Prediction(
            "the plural that an analogy asks for comes first in more than a quarter of the questions",
            lambda of: of("right", LEARNT, asked=PLURAL) > 0.25,
        ),
    ),
    tells=lambda of: f"learnt, {known(of, LEARNT)}; one-hot, {known(of, ONE_HOT)}",
    otherwise="for one-hot vectors nothing; learnt ones need texts in which words of a kind keep the same company",
    panels=(
        Bars(y="cosine", by="pair", title="How alike two words are", names="two words of", label="mean cosine"),
        Bars(y="right", by="asked", title="What can be asked of vectors", label="share of words"),
    ),
)
