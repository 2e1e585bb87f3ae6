"""C20: the document table. Perplexity falls at each row as more of a document is read; ROUGE-L rises overall."""

import json
import math
import random
import re
from itertools import pairwise

from regard.data.corpora.articles import drawn_document
from regard.lab.claims.experiment import Arm, Experiment, Found, Prediction, Size
from regard.lab.claims.panels import Bars
from regard.lab.claims.tables import rows
from regard.lab.claims.trial import Row, Trial

ROWS = RECURRENT, BOTH, DECODER, LONG, EXPERTS = (
    *("seq2seq-attention", "transformer-ed"),
    *("transformer-d", "dmca", "dmca-moe"),
)
LENGTHS = dict(zip(ROWS, (500, 500, 4000, 11_000, 7500), strict=True))  # tokens that the lectures' table gives them
SUMMARY = 66  # tokens of the longest, with the symbols around it


def measure(trial: Trial) -> list[Row]:
    """`regard compare` of those that read and write apart, and of those that go on writing; one budget for all."""
    reads = {name: LENGTHS[name] // trial.size["shorter"] for name in ROWS}
    apart = {name: trial.arms[name] for name in (RECURRENT, BOTH)}
    room = {name: f"system.context={reads[name] + SUMMARY}" for name in (DECODER, LONG, EXPERTS)}
    depth = f"system.depth={trial.size['depth']}"
    going_on = {name: Arm(name, *trial.arms[name].settings, depth, tokens) for name, tokens in room.items()}
    as_many = f"train.batch_tokens={trial.size['apart']}"  # summaries a step as those who read more have
    found = [
        *rows(trial, apart, as_many, *written(trial, "beginnings", reads[RECURRENT]), name="apart"),
        *rows(trial, going_on, *written(trial, "documents", 0), name="going-on"),
    ]
    return [
        {**row, "reads": reads[row["arm"]], "perplexity": math.exp(scores["loss"]), "rouge": scores["rouge_l"]}
        | {"scored": scores["tokens"]}
        for row, scores in found
    ]


def written(trial: Trial, name: str, most: int) -> tuple[str, ...]:
    """Settings that name files of documents, the same for every table; with `most` their first so many tokens."""
    place, least, words = trial.folder / name, 30, trial.size["words"]
    place.mkdir()
    counts = {"train": (trial.size["documents"], least), "valid": (20, least), "test": (trial.size["tests"], words)}
    for split, (count, short) in counts.items():
        chance = random.Random(f"C20 {split}")
        made = (drawn_document(chance, split, short, words) for _ in range(count))
        lines = (json.dumps({"source": cut(source, most), "target": target}) + "\n" for source, target in made)
        (place / f"{split}.jsonl").write_text("".join(lines), encoding="utf-8")
    return tuple(f"data.{split}='{place / split}.jsonl'" for split in counts)


def cut(text: str, most: int) -> str:
    """Its first words and marks; the whole where `most` is 0."""
    ends = [found.end() for found in re.finditer(r"\w+|[^\w\s]", text)]
    return text[: ends[most - 1]] if 0 < most < len(ends) else text


def told(of: Found) -> str:
    each = (f"{of('perplexity', row):.2f} and {of('rouge', row):.1f} of {row} ({of('reads', row):.0f})" for row in ROWS)
    return f"perplexity and ROUGE-L (tokens read) are {', '.join(each)}"


def falls(of: Found, *rows: str) -> bool:
    return all(of("perplexity", after) < of("perplexity", before) for before, after in pairwise(rows))


SHORT = {"shorter": 100, "words": 95, "documents": 4000, "tests": 60, "depth": 3, "apart": 270}
MIDDLE = {"shorter": 30, "words": 320, "documents": 8000, "tests": 100, "depth": 5, "apart": 640}
EXPERIMENT = Experiment(
    id="C20",
    title="The document table",
    claim="Perplexity falls at each row of the document table, from an RNN with attention to compressed attention with "
    "experts; ROUGE-L rises overall, though the decoder alone is under the encoder-decoder.",
    method="`regard compare`: five systems sum up documents (articles), those of the test equally long. Each reads as "
    "much of them as in the lectures' table, in proportion, and learns from the same number of tokens of summaries in "
    "about as many steps.",
    refuted="the last row's perplexity is not a twentieth under the first's, or its ROUGE-L not 2 higher",
    arms={name: Arm(name) for name in ROWS},
    settings=(
        *("data.too_long=truncate", "text.kind=wordpiece", "system.dropout=0.0", "decode.max_tokens=64"),
        "objective.smoothing=0.0",  # a perplexity is that of one way to train
    ),
    small=Size(
        *(120, "system.width=64", "train.batch_tokens=1000"),
        **SHORT | {"tokens": 150_000, "jobs": 2},
    ),
    full=Size(
        *(800, "system.width=128", "train.batch_tokens=3000"),
        **MIDDLE | {"tokens": 200_000, "jobs": 15},
    ),
    together=True,
    timed=("seconds",),
    measure=measure,
    predictions=(
        Prediction(
            "from the first row to the last perplexity falls by a twentieth at least and ROUGE-L rises by 2",
            lambda of: (
                of("perplexity", EXPERTS) <= 0.95 * of("perplexity", RECURRENT)
                and of("rouge", EXPERTS) >= of("rouge", RECURRENT) + 2
            ),
        ),
        Prediction("perplexity falls at each row", lambda of: falls(of, *ROWS)),
        Prediction(
            "ROUGE-L of the decoder alone is under that of the row above",
            lambda of: of("rouge", DECODER) < of("rouge", BOTH),
        ),
    ),
    tells=told,
    otherwise="training long enough to learn to copy from afar, which compressed attention learns late; experts gain "
    "with more text than a small model can hold",
    panels=(
        Bars(y="perplexity", title="Unseen documents", label="perplexity of a summary's token"),
        Bars(y="rouge", title="What is written", label="ROUGE-L"),
        Bars(y="reads", title="Input", label="tokens read of a document"),
    ),
)
