"""C8: heads that keep the full width cost more, and heads that look alike are not several."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard.lab.claims import experiment
from regard.lab.claims.c08 import ONE, SEVERAL, apart
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.running import lab

TINY = Size(
    *(5, "system.width=16", "system.depth=2", "system.context=16", "train.steps=20", "train.batch_tokens=128"),
    *("train.warmup=5", "train.rate=1e-4"),
    characters=10_000,
    read=500,
)


@pytest.mark.parametrize("settings", [(), ("system.head_width=16",)])
def test_heads_of_the_full_width_cost_more(tmp_path: Path, settings: tuple[str, ...]) -> None:
    """So little trained, heads look everywhere alike: the claim is not seen, whatever they cost."""
    made = experiment("C8")
    changed = replace(made, small=TINY, arms={**made.arms, SEVERAL: Arm("gpt", "system.heads=8", *settings)})
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    assert found["verdict"] == NOT
    of = Found(found["rows"])
    assert (of("flops", ONE) == of("flops", SEVERAL)) == (not settings)
    assert of("distance", ONE) == 0 < of("distance", SEVERAL) < 0.25


@pytest.mark.parametrize("distance, flops, verdict", [(0.3, 7, TRUE), (0.3, 8, HALF), (0.2, 7, NOT), (0.2, 8, NOT)])
def test_heads_that_look_apart_are_the_claim_and_their_cost_the_rest(distance: float, flops: int, verdict: str) -> None:
    costs = [{"arm": arm, "flops": cost, "parameters": 5, "unseen": 2} for arm, cost in ((ONE, 7), (SEVERAL, flops))]
    rows = [{"seed": 0, **row} for row in (*costs, {"arm": SEVERAL, "distance": distance})]
    assert judged(experiment("C8"), rows).word == verdict


def test_the_distance_of_heads_is_the_weight_that_goes_elsewhere() -> None:
    """Of three heads two look at the same token and one gives it a half: 0, 1/2 and 1/2 of the three pairs."""
    first, second = torch.tensor([1.0, 0.0]), torch.tensor([0.5, 0.5])
    weights = torch.stack([first, first, second])[None, :, None].expand(1, 3, 2, 2).clone()
    assert apart(weights) == pytest.approx(1 / 3)
    weights[:, 2, 0] = torch.tensor([0.0, 1.0])  # a token in the first half of a row is not counted
    assert apart(weights) == pytest.approx(1 / 3)
    assert apart(weights[:, :1]) == 0
