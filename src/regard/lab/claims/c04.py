"""C4: without positions self-attention cannot see order: "this movie is great", "is this movie great"."""

from itertools import product
from pathlib import Path

import torch

from regard.checkpoint import Run
from regard.data.corpora.mood_words import BLAME, PRAISE, SORTS
from regard.data.splits import splits
from regard.evaluate import evaluate
from regard.evaluate.classification import log_probabilities
from regard.lab.claims.experiment import Experiment, Found, Prediction
from regard.lab.claims.panels import Bars
from regard.lab.claims.trial import Arm, Row, Size, Trial
from regard.shapes import Float, Tensor

WITH, WITHOUT = "with positions", "without positions"
TOLD, ASKED = "statement", "question"
ORDER, MOODS = "statement or question", "praise or blame"
LECTURE = {TOLD: "this movie is great", ASKED: "is this movie great"}
EVERY = {"test": 23, "valid": 37}  # of the pairs of a thing and an opinion every so many; the rest is for training


def measure(trial: Trial) -> list[Row]:
    run = trial.train(*written(trial.folder))
    chances = asked(run, [run.tokenizer.encode(text) for text in LECTURE.values()])[:, run.labels.index(TOLD)]
    lecture = [{"text": text, "told": float(p)} for text, p in zip(LECTURE.values(), chances, strict=True)]
    return [scored(ORDER, run, trial.seed), *lecture, scored(MOODS, trial.train(), trial.seed)]


def written(folder: Path) -> tuple[str, ...]:
    """Files of statements and questions, and settings that name them. Both kinds have the same words, pair by pair."""
    things = [thing for sort in SORTS for thing in sort.things]
    lines: dict[str, list[str]] = {"train": [], "valid": [], "test": []}
    for number, (opinion, thing) in enumerate(product(PRAISE + BLAME, things)):  # the lecture's pair is the first
        split = next((name for name, every in EVERY.items() if number % every == 0), "train")
        for which, be in product(("this", "the"), ("is", "was")):
            lines[split].append(f"{which} {thing} {be} {opinion}\t{TOLD}\n{be} {which} {thing} {opinion}\t{ASKED}\n")
    for split, some in lines.items():
        (folder / f"{split}.tsv").write_text("text\tlabel\n" + "".join(some), encoding="utf-8")
    return tuple(f"data.{split}='{folder / split}.tsv'" for split in lines)


def scored(task: str, run: Run, seed: int) -> Row:
    return {"task": task, "right": evaluate([run])["accuracy"], "moved": moved(run, seed)}


def moved(run: Run, seed: int) -> float:
    """By how much the chance of a label changes when the words of a text change places, in the text where most."""
    found, _ = splits(run.recipe.data, ("text", "label"))
    texts, chance = [run.tokenizer.encode(text) for text, _ in found["test"]], torch.Generator().manual_seed(seed)
    mixed = [[text[i] for i in torch.randperm(len(text), generator=chance).tolist()] for text in texts]
    return float((asked(run, texts) - asked(run, mixed)).abs().max())


def asked(run: Run, texts: list[list[int]]) -> Float[Tensor, "n labels"]:
    return log_probabilities(run.model, run.tokenizer, texts).exp()


def ahead(of: Found, task: str) -> float:
    return of("right", WITH, task=task) - of("right", WITHOUT, task=task)


def most(of: Found, arm: str) -> float:
    return max(of("moved", arm, task=task) for task in (ORDER, MOODS))


EXPERIMENT = Experiment(
    id="C4",
    title="Order without positions",
    claim="Without positions self-attention cannot see order: this movie is great, is this movie great.",
    method="One encoder with and without positions learns to tell statements from questions of the same words (things "
    "and opinions of the test never stood together in training), and then the moods of sentences in which 'not' and "
    "'but' decide. Words of the test are shuffled, too.",
    refuted="without positions statements and questions are told apart, or with positions they are not",
    arms={WITH: Arm("bert-classifier"), WITHOUT: Arm("bert-classifier", "system.position='none'")},
    pair=True,
    settings=("system.dropout=0.0", "system.context=48", "data.records=0"),
    small=Size(
        *(36, "system.width=64", "system.depth=2", "system.hidden=128"),
        *("train.steps=900", "train.batch_tokens=768", "train.rate=2e-3"),
    ),
    full=Size(50, "system.width=256", "system.depth=4", "train.steps=1200", "train.batch_tokens=4096"),
    measure=measure,
    predictions=(
        Prediction(
            "statements and questions are told apart in at least 95 % of the cases with positions, and in 45 to 55 % "
            "without",
            lambda of: of("right", WITH, task=ORDER) >= 0.95 and 0.45 <= of("right", WITHOUT, task=ORDER) <= 0.55,
        ),
        Prediction(
            "without positions no chance of a label changes by more than 0.1 % when words are shuffled",
            lambda of: most(of, WITHOUT) <= 1e-3,
        ),
        Prediction(
            "moods are named right in at least 5 % more of the cases with positions",
            lambda of: ahead(of, MOODS) >= 0.05,
        ),
    ),
    tells=lambda of: (
        f"statements and questions of the same words are told apart in {of('right', WITH, task=ORDER):.0%} of the "
        f"cases with positions and in {of('right', WITHOUT, task=ORDER):.0%} without, moods in "
        f"{of('right', WITH, task=MOODS):.0%} and {of('right', WITHOUT, task=MOODS):.0%}; shuffled words change a "
        f"chance by up to {most(of, WITH):.0%} with and "
        + (f"{most(of, WITHOUT):.2%} without" if most(of, WITHOUT) >= 1e-4 else "less than 0.01% without")
    ),
    otherwise="a mask that hides the future: a decoder without positions knows at least how much it sees, which is "
    "more at every token; in an encoder nothing would",
    panels=(
        Bars(y="right", by="task", title="Told apart", names="task", label="share of the test"),
        Bars(y="told", by="text", title="The lecture's sentences", names="text", label="chance of a statement"),
        Bars(y="moved", by="task", title="Words shuffled", names="task", label="largest change of a chance"),
    ),
)
