"""C6: with feed-forward layers in both arms, neither gains more from depth than the other."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.lab.claims import experiment
from regard.lab.claims.c06 import WITH, WITHOUT
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.running import lab

TINY = Size(
    *(5, "system.width=24", "system.heads=2", "system.context=16", "train.steps=20", "train.batch_tokens=128"),
    "train.warmup=5",
    characters=10_000,
    depths=(1, 3),
    read=500,
)


@pytest.mark.parametrize("settings", [("system.feedforward='none'",), ()])
def test_the_arms_differ_in_their_feed_forward_layers(tmp_path: Path, settings: tuple[str, ...]) -> None:
    made = experiment("C6")
    changed = replace(made, small=TINY, arms={WITH: Arm("gpt"), WITHOUT: Arm("gpt", *settings)})
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    of = Found(found["rows"])
    assert (of("loss", WITH) == of("loss", WITHOUT)) == (not settings)
    assert (of("parameters", WITH) == of("parameters", WITHOUT)) == (not settings)
    if not settings:
        assert found["verdict"] == NOT


@pytest.mark.parametrize(
    "deep, verdict",
    [
        ((1.5, 1.9), TRUE),  # gains of 0.5 and 0.1
        ((1.5, 1.7), NOT),  # 0.5 and 0.3
        ((1.97, 2.0), NOT),  # depth is of no use to either
        ((2.2, 2.2), NOT),  # worse with depth
    ],
)
def test_the_verdict_follows_from_what_depth_gains(deep: tuple[float, float], verdict: str) -> None:
    assert judged(experiment("C6"), rows(2.0, deep)).word == verdict


def test_where_attention_alone_is_as_good_at_the_greatest_depth_the_claim_is_half_true() -> None:
    measured = rows(2.0, (1.5, 1.5))
    measured[2]["loss"] = 1.6
    assert judged(experiment("C6"), measured).word == HALF


def rows(shallow: float, deep: tuple[float, float]) -> list[dict]:
    return [
        {"arm": arm, "seed": 0, "depth": depth, "loss": loss}
        for arm, last in zip((WITH, WITHOUT), deep, strict=True)
        for depth, loss in ((1, shallow), (8, last))
    ]
