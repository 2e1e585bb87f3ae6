"""FLOPs are counted also where torch's own counter sees none: in fused recurrent kernels and the CPU's attention."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torch.nn.utils.rnn import pack_padded_sequence

from regard.train.flops import FORMULAS, aten, flop_counter

LENGTHS = (13, 5, 2)
INPUTS, WIDTH = 7, 11
GATES = {nn.RNN: 1, nn.GRU: 3, nn.LSTM: 4}


def counted(work: Callable[[], Tensor]) -> tuple[int, int]:
    """FLOPs of the forward and of the backward pass."""
    with flop_counter() as forward:
        result = work()
    with flop_counter() as backward:
        result.sum().backward()
    return forward.get_total_flops(), backward.get_total_flops()


def test_a_linear_layer_takes_two_for_each_weight_and_token_and_twice_as_much_backward() -> None:
    layer, x = nn.Linear(INPUTS, WIDTH), torch.randn(3, 13, INPUTS, requires_grad=True)
    product = 2 * 3 * 13 * INPUTS * WIDTH
    assert counted(lambda: layer(x)) == (product, 2 * product)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("cell", GATES)
def test_a_recurrent_layer_takes_what_its_equations_take(cell: type[nn.RNNBase], packed: bool) -> None:
    layer, x = cell(INPUTS, WIDTH, batch_first=True), torch.randn(3, 13, INPUTS, requires_grad=True)
    first = torch.randn(1, 3, WIDTH, requires_grad=True)
    state = (first, torch.randn(1, 3, WIDTH)) if cell is nn.LSTM else first
    given = pack_padded_sequence(x, torch.tensor(LENGTHS), batch_first=True) if packed else x
    tokens = sum(LENGTHS) if packed else 3 * 13
    product = 2 * tokens * GATES[cell] * WIDTH * (INPUTS + WIDTH)

    def work() -> Tensor:
        y, _ = layer(given, state)
        return y.data if packed else y

    assert counted(work) == (product, 2 * product)


def test_the_fused_kernels_of_cuda_take_the_same_by_their_lists_of_weights() -> None:
    weights = [(4 * WIDTH, INPUTS), (4 * WIDTH, WIDTH), (4 * WIDTH,), (4 * WIDTH,)]
    product = 2 * 20 * 4 * WIDTH * (INPUTS + WIDTH)
    for inputs in ((20, INPUTS), (5, 4, INPUTS)):
        assert FORMULAS[aten._cudnn_rnn](inputs, weights, 4) == product
        assert FORMULAS[aten._cudnn_rnn_backward](inputs, weights, 4) == 2 * product


def test_attention_on_the_cpu_is_two_products_over_all_pairs_and_five_backward() -> None:
    query, key, value = (torch.randn(2, 3, length, 5, requires_grad=True) for length in (7, 11, 11))
    product = 2 * 2 * 3 * 7 * 11 * 5
    assert counted(lambda: scaled_dot_product_attention(query, key, value)) == (2 * product, 5 * product)
