"""C10: where all arms have the same norm, none trains faster, and the verdict says so."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

import regard
from regard.errors import Diverged, WorldError
from regard.lab.claims import experiment
from regard.lab.claims.c10 import NONE, POST, PRE, measure
from regard.lab.claims.changes import given, moved
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.figure import picture
from regard.lab.claims.panels import LIGHT
from regard.lab.claims.running import lab
from regard.lab.claims.texts import windows
from regard.lab.claims.trial import Trial

TINY = Size(
    *(5, "system.width=16", "system.heads=2", "system.depth=3", "system.context=16"),
    *("train.steps=20", "train.warmup=2", "train.batch_tokens=128", "train.log_every=5"),
    characters=10_000,
    rates=(1e-3, 1e-2, 1e20),
)


def test_the_same_norm_in_all_arms_changes_the_verdict(tmp_path: Path) -> None:
    made = experiment("C10")
    changed = replace(made, small=TINY, arms=dict.fromkeys(made.arms, Arm("gpt")))
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    assert found["verdict"] == NOT
    of = Found(found["rows"])
    assert of("loss", PRE) == of("loss", NONE) == of("loss", POST)
    assert of("change", PRE, layer=1) == 1
    assert [of("ended", PRE, rate=1e3 * rate) for rate in TINY["rates"]] == [1, 1, 0]  # at the last it is lost


@pytest.mark.parametrize(
    "losses, changes, verdict",
    [
        ((1.5, 1.7, 2.0), (1.0, 0.9, 4.0), TRUE),
        ((1.5, 1.7, 2.0), (1.0, 0.9, 1.5), HALF),  # nothing is amplified
        ((1.5, 1.52, 2.0), (1.0, 0.9, 4.0), HALF),  # the place does not matter
        ((1.5, 1.7, 1.5), (1.0, 0.9, 4.0), NOT),
    ],
)
def test_the_verdict_follows_from_losses_and_changes(losses, changes, verdict: str) -> None:
    rows = [
        {"arm": arm, "seed": 0, **row}
        for arm, loss, change in zip((PRE, POST, NONE), losses, changes, strict=True)
        for row in (
            {"rate": 1.0, "ended": 1, "loss": loss + 0.3},
            {"rate": 10.0, "ended": 1, "loss": loss},
            {"rate": 100.0, "ended": 0},
            {"layer": 1, "change": 1.0},
            {"layer": 6, "change": change},
        )
    ]
    assert judged(experiment("C10"), rows).word == verdict


def rows(losses: dict[str, dict[float, float]], seed: int = 0) -> list[dict]:
    """As if measured at rates of 2 and 20 thousandths, where a rate that has no loss was lost."""
    found: list[dict] = []
    for arm, by_rate in losses.items():
        for rate in (2.0, 20.0):
            told = {"ended": 1, "loss": by_rate[rate]} if rate in by_rate else {"ended": 0}
            found.append({"arm": arm, "seed": seed, "rate": rate, **told})
        change = 4.0 if arm == NONE else 1.0
        kept = [{"layer": 1, "change": 1.0}, {"layer": 6, "change": change}, {"step": 20, "train": 3.0}]
        found += [{"arm": arm, "seed": seed, **row} for row in kept if by_rate]
    return found


@pytest.mark.parametrize(
    "lost, held, told",
    [
        ((NONE,), [True, False, True], "no norm inf nats, nan times (lost: 1 at 0.002, 1 at 0.02)"),
        ((POST, NONE), [True, False, False], "norm after inf nats"),
        ((PRE, POST), [False, False, False], "no norm 1.50 nats, 4.00 times (lost: none)"),
        ((PRE, POST, NONE), [False, False, False], "at which both end: unknown."),
    ],
)
def test_who_is_lost_at_every_rate_has_the_worst_of_losses(lost: tuple[str, ...], held: list[bool], told: str) -> None:
    """Judged, told and drawn; where all are lost, none is better."""
    by_arm = {PRE: {2.0: 1.5, 20.0: 1.4}, POST: {2.0: 1.5, 20.0: 1.7}, NONE: {2.0: 1.5, 20.0: 2.0}}
    found = rows({arm: {} if arm in lost else by_rate for arm, by_rate in by_arm.items()})
    verdict = judged(experiment("C10"), found)
    assert [each["seeds"]["0"] for each in verdict.held] == held
    assert told in verdict.sentence
    results = {"rows": found, "seeds": [0], "claim": "so", "sentence": verdict.sentence, "left_out": {}}
    assert picture(experiment("C10"), results, "png", LIGHT)


def test_what_is_told_is_the_mean_of_each_seeds_best():
    """A rate that only one seed stands is no better for that."""
    first = {PRE: {2.0: 1.0, 20.0: 0.8}, POST: {2.0: 2.0, 20.0: 2.5}, NONE: {2.0: 3.0, 20.0: 1.0}}
    other = {PRE: {2.0: 1.2, 20.0: 1.4}, POST: {2.0: 2.0}, NONE: {2.0: 5.0}}
    told = judged(experiment("C10"), rows(first) + rows(other, 1)).sentence
    assert "norm before 1.00 nats, 1.00 times (lost: none); norm after 2.00 nats" in told
    assert "no norm 3.00 nats, 4.00 times (lost: 1 at 0.02)" in told
    assert "more than before, at the highest rate at which both end: +1.70 (at 0.02), +0.80 (at 0.002)." in told


def test_only_a_lost_training_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(error: Exception):
        def train(self, *settings):
            raise error

        return train

    trial = Trial(TINY, "cpu", tmp_path, {NONE: Arm("gpt")}, (0,))
    monkeypatch.setattr(Trial, "train", ends(Diverged("no longer a number")))
    assert measure(trial) == [{"rate": 1e3 * rate, "ended": 0} for rate in TINY["rates"]]
    monkeypatch.setattr(Trial, "train", ends(WorldError("cannot write: No space left on device")))
    with pytest.raises(WorldError, match="No space left"):
        measure(trial)


def test_a_change_of_the_first_layer_is_followed_through_all(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("def double(number):\n    return 2 * number\n" * 40)
    arm = Arm("gpt", *TINY.settings, f"data.train='{text}'", f"data.valid='{text}'", "data.records=0")
    run = Trial(TINY, "cpu", tmp_path, {PRE: arm}, (0,)).train("train.steps=2")
    rows = windows(run, 160, split="train")
    before = given(run, rows)
    assert before.shape == (3, 10, 16, 16)  # layers, rows, characters, width
    assert torch.allclose(before.norm(dim=-1), torch.tensor(4.0), atol=0.1)  # normalised, with gains of about 1
    changes = moved(run, rows, torch.Generator().manual_seed(0))
    change = (given(run, rows) - before).norm(dim=-1)  # the weights stay where they were put
    assert changes == pytest.approx(change.mean((1, 2)).tolist())
    assert 0 < changes[0] < 0.05 * 4
    kept, still = (dict(model.named_parameters()) for model in (regard.load(run.path).model, run.model))
    assert {name for name in kept if not torch.equal(kept[name], still[name])} == {
        name for name in kept if ".blocks.0." in name and kept[name].dim() > 1
    }
