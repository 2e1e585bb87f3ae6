"""C17: who read alike is alike, and the verdict follows from what is gained with few examples."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.lab.claims import experiment, opinions
from regard.lab.claims.c17 import BRIEF, SCRATCH, TUNED
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.running import lab
from regard.lab.claims.trial import Trial


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    for split, count in {"train": 300, "valid": 20, "test": 50}.items():
        monkeypatch.setitem(opinions.REVIEWS, split, count)
    monkeypatch.setitem(opinions.HELD_OUT, "test", 100)


TINY = Size(
    *(5, "system.width=12", "system.heads=3", "system.depth=2", "system.hidden=13"),
    *("train.warmup=1", "train.batch_tokens=256"),
    shapes=1,
    tuning=3,
    examples=[50, 200],
)


@pytest.mark.parametrize("steps", [(9, 3, 1), (1, 1, 1)])
def test_nothing_but_the_reading_makes_a_difference(tmp_path: Path, steps: tuple[int, ...]) -> None:
    made = experiment("C17")
    arms = {name: Arm("bert", f"train.steps={some}") for name, some in zip(made.arms, steps, strict=True)}
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run(
        [replace(made, small=TINY, arms=arms)], ended=lambda found: None
    )
    of = Found(found["rows"])
    assert len({of("loss", arm) for arm in arms}) == len(set(steps))
    assert found["verdict"] == NOT or len(set(steps)) > 1


def test_one_step_of_reading_leaves_the_weights_as_they_were_drawn(tmp_path: Path) -> None:
    made = experiment("C17")
    trial = Trial(made.small, "cpu", tmp_path, {SCRATCH: made.whole(made.arms[SCRATCH], "small")}, (0,))
    body = trial.train(*opinions.unlabelled(trial))
    drawn = trial.train(*opinions.unlabelled(trial), "train.rate=1e-12")
    for one, other in zip(body.model.parameters(), drawn.model.parameters(), strict=True):
        assert (one - other).abs().max() < 1e-4


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
