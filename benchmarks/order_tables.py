"""The tables of order and length: what each trains, in what its rows differ, and on what they are measured."""

from dataclasses import dataclass, replace
from typing import Any

ATTENTIONS: dict[str, dict[str, Any]] = {
    "full": {},
    "bigbird": {"block": 4, "first": 1, "near": 1, "random": 1},
    "linformer": {"projected": 16},
    "local": {"block": 8},
    "dmca": {"block": 8, "stride": 3},
}
POSITIONS = ("none", "sinusoidal", "learned", "rotary", "buckets", "alibi", "shaw")
BESIDE_TREES = ("shaw", "syntax")  # the same distances in the line, without and with those in the tree
ENCODER = {"kind": "bert", "width": 128, "heads": 4, "hidden": 128, "norm": "pre", "segments": 1, "dropout": 0.0}
DECODER = {"kind": "gpt", "width": 128, "heads": 4, "hidden": 256, "dropout": 0.0}
READER = {**ENCODER, "depth": 3, "pool": "max", "position": "rotary", "context": 36}
LETTERS = (16, 24, 32, 64)  # of the longest row of training, then of rows that are longer
WINDOWS = (64, 96, 128, 256)  # the same in characters


@dataclass(frozen=True)
class Table:
    """Runs that differ in `variants` alone, trained on `stages` (data and steps), measured on `tests` by their column.

    A test is data and the context to read them with; `score` is what `evaluate` tells of them.
    """

    about: str
    variants: dict[str, dict[str, Any]]
    system: dict[str, Any]
    objective: dict[str, Any]
    text: str
    stages: tuple[tuple[str, int], ...]
    tests: dict[str, tuple[str, int]]
    score: str = "accuracy"


BY_ATTENTION = {name: {"attention": name, **settings} for name, settings in ATTENTIONS.items()}
BY_POSITION = {name: {"position": name} for name in POSITIONS}
RECALL = Table(
    about="recall: accuracy by the number of pairs",
    variants=BY_ATTENTION,
    system=READER,
    objective={"kind": "classification"},
    text="word",
    stages=(("recall:2-4", 900), ("recall:2-16", 700)),
    tests={str(n): (f"recall:{n}", 36) for n in (4, 8, 16)},
)
LISTS = replace(
    RECALL,
    about="listops: accuracy by the number of words",
    stages=(("listops:4-8", 500), ("listops:4-32", 1000)),
    tests={str(n): (f"listops:{n}", 36) for n in (8, 16, 32)},
)
BEFORE = Table(
    about=f"before: accuracy by the number of letters; up to {LETTERS[0]} in training",
    variants=BY_POSITION,
    system={**ENCODER, "depth": 2, "context": LETTERS[0] + 2},
    objective={"kind": "tagging"},
    text="word",
    stages=(("before-{split}.tsv", 600),),
    tests={str(n): (f"before-{n}.tsv", n + 2) for n in LETTERS},
)
TABLES = {
    "recall": RECALL,
    "lists": LISTS,
    "recall-positions": replace(
        RECALL,
        about="recall: accuracy by the number of pairs; up to 16 in training",
        variants=BY_POSITION,
        tests={**RECALL.tests, **{str(n): (f"recall:{n}", 2 * n + 4) for n in (24, 32)}},
    ),
    "lists-positions": replace(
        LISTS,
        about="listops: accuracy by the number of words; up to 32 in training",
        variants=BY_POSITION,
        tests={**LISTS.tests, **{str(n): (f"listops:{n}", n + 4) for n in (48, 64)}},
    ),
    "text": Table(
        about=f"text: nats per character by the window that is read; {WINDOWS[0]} in training",
        variants=BY_POSITION,
        system={**DECODER, "depth": 2, "context": WINDOWS[0]},
        objective={"kind": "next-token"},
        text="char",
        stages=(("text-{split}.txt", 1500),),
        tests={str(n): ("text-test.txt", n) for n in WINDOWS},
        score="loss",
    ),
    "before": BEFORE,
    "above": replace(
        BEFORE,
        about=f"above: accuracy of hidden letters by the number of letters; up to {LETTERS[0]} in training",
        variants={name: {"position": name} for name in BESIDE_TREES},
        objective={"kind": "masked", "trees": True},
        stages=(("above-{split}.tsv", 1000),),
        tests={str(n): (f"above-{n}.tsv", n + 2) for n in LETTERS},
    ),
}
