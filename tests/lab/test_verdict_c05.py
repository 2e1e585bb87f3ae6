"""C5: a scheme that reads on in place of learned positions changes the verdict."""

from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy

from regard.errors import UserError
from regard.lab.claims import experiment
from regard.lab.claims.c05 import ALIBI, LEARNED, NONE, RELATIVE, SCHEMES, SINUSOIDS, TIMES, reader, second_half
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.running import tried
from regard.lab.claims.texts import library
from regard.lab.claims.trial import Row, Trial

TINY = Size(
    *(5, "system.width=16", "system.heads=2", "system.depth=1", "system.context=16"),
    *("train.steps=3", "train.warmup=1", "train.batch_tokens=128"),
    characters=10_000,
    read=500,
)


@pytest.mark.parametrize("position", SCHEMES.values())
def test_all_schemes_read_longer_texts_but_learned_positions(position: str) -> None:
    """Were the learned ones another scheme, the claim would not be seen."""
    arm = Arm("gpt", *TINY.settings, f"system.position='{position}'")
    trial = tried(experiment("C5").measure, TINY, "cpu", {LEARNED: arm}, (0,), quiet=True)
    of = Found(trial["rows"])
    refuses = position == "learned"
    assert [of("reads", LEARNED, times=times) for times in TIMES] == ([1, 0, 0] if refuses else [1, 1, 1])
    verdict = judged(experiment("C5"), rows({}) + trial["rows"])
    assert verdict.word == (TRUE if refuses else NOT)
    assert f"learned positions {'refuse' if refuses else 'read on'}" in verdict.sentence


@pytest.mark.parametrize(
    "lost, verdict",
    [
        ({}, TRUE),
        ({ALIBI: 0.05}, TRUE),
        ({ALIBI: 0.4}, HALF),  # less than sinusoids, and still too much
        ({ALIBI: 2.0}, HALF),
        ({SINUSOIDS: 0.05}, NOT),
    ],
)
def test_the_verdict_follows_from_what_is_lost(lost: dict[str, float], verdict: str) -> None:
    learned = [{"arm": LEARNED, "seed": 0, "times": times, "reads": int(times == 1)} for times in TIMES]
    assert judged(experiment("C5"), rows(lost) + learned).word == verdict


def rows(lost: dict[str, float]) -> list[Row]:
    """Of all but learned positions, as they might be measured."""
    by_arm = {NONE: 0.2, SINUSOIDS: 1.0, **dict.fromkeys(RELATIVE, 0.0), **lost}
    return [
        {"arm": arm, "seed": 0, "times": times, "reads": 1, "loss": 2.0 + (times > 1) * loss}
        for arm, loss in by_arm.items()
        for times in TIMES
    ]


def test_every_character_is_read_once_in_the_second_half_of_a_window(tmp_path: Path) -> None:
    trial = Trial(TINY, "cpu", tmp_path, {NONE: Arm("gpt", *TINY.settings)}, (0,))
    run = trial.train(*library(trial, 2_000), "train.steps=2")
    text = torch.tensor(run.tokenizer.encode((tmp_path / "test.txt").read_text())[:48])
    costs: list[float] = []
    for begin in (0, 8, 16, 24, 32):
        scores = run.model.decode(text[None, begin : begin + 15])[0].detach()
        costs += cross_entropy(scores, text[begin + 1 : begin + 16], reduction="none")[7:].tolist()
    assert len(costs) == 48 - 8
    assert second_half(run, 50) == pytest.approx(sum(costs) / len(costs), rel=1e-5)


def test_nothing_but_too_few_places_is_taken_for_a_refusal(tmp_path: Path) -> None:
    trial = Trial(TINY, "cpu", tmp_path, {LEARNED: Arm("gpt", "system.position='learned'", *TINY.settings)}, (0,))
    run = trial.train(*library(trial, 2_000), "train.steps=2")
    assert reader(run, 16) is run
    assert reader(run, 17) is None
    (run.path / "config.json").unlink()
    with pytest.raises(UserError, match=r"config\.json"):
        reader(run, 17)
