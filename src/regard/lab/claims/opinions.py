"""Praise and blame in files, for experiments that fine-tune: reviews without labels, and few sentences with them.

As `reviews` and `moods` have them, but with as few shapes of sentence as a size asks for, the plainest first: what a
word means is learnt in a minute, what turns it is not. Each seed learns from sentences of its own; what is asked of all
is the same.
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from regard.checkpoint import Run
from regard.data.corpora import moods, reviews
from regard.data.corpora.mood_words import SORTS
from regard.data.corpora.stories import split_of
from regard.lab.claims.trial import Arm, Trial

REVIEWS = {"train": 20_000, "valid": 200, "test": 2000}
HELD_OUT = {"valid": 60, "test": 3000}  # sentences with labels


def unlabelled(trial: Trial) -> tuple[str, ...]:
    """Settings that name files of reviews."""
    return written(trial, "reviews", REVIEWS, lambda split: pairs(split, trial.size["shapes"]))


def labelled(trial: Trial, examples: int) -> tuple[str, ...]:
    """Settings that name files of sentences with labels: so many to learn from."""
    counts = {"train": examples, **HELD_OUT}
    return written(trial, f"moods-{examples}", counts, lambda split: sentences(split, trial.size["shapes"], trial.seed))


def tuned(trial: Trial, body: Run, examples: int) -> Run:
    """What was read into, fine-tuned on so many labelled sentences."""
    shape = [setting for setting in trial.arm.settings if setting.startswith("system.")]
    steps = f"train.steps={trial.size['tuning']}", "train.rate=1e-3"
    return trial.train(*labelled(trial, examples), arm=Arm("bert-classifier", *shape, *steps), after=body)


def written(trial: Trial, name: str, counts: dict[str, int], rows: Callable[[str], Iterable[dict]]) -> tuple[str, ...]:
    files = {split: trial.folder / f"{name}-{split}.jsonl" for split in counts}
    for split, file in files.items():
        lines = [json.dumps(row) + "\n" for row in islice(rows(split), counts[split])]
        file.write_text("".join(lines), encoding="utf-8")
    return (*(f"data.{split}='{file}'" for split, file in files.items()), "data.records=0")


def pairs(split: str, shapes: int) -> Iterator[dict[str, str]]:
    """A sentence, and another that agrees with it."""
    for say, first, good in said(f"reviews {split}", "train", reviews.SHAPES, shapes):
        if split_of(first) == split:
            second = (reviews.much if say.chance.random() < 0.5 else reviews.little)(say, good)
            yield {"first": moods.written(say.chance, first), "second": f"{second[0].upper()}{second[1:]}."}


def sentences(split: str, shapes: int, seed: int) -> Iterator[dict[str, str]]:
    """No two alike."""
    drawn, seen = f"moods {split} {seed}" if split == "train" else f"moods {split}", set[str]()
    for say, text, good in said(drawn, split, moods.SHAPES, shapes):
        if text not in seen:
            seen.add(text)
            yield {"text": moods.written(say.chance, text), "label": moods.LABELS[good]}


def said(seed: str, split: str, shapes: Mapping[Any, int], count: int) -> Iterator[tuple[moods.Speaker, str, bool]]:
    """Who speaks, what, and whether it is praise; praise and blame in turn, without end."""
    chance, some, good = random.Random(f"opinions {seed}"), dict(islice(shapes.items(), count)), False
    while True:
        sort, good = chance.choice(SORTS), not good
        (shape,) = chance.choices(list(some), list(some.values()))
        say = moods.Speaker(chance, split, sort, chance.choice(sort.things))
        yield say, shape(say, good), good
