"""C6: with feed-forward layers in both arms, neither gains more from depth than the other."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.lab.claims import experiment
from regard.lab.claims.c06 import WITH, WITHOUT
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.running import lab
from regard.lab.claims.trial import Row

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
        ((1.5, 2.3), TRUE),  # gains of 0.5 and 0.2
        ((1.5, 2.2), NOT),  # 0.5 and 0.3
        ((1.97, 2.5), NOT),  # depth is of no use to either
        ((2.2, 2.7), NOT),  # worse with depth
    ],
)
def test_the_verdict_follows_from_what_depth_gains(deep: tuple[float, float], verdict: str) -> None:
    assert judged(experiment("C6"), rows((2.0, 2.5), deep)).word == verdict


def test_where_a_stack_of_attention_alone_passes_one_whole_layer_the_claim_is_half_true() -> None:
    assert judged(experiment("C6"), rows((2.0, 2.1), (1.5, 1.95))).word == HALF


def test_models_of_equal_size_are_told_beside_one_another() -> None:
    equal = {"parameters": 905}  # as many as one layer with feed-forward has
    found = [
        {**row, **(equal if (row["arm"], row["depth"]) == (WITHOUT, 8) else {})} for row in rows((2.0, 2.5), (1.5, 2.3))
    ]
    told = judged(experiment("C6"), found).sentence
    assert "a model of depth 1 with them has 2.00 nats and one of 8 without 2.30." in told
    assert "as many parameters" not in judged(experiment("C6"), rows((2.0, 2.5), (1.5, 2.3))).sentence


def rows(shallow: tuple[float, float], deep: tuple[float, float]) -> list[Row]:
    """A layer with feed-forward has three times the parameters of one without."""
    return [
        {"arm": arm, "seed": 0, "depth": depth, "parameters": depth * (900 if arm == WITH else 300), "loss": loss}
        for arm, *losses in zip((WITH, WITHOUT), shallow, deep, strict=True)
        for depth, loss in zip((1, 8), losses, strict=True)
    ]
