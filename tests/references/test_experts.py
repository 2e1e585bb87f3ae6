"""The mixture of experts against loops written from the equations of Shazeer et al. (2017)."""

import math

import pytest
import torch
from torch import Tensor

from regard.blocks import experts
from regard.blocks.experts import Experts, Gating
from regard.tap import collect
from tests.references.copy import exact, lively

WIDTH, HIDDEN, EXPERTS, TOKENS = 7, 11, 5, 13


def kth_highest(values: list[float], k: int, without: int | None = None) -> float:
    """`kth_excluding` of the paper, counted from 1."""
    return sorted((v for i, v in enumerate(values) if i != without), reverse=True)[k - 1]


def mixture(chosen: int, **weights: float) -> Experts:
    return Experts(WIDTH, HIDDEN, Gating(experts=EXPERTS, chosen=chosen, **weights))


def expert(layer: Experts, i: int, x: Tensor) -> Tensor:
    hidden = (layer.widen[i] @ x + layer.widen_bias[i]).clamp(min=0)
    return layer.output[i] @ hidden + layer.output_bias[i]


def slow(layer: Experts, x: Tensor, noise: Tensor | None, chosen: int) -> tuple[Tensor, Tensor, Tensor]:
    """Output, gates G(x) (eq. 1-5) and P(x, i) (eq. 8, 9), one token and one expert at a time. An expert that is chosen
    alone counts by its share among all (Fedus et al., 2022, eq. 2)."""
    outputs, gates, likely = [], [], []
    for t, token in enumerate(x):
        clean = [(layer.to_score[i] * token).sum() for i in range(EXPERTS)]
        spread = [((layer.to_noise[i] * token).sum().exp() + 1).log() for i in range(EXPERTS)]
        score = [c if noise is None else c + noise[t, i] * spread[i] for i, c in enumerate(clean)]
        kept = [i for i in range(EXPERTS) if score[i] >= kth_highest(score, chosen)]
        total = sum(score[i].exp() for i in (kept if chosen > 1 else range(EXPERTS)))
        gate = [score[i].exp() / total if i in kept else torch.zeros(()).double() for i in range(EXPERTS)]
        outputs.append(sum(gate[i] * expert(layer, i, token) for i in range(EXPERTS)))
        gates.append(torch.stack(gate))
        depth = [(clean[i] - kth_highest(score, chosen, i)) / spread[i] for i in range(EXPERTS)]
        likely.append(torch.stack([0.5 * (1 + torch.erf(z / math.sqrt(2))) for z in depth]))
    return torch.stack(outputs), torch.stack(gates), torch.stack(likely)


def cv_squared(x: Tensor) -> Tensor:
    mean = sum(x) / len(x)
    return sum((each - mean) ** 2 for each in x) / len(x) / mean**2


@pytest.mark.parametrize("chosen", [1, 2, 4])
def test_the_mixture_and_its_losses_equal_the_equations(chosen: int, monkeypatch: pytest.MonkeyPatch) -> None:
    layer = lively(mixture(chosen, importance_weight=0.3, load_weight=0.7))
    x = torch.randn(TOKENS, WIDTH, dtype=torch.float64, requires_grad=True)
    noise = torch.randn(TOKENS, EXPERTS, dtype=torch.float64)
    monkeypatch.setattr(experts.torch, "randn_like", lambda scores: noise)
    with collect(layer, "balance") as seen:
        got = layer(x[None])[0]
    output, gates, likely = slow(layer, x, noise, chosen)
    exact(got, output)
    loss = 0.3 * cv_squared(gates.sum(0)) + 0.7 * cv_squared(likely.sum(0))
    exact(seen["balance"], loss)
    inputs = [x, *layer.parameters()]
    direction = torch.randn(TOKENS, WIDTH, dtype=torch.float64)
    mine = torch.autograd.grad((got * direction).sum() + seen["balance"], inputs)
    theirs = torch.autograd.grad((output * direction).sum() + loss, inputs)
    for a, b in zip(mine, theirs, strict=True):
        exact(a, b)


@pytest.mark.parametrize("chosen", [1, 2])
def test_the_task_teaches_the_gate(chosen: int) -> None:
    """However few are chosen, and without any noise: the gate has a gradient that is not that of its balance."""
    layer = lively(mixture(chosen, noise=0.0, importance_weight=0.0, load_weight=0.0))
    layer(torch.randn(1, TOKENS, WIDTH, dtype=torch.float64)).square().sum().backward()
    assert layer.to_score.grad is not None and float(layer.to_score.grad.abs().min(1).values.max()) > 1e-4


def test_without_training_the_best_scores_choose() -> None:
    layer = lively(mixture(2)).eval()
    x = torch.randn(TOKENS, WIDTH, dtype=torch.float64)
    exact(layer(x[None])[0], slow(layer, x, None, 2)[0])


def test_all_chosen_is_a_dense_mixture_whose_load_is_even() -> None:
    layer = lively(mixture(EXPERTS, importance_weight=0.0, load_weight=1.0)).train()
    with collect(layer, "balance") as seen:
        layer(torch.randn(1, TOKENS, WIDTH, dtype=torch.float64))
    assert float(seen["balance"].detach()) == 0


def test_the_smooth_load_is_that_of_many_draws() -> None:
    """P(x, i) is the chance that expert i is chosen when its own noise alone is drawn again."""
    torch.manual_seed(3)
    clean, spread = torch.randn(1, EXPERTS), 0.5 + torch.rand(1, EXPERTS)
    noisy = clean + spread * torch.randn(1, EXPERTS)
    routes = experts.Routes(noisy.topk(2).indices, torch.full((1, 2), 0.5), clean, noisy, spread)
    found = experts.likely(routes)[0]
    for i in range(EXPERTS):
        drawn = noisy.repeat(20_000, 1)
        drawn[:, i] = clean[0, i] + spread[0, i] * torch.randn(20_000)
        share = (drawn.topk(2).indices == i).any(1).double().mean()
        assert float(share) == pytest.approx(float(found[i]), abs=0.02)
