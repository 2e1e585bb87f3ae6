"""Several heads side by side (B5): each is one attention of its own, and together they cost what one would."""

import pytest
import torch

from regard.attention.heads import MultiHead, head_width
from regard.attention.look import Look
from regard.attention.patterns import causal, window
from regard.attention.positions import Rotary
from regard.systems.system import parameters
from regard.tap import record
from tests.helpers import line, refused, same, slow_attend


@pytest.mark.parametrize(
    ("width", "heads", "message"),
    [
        (510, 8, "width 510 does not split into 8 heads; 504 and 512 do"),
        (13, 5, "width 13 does not split into 5 heads; 10 and 15 do"),
        (3, 5, "width 3 does not split into 5 heads; 5 does"),
    ],
)
def test_a_width_that_does_not_split_names_the_nearest_that_do(width: int, heads: int, message: str) -> None:
    with refused(message):
        head_width(width, heads)


def test_512_is_8_times_64() -> None:
    assert head_width(512, 8) == 64


def test_heads_may_be_wider_or_narrower_than_the_width_splits_into() -> None:
    """Six heads of 64 at a width of 512, as in T5 1.1: the output brings 384 back to 512."""
    attention = MultiHead(512, 6, Look("encoder"), each=64, bias=False)
    assert attention.to_query.weight.shape == attention.to_value.weight.shape == (384, 512)
    assert attention.output.weight.shape == (512, 384)
    assert attention(torch.randn(2, 5, 512), line(2, 5)).shape == (2, 5, 512)


def test_8_heads_of_64_have_as_many_parameters_as_one_of_512() -> None:
    """C8: projections to queries, keys, values and the output, each 512 x 512 with a bias."""
    eight, one = (parameters(MultiHead(512, heads, Look("encoder"))) for heads in (8, 1))
    assert eight == one == 4 * (512 * 512 + 512)


def test_key_value_heads_are_shared_evenly_or_refused() -> None:
    with refused("6 heads cannot share 4 key-value heads evenly"):
        MultiHead(42, 6, Look("encoder"), groups=4)


@pytest.mark.parametrize("groups", [6, 2])
def test_heads_equal_a_slow_loop_over_slices_of_the_projections(groups: int) -> None:
    attention = MultiHead(42, 6, Look("decoder", pattern=causal), groups=groups).requires_grad_(False)
    x, at = torch.randn(2, 5, 42), line(2, 5)

    def slices(projection: torch.nn.Linear, count: int) -> torch.Tensor:
        projected = x @ projection.weight.T + projection.bias
        return torch.stack([projected[:, :, 7 * h : 7 * h + 7] for h in range(count)], dim=1)

    query = slices(attention.to_query, 6)
    key, value = slices(attention.to_key, groups), slices(attention.to_value, groups)
    allow = torch.ones(5, 5).tril().bool().expand(2, 1, 5, 5)
    _, context = slow_attend(query, key, value, lambda q, k, h: q @ k / 7**0.5, allow)
    joined = torch.cat([context[:, h] for h in range(6)], dim=-1)
    same(attention(x, at), joined @ attention.output.weight.T + attention.output.bias)


def test_looking_across_at_itself_is_self_attention() -> None:
    attention, x, at = MultiHead(42, 3, Look("encoder")), torch.randn(2, 5, 42), line(2, 5)
    same(attention.across(x, at, *attention.key_value(x), at), attention(x, at))


def test_across_queries_come_from_the_text_and_keys_from_the_memory() -> None:
    attention, x, memory = MultiHead(42, 3, Look("encoder")), torch.randn(2, 5, 42), torch.randn(2, 7, 42)
    with record(attention, "*") as seen:
        got = attention.across(x, line(2, 5), *attention.key_value(memory), line(2, 7))
    assert got.shape == (2, 5, 42)
    assert seen["look.weights"].shape == (2, 3, 5, 7)
    same(seen["look.query"], attention.to_query(x).unflatten(-1, (3, 14)).transpose(1, 2))
    same(seen["look.key"], attention.to_key(memory).unflatten(-1, (3, 14)).transpose(1, 2))
    same(seen["look.value"], attention.to_value(memory).unflatten(-1, (3, 14)).transpose(1, 2))


def test_taps_show_what_the_kernel_was_given() -> None:
    """With rotary positions the recorded queries and keys are the turned ones."""
    attention = MultiHead(42, 3, Look("decoder", pattern=causal, position=Rotary(14)))
    with record(attention, "*") as seen:
        attention(torch.randn(2, 5, 42), line(2, 5))
    scores = seen["look.query"] @ seen["look.key"].transpose(-2, -1) / 14**0.5
    hidden = torch.ones(5, 5).triu(1).bool()
    same(seen["look.scores"], scores.masked_fill(hidden, -torch.inf))
    same(seen["look.weights"], scores.masked_fill(hidden, -torch.inf).softmax(-1))


def test_without_bias_there_is_none() -> None:
    assert all(name.endswith("weight") for name, _ in MultiHead(42, 3, Look("encoder"), bias=False).named_parameters())


def test_reach_is_the_largest_distance_named_inside() -> None:
    assert Look("encoder", pattern=window(5)).reach == 5
    assert Look("encoder").reach == 0
