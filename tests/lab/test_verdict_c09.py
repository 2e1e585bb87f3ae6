"""C9: with residuals in both arms nothing degrades, and the verdict says so."""

from dataclasses import replace

import torch

from regard.lab.claims import experiment
from regard.lab.claims.c09 import WITH, WITHOUT, directions, roughness
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.running import tried
from regard.lab.claims.trial import Row

TINY = Size(
    *(5, "system.width=24", "system.heads=2", "system.context=16", "train.steps=80", "train.batch_tokens=256"),
    *("train.warmup=10", "train.rate=1e-2"),
    characters=20_000,
    depths=(1, 2, 4),
    read=1_600,
    land=(160, 3),
)


def test_residuals_in_both_arms_change_the_verdict() -> None:
    made = replace(experiment("C9"), small=TINY)
    connected = measured(WITH, Arm("gpt"))
    of = Found(connected)
    assert of("height", WITH, x=0.0, y=0.0) == min(row["height"] for row in connected if "height" in row)
    assert judged(made, connected + measured(WITHOUT, made.arms[WITHOUT])).word in (TRUE, HALF)
    both = connected + measured(WITHOUT, made.arms[WITH])
    assert judged(made, both).word == NOT
    assert Found(both)("roughness", WITHOUT) == of("roughness", WITH)


def measured(name: str, arm: Arm) -> list[Row]:
    made = replace(experiment("C9"), small=TINY)
    return tried(made.measure, TINY, "cpu", {name: made.whole(arm, "small")}, (0,), quiet=True)["rows"]


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
        for row in ({"depth": 2, "loss": 2.2, "roughness": 0.1}, {"depth": 8, "loss": deep, "roughness": 0.4})
    ]
    assert judged(experiment("C9"), rows).word == HALF
    rows[2]["roughness"] = 0.2  # two layers, without
    assert judged(experiment("C9"), rows).word == TRUE
