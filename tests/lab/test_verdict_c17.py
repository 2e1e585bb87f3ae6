"""C17: two steps of reading teach nothing, and the verdict follows from what is gained with few examples."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.lab.claims import experiment, opinions
from regard.lab.claims.c17 import BRIEF, SCRATCH, TUNED
from regard.lab.claims.experiment import HALF, NOT, TRUE, Found, Size, judged
from regard.lab.claims.running import lab


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    for split, count in {"train": 300, "valid": 20, "test": 50}.items():
        monkeypatch.setitem(opinions.REVIEWS, split, count)


TINY = Size(
    *(5, "system.width=12", "system.heads=3", "system.depth=2", "system.hidden=13"),
    *("train.steps=3", "train.warmup=1", "train.batch_tokens=256"),
    shapes=1,
    reading=10,
    rate=1e-3,
    examples=[50, 200],
)


def test_reading_next_to_nothing_is_no_pre_training(tmp_path: Path) -> None:
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run(
        [replace(experiment("C17"), small=TINY)], ended=lambda found: None
    )
    assert found["verdict"] == NOT
    of = Found(found["rows"])
    assert of("loss", TUNED) != of("loss", BRIEF) != of("loss", SCRATCH)


@pytest.mark.parametrize(
    "tuned, brief, scratch, verdict",
    [
        ((70, 90, 97), (60, 70, 96), (55, 60, 96), TRUE),
        ((70, 69, 97), (60, 62, 96), (55, 60, 96), NOT),  # 9 more with 200 sentences
        ((59, 90, 97), (58, 70, 96), (55, 60, 96), HALF),  # hardly more with 50
        ((70, 90, 95), (60, 70, 96), (55, 60, 96), HALF),  # and a loss with all of them
        ((70, 90, 97), (75, 95, 97), (55, 60, 96), HALF),  # who reads less is as good
    ],
)
def test_what_is_gained_decides(tuned, brief, scratch, verdict) -> None:
    rows = [
        {"arm": arm, "seed": 0, "examples": examples, "accuracy": right}
        for arm, scores in {TUNED: tuned, BRIEF: brief, SCRATCH: scratch}.items()
        for examples, right in zip((50, 200, 800), scores, strict=True)
    ]
    assert judged(experiment("C17"), rows).word == verdict
