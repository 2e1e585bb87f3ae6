"""Optimisers: matrices decay, vectors do not, and its state survives as named tensors."""

import torch

from regard.recipe import Train
from regard.systems.bert import Bert
from regard.systems.gpt import Gpt
from regard.systems.rnn_lm import RnnLm
from regard.train.optimiser import freeze, optimiser, optimiser_tensors, put_optimiser_tensors, storeys
from tests.helpers import refused, same


def step(model: torch.nn.Module, mover: torch.optim.Optimizer, seed: int) -> None:
    torch.manual_seed(seed)
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    mover.step()


def model() -> torch.nn.Module:
    torch.manual_seed(5)
    return Gpt(width=14, heads=2, depth=1, context=11).build(13)


def test_it_equals_the_formula_of_adamw() -> None:
    """Loshchilov and Hutter (2019), with both moments corrected for their start at 0."""
    system = model()
    settings = Train(rate=0.03, beta1=0.8, beta2=0.9, weight_decay=0.5)
    mover = optimiser(system, settings)
    expected = {name: p.detach().clone() for name, p in system.named_parameters()}
    first = {name: torch.zeros_like(p) for name, p in expected.items()}
    second = {name: torch.zeros_like(p) for name, p in expected.items()}
    for t in range(1, 5):
        step(system, mover, t)
        for name, p in system.named_parameters():
            decay = 0.5 if p.ndim >= 2 else 0.0
            first[name] = 0.8 * first[name] + 0.2 * p.grad
            second[name] = 0.9 * second[name] + 0.1 * p.grad**2
            move = first[name] / (1 - 0.8**t) / ((second[name] / (1 - 0.9**t)).sqrt() + 1e-8)
            expected[name] = expected[name] * (1 - 0.03 * decay) - 0.03 * move
    for name, p in system.named_parameters():
        same(p.detach(), expected[name])


def test_biases_of_experts_do_not_decay_though_they_stand_side_by_side() -> None:
    system = Gpt(width=14, heads=2, depth=1, context=11, feedforward="experts").build(13)
    decays = {
        id(p): group["weight_decay"] for group in optimiser(system, Train()).param_groups for p in group["params"]
    }
    found = {name: decays[id(p)] for name, p in system.named_parameters() if ".feedforward." in name}
    assert {name.split(".")[-1] for name, decay in found.items() if not decay} == {"widen_bias", "output_bias"}
    assert {name.split(".")[-1] for name, decay in found.items() if decay} == {
        "widen",
        "output",
        "to_score",
        "to_noise",
    }


def test_plain_descent_is_the_gradient_times_the_rate() -> None:
    system = model()
    mover = optimiser(system, Train(optimiser="sgd", rate=0.5, weight_decay=0.25))
    before = {name: p.detach().clone() for name, p in system.named_parameters()}
    step(system, mover, 3)
    for name, p in system.named_parameters():
        decay = 0.25 if p.ndim >= 2 else 0.0
        same(p.detach(), before[name] - 0.5 * (p.grad + decay * before[name]))
    assert optimiser_tensors(mover, system) == {}


def test_tied_weights_are_moved_once() -> None:
    counted = sum(len(group["params"]) for group in optimiser(model(), Train()).param_groups)
    assert counted == len(dict(model().named_parameters()))


def test_its_state_survives_as_named_tensors() -> None:
    one, other = model(), model()
    first, second = optimiser(one, Train()), optimiser(other, Train())
    for seed in range(3):
        step(one, first, seed)
    other.load_state_dict(one.state_dict())
    tensors = optimiser_tensors(first, one)
    assert {key.rpartition("/")[2] for key in tensors} == {"step", "exp_avg", "exp_avg_sq"}
    put_optimiser_tensors(second, other, {key: tensor.clone() for key, tensor in sorted(tensors.items(), reverse=True)})
    step(one, first, 9)
    step(other, second, 9)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_storeys_are_the_words_then_each_layer_then_the_rest() -> None:
    found = storeys(Bert(width=14, heads=2, depth=3, context=11).build(13))
    assert {name: n for name, n in found.items() if n == 0}.keys() == {
        "encoder.embedding.rows.weight",
        "encoder.embedding.position.table.rows.weight",
        "encoder.embedding.segments.weight",
        "encoder.embedding.norm.weight",
        "encoder.embedding.norm.bias",
    }
    assert found["encoder.blocks.2.feedforward.output.weight"] == 3
    assert found["head.dense.weight"] == 4
    assert storeys(RnnLm(width=14, depth=2).build(13))["layers.layers.1.fused.weight_ih_l0"] == 2


def test_each_storey_learns_slower_than_the_one_above_it() -> None:
    system = model()
    found, rates = storeys(system), {}
    for group in optimiser(system, Train(storey_decay=0.5)).param_groups:
        for parameter in group["params"]:
            rates[next(name for name, p in system.named_parameters() if p is parameter)] = group["part"]
    assert rates == {name: 0.5 ** (2 - storey) for name, storey in found.items()}
    assert {group["part"] for group in optimiser(system, Train()).param_groups} == {1.0}


def test_what_is_frozen_keeps_its_weights_and_costs_no_gradient() -> None:
    system = model()
    freeze(system, 1)
    assert not system.decoder.embedding.rows.weight.requires_grad
    moved = {id(p) for group in optimiser(system, Train()).param_groups for p in group["params"]}
    assert moved == {id(p) for name, p in system.named_parameters() if "embedding" not in name}
    with refused("train.frozen = 3: the model has 3 storeys, and the highest must learn"):
        freeze(system, 3)
