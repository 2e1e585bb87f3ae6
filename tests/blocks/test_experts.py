"""The mixture of experts: one expert is the dense layer, and tokens do not disturb each other."""

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.functional import relu

from regard.blocks.experts import Experts, Gating, arrival, in_blocks
from regard.blocks.feedforward import FeedForward
from regard.systems import measuring
from regard.tap import collect, record
from tests.helpers import refused, same

WIDTH, HIDDEN = 7, 11


def mixture(
    experts: int = 5, chosen: int = 2, *, bias: bool = True, dropout: float = 0.0, load_weight: float = 0.0, **rest: Any
) -> Experts:
    """With a gate that is no longer zero."""
    gating = Gating(experts=experts, chosen=chosen, load_weight=load_weight, **rest)
    made = Experts(WIDTH, HIDDEN, gating, bias=bias, dropout=dropout)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter += 0.5 * torch.randn_like(parameter)
    return made


@pytest.mark.parametrize("training", [False, True])
def test_one_expert_is_the_dense_layer(training: bool) -> None:
    one, dense = mixture(1, 1).train(training), FeedForward(WIDTH, HIDDEN, relu)
    with torch.no_grad():
        for mine, theirs in (("widen", dense.widen), ("output", dense.output)):
            theirs.weight.copy_(getattr(one, mine)[0])
            theirs.bias.copy_(getattr(one, f"{mine}_bias")[0])
    x = torch.randn(3, 13, WIDTH, requires_grad=True)
    got, expected = one(x), dense(x)
    same(got, expected)
    direction = torch.randn_like(x)
    same(*(torch.autograd.grad(y, x, direction)[0] for y in (got, expected)))


def test_without_training_there_is_no_noise_and_a_token_does_not_disturb_another() -> None:
    layer, x = mixture().eval(), torch.randn(3, 13, WIDTH)
    whole = layer(x)
    assert torch.equal(layer(x), whole)
    for row in range(3):
        for t in range(13):
            same(layer(x[row : row + 1, t : t + 1])[0, 0], whole[row, t])


def test_noise_chooses_other_experts_while_training() -> None:
    layer, x = mixture(noise=3.0).train(), torch.randn(3, 13, WIDTH)
    with record(layer, "gates") as seen:
        layer(x), layer(x)
    one, other = seen.all("gates")
    assert not torch.equal(one > 0, other > 0)
    layer.gating = replace(layer.gating, noise=0.0)
    same(layer(x), layer.eval()(x))


@pytest.mark.parametrize("training", [False, True])
def test_padding_changes_nothing_and_is_counted_nowhere(training: bool) -> None:
    layer, x = mixture(noise=0.0, importance_weight=0.3).train(training), torch.randn(3, 13, WIDTH)
    present = torch.arange(13) < torch.tensor([[13], [5], [8]])
    other = torch.where(present[..., None], x, 100 * torch.randn_like(x))
    with collect(layer, "*") as seen:
        got, again = layer(x, present), layer(other, present)
    assert torch.equal(got, again)
    assert not got[~present].any()
    same(got[present], layer(x)[present])
    for name in ("load", "balance") if training else ("load",):
        assert torch.equal(*seen.all(name))
    assert ("balance" in seen) == training
    assert int(seen["load"].sum()) == 2 * (13 + 5 + 8)


def test_each_token_has_as_many_gates_as_are_chosen_and_they_sum_to_one() -> None:
    layer = mixture(5, 3).train()
    with record(layer, "gates", "load") as seen:
        layer(torch.randn(2, 17, WIDTH))
    gates = seen["gates"]
    assert gates.shape == (2, 17, 5)
    assert ((gates > 0).sum(-1) == 3).all()
    same(gates.sum(-1), torch.ones(2, 17))
    assert torch.equal(seen["load"], (gates > 0).sum((0, 1)))


def test_an_expert_that_nobody_needs_has_a_gradient_of_zero() -> None:
    layer = mixture(5, 1, noise=0.0)
    with torch.no_grad():
        layer.to_score.copy_(torch.eye(5, WIDTH))
    x = torch.zeros(2, 3, WIDTH)
    x[..., 3] = 1.0
    layer(x).sum().backward()
    used = layer.output.grad.abs().sum((1, 2)) > 0
    assert used.tolist() == [False, False, False, True, False]


def test_a_full_expert_adds_nothing_to_those_that_come_later_while_training_alone() -> None:
    """Six tokens want the expert 3 of 5; with a capacity of 2.5 even shares there is room for three of them."""
    layer = mixture(5, 1, noise=0.0, capacity=2.5)
    with torch.no_grad():
        layer.to_score.copy_(10 * torch.eye(5, WIDTH))
    x = torch.randn(2, 3, WIDTH) / 10
    x[..., 3] = 1.0
    with record(layer, "load") as seen:
        got = layer.train()(x)
    free = layer.eval()(x)
    same(got[0], free[0])
    assert free[1].any(-1).all()
    assert not got[1].any(), "they came after three others"
    assert seen["load"].tolist() == [0, 0, 0, 3, 0]


@pytest.mark.parametrize("chosen", [1, 2, 3])
def test_room_is_an_even_share_of_what_is_there_without_padding(chosen: int) -> None:
    """Of 10 tokens, each at `chosen` of 5 experts, an even share is 2 `chosen`; half of that is asked for."""
    layer, x = mixture(5, chosen, noise=0.0, capacity=0.5).train(), torch.randn(1, 10, WIDTH)
    padded = torch.cat((x, torch.randn(1, 90, WIDTH)), dim=1)
    with record(layer, "load") as seen:
        alone, beside = layer(x), layer(padded, (torch.arange(100) < 10)[None])
    same(beside[:, :10], alone)
    assert torch.equal(*seen.all("load"))
    assert seen["load"].max() == chosen


def test_a_batch_of_padding_alone_gives_nothing_and_weighs_nothing() -> None:
    layer, x = mixture(5, 2, capacity=1.0, importance_weight=0.3, load_weight=0.7).train(), torch.randn(2, 3, WIDTH)
    with collect(layer, "balance") as seen:
        got = layer(x, torch.zeros(2, 3, dtype=torch.bool))
    assert not got.any() and float(seen["balance"].detach()) == 0.0


def test_experts_may_have_no_bias_and_drop_like_a_dense_layer() -> None:
    bare = mixture(1, 1, bias=False, dropout=0.5)
    assert not any(name.endswith("bias") for name, _ in bare.named_parameters())
    x = torch.randn(3, 13, WIDTH)
    same(bare.eval()(x), relu(x @ bare.widen[0].mT) @ bare.output[0].mT)
    drops = torch.stack([bare.train()(x) for _ in range(1000)])
    spread = drops.std(0)
    assert (spread > 0).float().mean() > 0.9, "what is dropped is drawn anew"
    assert ((drops.mean(0) - bare.eval()(x)).abs() <= 5 * spread / 1000**0.5 + 1e-5).all(), "on average nothing changes"


def test_tokens_are_counted_as_they_arrive() -> None:
    expert = torch.tensor([2, 0, 2, 2, 1, 0, 3])
    assert arrival(expert, 3).tolist() == [0, 0, 1, 2, 0, 1, 0]


@pytest.mark.parametrize("tokens", [1, 2, 5, 17, 40])
@pytest.mark.parametrize("chance", [[1, 1, 1, 1, 1], [1, 0, 0, 0, 0], [0, 0, 0, 0, 1], [8, 4, 0, 2, 1]])
def test_blocks_hold_every_token_once_each_where_its_expert_is(tokens: int, chance: list[int]) -> None:
    """Padding, the expert after the last, is beyond them all; there are never twice as many blocks as experts."""
    expert = torch.multinomial(torch.tensor([*chance, 1.0]), tokens, replacement=True)
    slot, owner, count = in_blocks(expert, 5)
    length = -(-tokens // 5)
    assert len(owner) < 2 * 5
    assert len(owner) <= tokens
    given = expert < 5
    assert len(slot[given].unique()) == int(given.sum())
    assert torch.equal(owner[slot[given] // length], expert[given])
    assert (slot[~given] == len(owner) * length).all()
    assert torch.equal(count, expert.bincount(minlength=6)[:5])


@pytest.mark.parametrize("training", [False, True])
def test_no_number_is_asked_of_the_device_while_tokens_are_sent(
    training: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On "meta" there are no numbers to ask for: lists of counts and boolean indices raise there."""
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())  # which does not know "meta"
    layer = mixture(5, 2, importance_weight=0.3, load_weight=0.7).train(training).to("meta")
    present = torch.ones(3, 13, dtype=torch.bool, device="meta")
    with collect(layer, "*"):
        assert layer(torch.empty(3, 13, WIDTH, device="meta"), present).shape == (3, 13, WIDTH)


def test_loads_are_summed_over_what_was_read() -> None:
    model = nn.ModuleDict({"first": mixture(5, 2), "second": mixture(3, 1)}).eval()
    with measuring(model) as facts:
        for length in (7, 11):
            x = torch.randn(2, length, WIDTH)
            model["second"](model["first"](x))
    assert {fact: set(parts) for fact, parts in facts.items()} == {
        "expert_load": {"first", "second"},
        "expert_load_cv": {"first", "second"},
    }
    shares = torch.tensor(facts["expert_load"]["second"])
    assert float(shares.sum()) == pytest.approx(1, abs=1e-3)
    cv = float(shares.std(correction=0) / shares.mean())
    assert facts["expert_load_cv"]["second"] == pytest.approx(cv, abs=1e-3)


def test_a_model_without_experts_has_no_load() -> None:
    with measuring(FeedForward(WIDTH, HIDDEN, relu)) as facts:
        pass
    assert facts == {}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"chosen": 6}, "system.chosen = 6; it must lie between 1 and the number of experts, 5"),
        ({"chosen": 0}, "system.chosen = 0; it must lie between 1 and the number of experts, 5"),
        ({"importance_weight": -0.1}, "system.importance_weight = -0.1; it must be 0 or more"),
        ({"noise": 0.0, "load_weight": 0.1}, "system.noise = 0 leaves the load without a gradient"),
    ],
)
def test_what_makes_no_sense_is_refused(settings: dict, message: str) -> None:
    with refused(message):
        mixture(**settings)
