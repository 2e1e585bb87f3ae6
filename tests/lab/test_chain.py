"""How many matrix products wait for one another, against what is known of each system."""

import pytest
import torch

from regard import read
from regard.lab.bench import fastest
from regard.lab.chain import longest_chain, step_by_step
from regard.systems import built


def chain(preset: str, length: int, *settings: str) -> int:
    recipe = read(preset, ["system.width=8", *settings])
    tokens = torch.randint(4, 11, (1, length))
    with step_by_step():
        return longest_chain(built(recipe.system, 11).eval().hidden(tokens))


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_a_recurrent_layer_takes_as_many_products_as_there_are_tokens(cell):
    assert [chain("rnn-lm", length, f"system.cell='{cell}'") for length in (3, 7, 19)] == [3, 7, 19]


def test_a_layer_that_is_given_all_states_in_one_waits_for_the_last_of_them():
    """Layer by layer, as torch computes them; see C1 for what they need."""
    assert chain("rnn-lm", 7, "system.depth=3") == 3 * 7


@pytest.mark.parametrize("depth", [1, 3])
def test_windows_take_one_for_each_layer_and_attention_five(depth):
    """Queries, weights and context in one kernel, output, and two of the feed-forward layer."""
    for length in (3, 17):
        assert chain("window-lm", length, f"system.depth={depth}") == depth
        assert chain("gpt", length, f"system.depth={depth}") == 5 * depth


def test_products_side_by_side_count_once_and_a_row_of_them_each():
    one, other = (torch.randn(5, 5, requires_grad=True) for _ in range(2))
    assert longest_chain(one @ other + other @ one) == 1
    assert longest_chain(one @ other @ one + other @ one) == 2
    assert longest_chain(one + other) == 0
    with torch.no_grad(), pytest.raises(ValueError, match="without its graph"):
        longest_chain(one @ other)


def test_the_fastest_of_several_is_told_after_one_to_warm_up():
    done: list[int] = []
    slow = iter([0, 400_000, 0, 400_000])

    def work() -> None:
        done.append(sum(range(next(slow))))

    assert fastest(torch.device("cpu"), work, 3) < 0.001
    assert len(done) == 4
