"""AdamW: matrices decay, vectors do not, and its state survives as named tensors."""

import torch

from regard.recipe import Train
from regard.systems.gpt import Gpt
from regard.train.optimiser import adamw, optimiser_tensors, put_optimiser_tensors
from tests.helpers import same


def step(model: torch.nn.Module, optimiser: torch.optim.Optimizer, seed: int) -> None:
    torch.manual_seed(seed)
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    optimiser.step()


def model() -> torch.nn.Module:
    torch.manual_seed(5)
    return Gpt(width=14, heads=2, depth=1, context=11).build(13)


def test_it_equals_the_formula_of_adamw() -> None:
    """Loshchilov and Hutter (2019), with both moments corrected for their start at 0."""
    system = model()
    settings = Train(rate=0.03, beta1=0.8, beta2=0.9, weight_decay=0.5)
    optimiser = adamw(system, settings)
    expected = {name: p.detach().clone() for name, p in system.named_parameters()}
    first = {name: torch.zeros_like(p) for name, p in expected.items()}
    second = {name: torch.zeros_like(p) for name, p in expected.items()}
    for t in range(1, 5):
        step(system, optimiser, t)
        for name, p in system.named_parameters():
            decay = 0.5 if p.ndim >= 2 else 0.0
            first[name] = 0.8 * first[name] + 0.2 * p.grad
            second[name] = 0.9 * second[name] + 0.1 * p.grad**2
            move = first[name] / (1 - 0.8**t) / ((second[name] / (1 - 0.9**t)).sqrt() + 1e-8)
            expected[name] = expected[name] * (1 - 0.03 * decay) - 0.03 * move
    for name, p in system.named_parameters():
        same(p.detach(), expected[name])


def test_tied_weights_are_moved_once() -> None:
    counted = sum(len(group["params"]) for group in adamw(model(), Train()).param_groups)
    assert counted == len(dict(model().named_parameters()))


def test_its_state_survives_as_named_tensors() -> None:
    one, other = model(), model()
    first, second = adamw(one, Train()), adamw(other, Train())
    for seed in range(3):
        step(one, first, seed)
    other.load_state_dict(one.state_dict())
    tensors = optimiser_tensors(first, one)
    assert {key.rpartition("/")[2] for key in tensors} == {"step", "exp_avg", "exp_avg_sq"}
    put_optimiser_tensors(second, other, {key: tensor.clone() for key, tensor in sorted(tensors.items(), reverse=True)})
    step(one, first, 9)
    step(other, second, 9)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
