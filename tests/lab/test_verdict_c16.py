"""C16: two models that are trained alike are alike, and who loses after fine-tuning decides."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.lab.claims import experiment, opinions
from regard.lab.claims.c16 import WITH, WITHOUT
from regard.lab.claims.experiment import HALF, NOT, TRUE, Found, Size, judged
from regard.lab.claims.running import lab
from regard.lab.claims.trial import Trial


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    for split, count in {"train": 300, "valid": 20, "test": 50}.items():
        monkeypatch.setitem(opinions.REVIEWS, split, count)
    monkeypatch.setitem(opinions.HELD_OUT, "test", 100)


TINY = Size(
    *(5, "system.width=12", "system.heads=3", "system.depth=1", "system.hidden=13"),
    *("train.steps=4", "train.warmup=1", "train.batch_tokens=256"),
    shapes=1,
    tuning=3,
    examples=20,
)


def test_each_seed_learns_from_sentences_of_its_own_and_is_asked_the_same(tmp_path: Path) -> None:
    texts = []
    for seed in (0, 0, 1):
        place = tmp_path / str(len(texts))
        place.mkdir()
        opinions.labelled(Trial(TINY, "cpu", place, {}, (seed,)), 20)
        texts.append([(place / f"moods-20-{split}.jsonl").read_text() for split in ("train", "test")])
    assert texts[0] == texts[1]
    assert texts[0][0] != texts[2][0]
    assert texts[0][1] == texts[2][1]
    assert [len(set(text.splitlines())) for text in texts[0]] == [20, 100]


@pytest.mark.parametrize("asked", [False, True])
def test_without_the_difference_there_is_none(tmp_path: Path, asked: bool) -> None:
    made = experiment("C16")
    arms = made.arms if asked else dict.fromkeys(made.arms, made.arms[WITHOUT])
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run(
        [replace(made, small=TINY, arms=arms)], ended=lambda found: None
    )
    of = Found(found["rows"])
    same = all(of(name, WITH) == of(name, WITHOUT) for name in ("accuracy", "hidden", "loss"))
    assert same != asked
    assert found["verdict"] == NOT or asked


@pytest.mark.parametrize(
    "accuracy, hidden, verdict",
    [((80, 85), (30, 32), TRUE), ((80, 85), (31.5, 32), HALF), ((85, 80), (30, 32), NOT), ((83, 85), (30, 32), NOT)],
)
def test_who_loses_decides(accuracy, hidden, verdict) -> None:
    numbers = zip((WITH, WITHOUT), accuracy, hidden, strict=True)
    rows = [{"arm": arm, "seed": 0, "accuracy": right, "hidden": guessed} for arm, right, guessed in numbers]
    assert judged(experiment("C16"), rows).word == verdict
