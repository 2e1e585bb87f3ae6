"""The rows of the document table: systems, scales, and the stages in which all learn from the same documents."""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trials import Plan, limits

NEVER = 10**6
WRITTEN = 64  # the most tokens of a summary
DATA = ("articles", "scitldr")


@dataclass(frozen=True)
class Row:
    """One system of the table: how many tokens it reads, and what sets it apart from the others."""

    input: int
    objective: str
    system: dict[str, Any]


RECURRENT = {"kind": "seq2seq-attention", "cell": "lstm", "depth": 1, "query": "current", "score": "bilinear"}
LONG = {"kind": "gpt", "depth": 5, "position": "rotary", "attention": "dmca", "stride": 3}
ROWS = {
    "seq2seq-attention": Row(500, "translation", RECURRENT),
    "transformer-ed": Row(500, "translation", {"kind": "transformer", "depth": 3, "position": "rotary"}),
    "transformer-d": Row(4000, "continuation", {"kind": "gpt", "depth": 5, "position": "rotary"}),
    "dmca": Row(11_000, "continuation", LONG),
    "dmca-moe": Row(7500, "continuation", {**LONG, "experts": 128}),
    "dmca-moe-128": Row(11_000, "continuation", {**LONG, "experts": 128}),
    "dmca-moe-256": Row(7500, "continuation", {**LONG, "experts": 256}),
}
USUAL = list(ROWS)[:5]


@dataclass(frozen=True)
class Documents:
    """So many of `articles`, of `least` to `most` words."""

    count: int
    least: int
    most: int

    def name(self, split: str) -> str:
        """The file that they stand in: others stand in another."""
        return f"articles-{self.count}-of-{self.least}-to-{self.most}-{split}.jsonl"


@dataclass(frozen=True)
class Stage:
    """Documents that are read for so many steps of so many tokens."""

    documents: Documents
    steps: int
    batch_tokens: int
    share: float  # of the seconds


@dataclass(frozen=True)
class Scale:
    """How large all is; `shorter` is what inputs are divided by."""

    shorter: int
    width: int
    heads: int
    block: int
    rate: float
    stages: tuple[Stage, ...]
    test: Documents
    abstracts: dict[str, int | None]  # of each split of SciTLDR
    steps: int  # on SciTLDR
    few_experts: int = 0  # in place of a row's own


SCALES = {
    "full": Scale(
        *(1, 256, 4, 256, 7e-4),
        stages=(
            Stage(Documents(40_000, 30, 300), 1200, 8_000, 0.3),
            Stage(Documents(20_000, 100, 2_000), 800, 16_000, 0.25),
            Stage(Documents(10_000, 600, 9_600), 1200, 44_000, 0.45),
        ),
        test=Documents(200, 9_600, 9_600),
        abstracts={"train": None, "valid": None, "test": 200},
        steps=700,
    ),
    "small": Scale(
        *(11, 128, 4, 64, 1e-3),
        stages=(
            Stage(Documents(16_000, 30, 60), 1500, 640, 0.35),
            Stage(Documents(16_000, 30, 250), 500, 1_500, 0.3),
            Stage(Documents(16_000, 30, 870), 300, 2_500, 0.35),
        ),
        test=Documents(100, 870, 870),
        abstracts={"train": None, "valid": None, "test": 100},
        steps=300,
        few_experts=8,
    ),
    "tiny": Scale(
        *(50, 16, 2, 8, 1e-3),
        stages=(Stage(Documents(50, 30, 60), 2, 300, 0.5), Stage(Documents(50, 30, 100), 2, 600, 0.5)),
        test=Documents(3, 100, 100),
        abstracts={"train": 60, "valid": 60, "test": 3},
        steps=2,
        few_experts=4,
    ),
}


def system_of(name: str, scale: Scale, data: str) -> dict[str, Any]:
    """The settings of a row's model: all have about as many weights, experts left aside."""
    row, width = ROWS[name], scale.width
    read = row.input // scale.shorter if data == "articles" else 1000 // min(scale.shorter, 2)
    made = {**row.system, "width": width, "context": read, "dropout": 0.0 if data == "articles" else 0.3}
    if made["kind"] == "seq2seq-attention":
        return {**made, "width": 7 * width // 4}
    made["heads"] = scale.heads
    if made.get("attention"):
        made["block"] = scale.block
    if "experts" in made:
        experts = scale.few_experts or made["experts"]
        return {**made, "feedforward": "experts", "experts": experts, "chosen": 2, "hidden": 2 * width}
    return {**made, "hidden": (2 if made["kind"] == "transformer" else 4) * width}


def plan(data: str, name: str, seed: int, given: argparse.Namespace) -> Plan:
    """All that a result depends on, but for SciTLDR's files: what each stage is trained by, and the test."""
    scale = SCALES[given.scale]
    shared = {
        "seed": seed,
        "text": {"kind": "wordpiece", "vocabulary": 0 if data == "articles" else vocabulary(scale)},
        "system": system_of(name, scale, data),
        "objective": {"kind": ROWS[name].objective, "smoothing": 0.0},
        "decode": {"max_tokens": WRITTEN if given.scale != "tiny" else 8},
    }
    usual = {"rate": scale.rate, "warmup": 100, "schedule": "constant", "weight_decay": 0.01, "device": given.device}
    usual |= {"save_every": NEVER, "evaluate_every": NEVER, "threads": 1, "compile": given.compile}
    stages = [{**shared, **each, "train": {**usual, **each["train"]}} for each in stages_of(data, scale, given)]
    about = {"data": data, "row": name, "seed": seed, "scale": given.scale, "test": tested_on(data, scale)}
    return json.loads(json.dumps({**about, "stages": stages}))


def tested_on(data: str, scale: Scale) -> str:
    """The name of the file that all rows are tested on."""
    return scale.test.name("test") if data == "articles" else "scitldr-test.jsonl"


def vocabulary(scale: Scale) -> int:
    return 6000 if scale.shorter == 1 else 1000


def stages_of(data: str, scale: Scale, given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """What is read in each stage, and for how long. The rate falls at the end of each, for longest in the last."""
    if data == "scitldr":
        files = {split: f"scitldr-{split}.jsonl" for split in ("train", "valid")}
        tokens = 16_000 if scale.shorter == 1 else 2_000
        best = {"evaluate_every": 50, "patience": 10}  # few documents are learnt by heart: what fits best is kept
        yield staged(files, scale.steps, tokens, given, 1.0, decay=0.6, **best)
        return
    for each in scale.stages:
        files = {split: each.documents.name(split) for split in ("train", "valid")}
        decay = 0.4 if each is scale.stages[-1] else 0.2
        yield staged(files, each.steps, each.batch_tokens, given, each.share, decay=decay)


def staged(files: dict, steps: int, tokens: int, given: argparse.Namespace, share: float, **more: Any) -> dict:
    asked = limits(given.steps, share * given.seconds if given.seconds else None)
    train = {"steps": steps, "batch_tokens": tokens, **more, **asked}
    return {"data": {**files, "too_long": "truncate"}, "train": train}
