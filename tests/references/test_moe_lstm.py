"""LSTMs with experts equal a slow loop written from Shazeer et al. (2017), appendix E: one word at a time."""

import pytest
from torch import Tensor, nn

from regard.blocks.experts import Experts
from tests.references.slow_recurrence import beside, found, step, through
from tests.references.test_recurrent import both_ways, built, equal, every_cell

KEPT = 0.7  # dropout is put in the place of this factor: where it stands matters


class Shrink(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return KEPT * x


def slow_experts(mixture: Experts, x: Tensor) -> Tensor:
    """Equations 1-5 without noise: the best experts, each by its share of e^score; one alone by that among all."""
    scores = [x @ row for row in mixture.to_score]
    best = sorted(range(len(scores)), key=lambda i: -scores[i])[: mixture.gating.chosen]
    total = sum(scores[i].exp() for i in (best if len(best) > 1 else range(len(scores))))
    outputs = []
    for i in best:
        hidden = (mixture.widen[i] @ x + mixture.widen_bias[i]).clamp(min=0)
        outputs.append(scores[i].exp() / total * (mixture.output[i] @ hidden + mixture.output_bias[i]))
    return sum(outputs)


def added(x: Tensor, y: Tensor) -> Tensor:
    """A layer's output after dropout, on top of what the layer was given."""
    return x + KEPT * y


def mixed(mixture: Experts, x: Tensor) -> Tensor:
    """What the experts give passes a sigmoid."""
    return added(x, 1 / (1 + (-slow_experts(mixture, x)).exp()))


def slow_moe(model, source: list[Tensor], target: list[Tensor]) -> list[Tensor]:
    """Both ways, forwards, experts, the rest; the decoder: the word and what is found, a cell, experts, the rest."""
    xs = [KEPT * x for x in source]
    ys, _ = both_ways(model.both_ways, xs)
    xs, states = [added(x, y) for x, y in zip(xs, ys, strict=True)], []
    for number, layer in enumerate(model.encoder):
        ys, last = through(layer, xs)
        xs = [added(x, y) for x, y in zip(xs, ys, strict=True)]
        if number == 0:
            xs = [mixed(model.encoder_experts, x) for x in xs]
        states.append(last)
    memory, written = xs, []
    for word in target:
        c = found(model.bottom.alignment, states[0][0], memory)
        x = model.bottom.enter.weight @ beside(KEPT * word, c) + model.bottom.enter.bias
        states[0] = step(model.bottom.layers.layers[0], x, states[0])
        x = mixed(model.decoder_experts, added(x, states[0][0]))
        for number, layer in enumerate(model.decoder, 1):
            states[number] = step(layer, x, states[number])
            x = added(x, states[number][0])
        written.append(x)
    return written


@every_cell
@pytest.mark.parametrize(("depth", "experts", "chosen"), [(1, 5, 2), (2, 3, 3), (3, 5, 1)])
def test_lstms_with_experts_equal_their_equations(cell: str, depth: int, experts: int, chosen: int) -> None:
    model = built("moe-lstm", cell=cell, depth=depth, experts=experts, chosen=chosen, hidden=11)
    model.drop = Shrink()
    equal(model, slow_moe)
