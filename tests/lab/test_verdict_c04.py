"""C4: where neither arm has positions, nobody sees order, and the verdict says so."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from regard.lab.claims import experiment
from regard.lab.claims.c04 import ASKED, LECTURE, MOODS, ORDER, TOLD, WITH, WITHOUT, written
from regard.lab.claims.experiment import HALF, NOT, TRUE, Found, Size, judged
from regard.lab.claims.running import tried

TINY = Size(
    *(5, "system.width=32", "system.heads=2", "system.depth=1", "system.hidden=32"),
    *("train.steps=80", "train.warmup=10", "train.batch_tokens=256", "train.rate=1e-2", "data.records=3000"),
)


def test_positions_in_neither_arm_change_the_verdict() -> None:
    made = replace(experiment("C4"), small=TINY)
    seeing, blind = (
        tried(made.measure, TINY, "cpu", {WITH: made.whole(arm, "small")}, (0,), quiet=True)["rows"]
        for arm in made.arms.values()
    )
    unseen = [{**row, "arm": WITHOUT} for row in blind]
    assert judged(made, seeing + unseen).word in (TRUE, HALF)
    assert judged(made, blind + unseen).word == NOT
    of = Found(seeing + unseen)
    assert of("right", WITHOUT, task=ORDER) == pytest.approx(0.5, abs=0.05)
    assert of("moved", WITHOUT) < 1e-4 < 0.1 < of("moved", WITH, task=ORDER)
    told = [of("told", WITHOUT, text=text) for text in LECTURE.values()]
    assert told[0] == pytest.approx(told[1], abs=1e-4)


def test_statements_and_questions_have_the_same_words_and_no_pair_is_in_two_files(tmp_path: Path) -> None:
    assert written(tmp_path)[-1] == f"data.test='{tmp_path}/test.tsv'"
    pairs = {}
    for split in ("train", "valid", "test"):
        head, *lines = (tmp_path / f"{split}.tsv").read_text().splitlines()
        assert head == "text\tlabel"
        texts = [tuple(line.split("\t")) for line in lines]
        bags = {
            label: Counter(" ".join(sorted(text.split())) for text, kind in texts if kind == label)
            for label in (TOLD, ASKED)
        }
        assert bags[TOLD] == bags[ASKED]
        pairs[split] = {(text.split()[-1], text.split()[1]) for text, kind in texts if kind == TOLD}
        assert all((text, label) in texts for label, text in LECTURE.items()) == (split == "test")
    assert not pairs["train"] & pairs["test"]
    assert not pairs["train"] & pairs["valid"]
    assert not pairs["valid"] & pairs["test"]
    for place in (0, 1):  # each opinion and each thing by itself is known from training
        assert {pair[place] for pair in pairs["test"]} <= {pair[place] for pair in pairs["train"]}


def test_an_encoder_that_sees_a_shuffle_without_positions_makes_the_claim_half_true() -> None:
    rows = [
        {"arm": arm, "seed": 0, "task": task, "right": right, "moved": moved}
        for arm, right, moved in ((WITH, 1.0, 0.9), (WITHOUT, 0.5, 1e-6))
        for task in (ORDER, MOODS)
    ]
    assert judged(experiment("C4"), rows).word == TRUE
    rows[-1]["moved"] = 0.01
    assert judged(experiment("C4"), rows).word == HALF
