"""C11: where both arms are scaled, nothing grows, and the verdict says so."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard.lab.claims import experiment
from regard.lab.claims.c11 import PLAIN, SCALED, growth, slope
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.running import lab

TINY = Size(
    *(5, "system.width=16", "system.depth=1", "system.context=16", "train.steps=5", "train.batch_tokens=128"),
    *("train.warmup=1", "train.rate=1e-5"),
    widths=(4, 1024),
    trained=(4,),
    characters=10_000,
    read=500,
)


@pytest.mark.parametrize("settings, verdict", [(("system.score='dot'",), HALF), ((), NOT)])
def test_scaling_in_both_arms_changes_the_verdict(tmp_path: Path, settings: tuple[str, ...], verdict: str) -> None:
    """Narrow heads that hardly train lose nothing without scaling: half of the claim is left."""
    made = experiment("C11")
    changed = replace(made, small=TINY, arms={SCALED: Arm("gpt"), PLAIN: Arm("gpt", *settings)})
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    assert found["verdict"] == verdict
    of = Found(found["rows"])
    assert growth(of, SCALED) == pytest.approx(1, rel=0.25)
    assert growth(of, PLAIN) == pytest.approx(256 if settings else growth(of, SCALED), rel=0.25)
    assert of("variance", SCALED, width=1024) == pytest.approx(1, rel=0.25)


@pytest.mark.parametrize("worse, verdict", [(0.2, TRUE), (0.01, HALF)])
def test_a_loss_in_training_is_asked_for(worse: float, verdict: str) -> None:
    rows = [
        {"arm": arm, "seed": 0, **row}
        for arm, times, loss in ((SCALED, 1, 2.0), (PLAIN, 16, 2.0 + worse))
        for row in (
            {"width": 4, "variance": 1.0, "slope": 0.2},
            {"width": 64, "variance": times, "slope": 0.2 / times},
            {"head": 64, "loss": loss},
        )
    ]
    assert judged(experiment("C11"), rows).word == verdict


def test_the_slope_is_the_size_of_the_matrix_of_derivatives() -> None:
    """diag(p) - p p' of two equal weights has four entries of a quarter; a sure choice has no slope at all."""
    assert slope(torch.tensor([[0.5, 0.5]])) == pytest.approx(0.5)
    assert slope(torch.tensor([[0.0, 1.0, 0.0]])) == 0
    scores = torch.tensor([0.3, -1.2, 0.8, 2.0])
    matrix = torch.autograd.functional.jacobian(lambda each: each.softmax(-1), scores)
    assert slope(scores.softmax(-1)[None]) == pytest.approx(float(matrix.norm()))
