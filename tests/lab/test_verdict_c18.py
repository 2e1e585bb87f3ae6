"""C18: attention in an RNN's place keeps its gradient, and the verdict says so; derivatives by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from regard import read
from regard.lab.claims import experiment
from regard.lab.claims.c18 import ATTENTION, LARGE, LSTM, RNN, UNTRAINED, WINDOW, relative
from regard.lab.claims.distances import FAR, slopes
from regard.lab.claims.experiment import HALF, NOT, TRUE, Arm, Found, Size, judged
from regard.lab.claims.running import lab
from regard.systems import built

TINY = Size(3, "train.steps=2", "system.width=16", "train.batch_tokens=300", rows=20)


@pytest.mark.parametrize("arm, verdict", [(Arm("rnn-lm"), HALF), (Arm("gpt", "system.heads=2"), NOT)])
def test_the_gradient_of_an_rnn_vanishes_and_that_of_attention_does_not(tmp_path: Path, arm: Arm, verdict: str) -> None:
    """So little training teaches nobody to recall: the last prediction fails."""
    made = experiment("C18")
    arms = {RNN: arm, LARGE: made.arms[LARGE], ATTENTION: Arm("gpt", "system.heads=2")}
    changed = replace(made, arms=arms, small=TINY, tells=lambda of: "so it is")
    (found,) = lab(tmp_path, size="small", seeds=1, jobs=1).run([changed], ended=lambda found: None)
    assert found["verdict"] == verdict
    of = Found(found["rows"])
    assert of("before", LARGE, distance=FAR[-1]) > 1e3


def test_derivatives_of_a_linear_state_are_powers_of_its_weights():
    """h = tanh(W x + U h) with small inputs: each step back multiplies by U, here 0.5."""
    model: Any = built(read("rnn-lm", ["system.width=4", "system.depth=1"]).system, 11).eval()
    with torch.no_grad():
        model.embedding.rows.weight.mul_(1e-4)
        layer = model.layers.layers[0].fused
        layer.weight_hh_l0.copy_(0.5 * torch.eye(4))
        layer.weight_ih_l0.copy_(torch.eye(4))
    found = slopes(model, torch.randint(11, (3, 40)))
    assert torch.allclose(found[1:] / found[:-1], torch.full((39,), 0.5).double(), rtol=1e-3)
    assert next(model.parameters()).dtype == torch.float32


def test_a_derivative_whose_square_is_too_small_for_a_number_is_one():
    """0.1 for each of 200 steps back: only what is out of sight is exactly 0."""
    model: Any = built(read("rnn-lm", ["system.width=4", "system.depth=1"]).system, 11).eval()
    with torch.no_grad():
        model.embedding.rows.weight.mul_(1e-4)
        model.layers.layers[0].fused.weight_hh_l0.copy_(0.1 * torch.eye(4))
    found = slopes(model, torch.randint(11, (3, 200)))
    assert 0 < found[-1] < 1e-180


def test_a_window_has_no_derivative_beyond_it():
    model = built(read("window-lm", ["system.width=8", "system.depth=2", "system.window=3"]).system, 11).eval()
    assert (slopes(model, torch.randint(11, (2, 9))) > 0).tolist() == [True] * 5 + [False] * 4


def test_how_far_windows_reach_is_as_the_method_says() -> None:
    system = read("window-lm", experiment("C18").arms[WINDOW].settings).system
    assert (system.depth, system.window) == (3, 5)
    assert "three layers of windows of 5 tokens, which reach 12 steps back" in experiment("C18").method


def rows(before: float, large: float, recall: float) -> list[dict]:
    """As if measured."""
    sizes = {RNN: before, LARGE: large, LSTM: 1e-9, WINDOW: 1e-30, ATTENTION: 1.5}
    found = [{"arm": arm, "seed": 0, **row} for arm, size in sizes.items() for row in grown("before", UNTRAINED, size)]
    for arm, size in sizes.items():
        found += [{"arm": arm, "seed": 0, **row} for row in grown("after", FAR, size)]
        share = {RNN: recall, ATTENTION: 100}.get(arm, 50)
        found += [{"arm": arm, "seed": 0, "distance": far, "recall": share} for far in FAR]
    return found


def grown(name: str, distances: tuple[int, ...], size: float) -> list[dict]:
    return relative(name, {far: size ** (far == FAR[-1]) for far in distances})


@pytest.mark.parametrize(
    "figures, verdict",
    [((1e-9, 1e9, 10), TRUE), ((1e-9, 1e9, 80), HALF), ((1e-9, 5, 10), NOT), ((0.1, 1e9, 10), NOT)],
)
def test_the_verdict_follows_from_both_ends(figures: tuple[float, float, float], verdict: str) -> None:
    assert judged(experiment("C18"), rows(*figures)).word == verdict
