"""C9: with residuals in both arms nothing degrades, and the verdict says so."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard.lab.claims import experiment
from regard.lab.claims.c09 import WITH, WITHOUT, directions, roughness
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.running import lab

TINY = Size(
    *(5, "system.width=24", "system.heads=2", "system.context=16", "train.steps=100", "train.batch_tokens=256"),
    *("train.warmup=10", "train.rate=1e-2"),
    characters=20_000,
    depths=(1, 4),
    read=4_000,
    land=(200, 3),
)


@pytest.mark.parametrize("settings, verdicts", [(("system.residual=false",), (TRUE, HALF)), ((), (NOT,))])
def test_residuals_in_both_arms_change_the_verdict(
    tmp_path: Path, settings: tuple[str, ...], verdicts: tuple[str, ...]
) -> None:
    made = experiment("C9")
    changed = replace(made, small=TINY, arms={WITH: Arm("gpt"), WITHOUT: Arm("gpt", *settings)})
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    assert found["verdict"] in verdicts
    of = Found(found["rows"])
    assert of("height", WITH, x=0.0, y=0.0) < of("height", WITH)  # the middle is what was trained
    assert (of("roughness", WITH) == of("roughness", WITHOUT)) == (not settings)


def test_directions_are_as_long_as_the_weights_row_by_row() -> None:
    weights = {"matrix": torch.tensor([[3.0, 4.0], [0.0, 0.0], [0.6, 0.8]]), "gain": torch.ones(3)}
    one, other = directions(weights, torch.Generator().manual_seed(0))
    assert torch.allclose(one["matrix"].norm(dim=1), torch.tensor([5.0, 0.0, 1.0]))
    assert torch.equal(one["gain"], torch.zeros(3))
    assert not torch.allclose(one["matrix"], other["matrix"])


def test_a_plane_is_not_rough_and_a_ridge_is() -> None:
    along = torch.arange(5.0)
    assert roughness(along[:, None] + 2 * along) == 0
    ridge = torch.tensor([0.0, 1.0, 0.0]).expand(3, 3)
    assert roughness(ridge) == 2  # one way flat, the other up by 1 and down by 1


def test_a_smooth_surface_without_residuals_makes_the_claim_half_true() -> None:
    rows = [
        {"arm": arm, "seed": 0, **row}
        for arm, deep in ((WITH, 2.0), (WITHOUT, 3.0))
        for row in ({"depth": 1, "loss": 2.2}, {"depth": 8, "loss": deep}, {"roughness": 0.4})
    ]
    assert judged(experiment("C9"), rows).word == HALF
    rows[-1]["roughness"] = 0.7
    assert judged(experiment("C9"), rows).word == TRUE
