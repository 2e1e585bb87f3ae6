"""C11: where both arms are scaled, or models learn to keep plain scores small, the verdict says so."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard.lab.claims import experiment
from regard.lab.claims.c11 import DRAWN, PLAIN, SCALED, TRAINED, growth, inside, slope
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.running import lab
from regard.lab.claims.texts import library, windows
from regard.lab.claims.trial import Trial
from regard.tap import record

TINY = Size(
    *(5, "system.width=16", "system.depth=1", "system.context=16", "train.steps=5", "train.batch_tokens=128"),
    *("train.warmup=1", "train.rate=1e-5"),
    trained=(4, 4096),
    characters=10_000,
    read=500,
)


@pytest.mark.parametrize("settings, verdicts", [(("system.score='dot'",), (TRUE, HALF)), ((), (NOT,))])
def test_scaling_in_both_arms_changes_the_verdict(
    tmp_path: Path, settings: tuple[str, ...], verdicts: tuple[str, ...]
) -> None:
    made = experiment("C11")
    changed = replace(made, small=TINY, arms={SCALED: Arm("gpt"), PLAIN: Arm("gpt", *settings)})
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    assert found["verdict"] in verdicts
    of = Found(found["rows"])
    assert growth(of, SCALED, DRAWN) == pytest.approx(1, rel=0.25)
    for by, times in ((DRAWN, 256), (TRAINED, 1024)):
        assert growth(of, PLAIN, by) == pytest.approx(times if settings else growth(of, SCALED, by), rel=0.5)
    assert of("width_variance", SCALED, width=1024) == pytest.approx(1, rel=0.25)


@pytest.mark.parametrize(
    "worse, times, left, verdict",
    [
        (0.2, 16, 0.1, TRUE),
        (0.01, 16, 0.1, HALF),  # the model does as well
        (0.2, 16, 0.15, NOT),  # and has the slope to learn with
        (0.2, 7, 0.1, NOT),  # or its scores hardly grow, whatever drawn ones do
    ],
)
def test_it_is_models_that_must_be_starved(worse: float, times: float, left: float, verdict: str) -> None:
    rows = [
        {"arm": arm, "seed": 0, **row}
        for arm, drawn, inside, slope, loss in ((SCALED, 1, 1, 0.2, 2.0), (PLAIN, 16, times, left, 2.0 + worse))
        for row in (
            {"width": 4, "width_variance": 1.0, "width_slope": 0.2},
            {"width": 64, "width_variance": drawn, "width_slope": 0.2 / drawn},
            {"head": 8, "head_variance": 3.0, "head_slope": 0.2, "loss": 1.9},
            {"head": 128, "head_variance": 3.0 * inside, "head_slope": slope, "loss": loss},
        )
    ]
    found = judged(experiment("C11"), rows)
    assert found.word == verdict
    assert f"the plain model loses +{worse:.2f} nats" in found.sentence


def test_a_model_is_looked_at_where_a_character_sees_its_whole_window(tmp_path: Path) -> None:
    trial = Trial(TINY, "cpu", tmp_path, {SCALED: Arm("gpt", "system.heads=2", *TINY.settings)}, (0,))
    run = trial.train(*library(trial, 2_000))
    text = windows(run, 90)
    with record(run.model, "*.look.weights") as seen, torch.no_grad():
        run.model.decode(text)
    (weights,) = seen.values()
    found = inside(run, text)
    assert found["head_slope"] == pytest.approx(slope(weights[:, :, -1]), rel=1e-5)
    assert found["head_variance"] == pytest.approx(float(weights[:, :, -1].log().var(-1).mean()), rel=1e-3)


def test_the_slope_is_the_size_of_the_matrix_of_derivatives() -> None:
    """diag(p) - p p' of two equal weights has four entries of a quarter; a sure choice has no slope at all."""
    assert slope(torch.tensor([[0.5, 0.5]])) == pytest.approx(0.5)
    assert slope(torch.tensor([[0.0, 1.0, 0.0]])) == 0
    scores = torch.tensor([0.3, -1.2, 0.8, 2.0])
    matrix = torch.autograd.functional.jacobian(lambda each: each.softmax(-1), scores)
    assert slope(scores.softmax(-1)[None]) == pytest.approx(float(matrix.norm()))
