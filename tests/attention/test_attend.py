"""`attend` is the equation of the lectures (B3-B6), with the lectures' own numbers."""

import math

import pytest
import torch

from regard.attention.attend import attend, serve
from regard.attention.patterns import Sight, causal
from regard.attention.scores import Dot
from tests.helpers import line, same, slow_attend

TRIANGLE = Sight(causal, line(1, 4), line(1, 4)).allow()


def scaled(q: torch.Tensor, k: torch.Tensor, head: int) -> float:
    return sum(a * b for a, b in zip(q.tolist(), k.tolist(), strict=True)) / math.sqrt(len(q))


def some(rows: int = 2, heads: int = 3, queries: int = 5, keys: int = 7, width: int = 11, out: int = 13):
    return (
        torch.randn(rows, heads, queries, width),
        torch.randn(rows, heads, keys, width),
        torch.randn(rows, heads, keys, out),
    )


def test_it_equals_a_slow_loop() -> None:
    query, key, value = some()
    seen = attend(query, key, value)
    weights, context = slow_attend(query, key, value, scaled, torch.ones(2, 1, 5, 7, dtype=torch.bool))
    same(seen.weights, weights)
    same(seen.context, context)


def test_it_equals_a_slow_loop_over_what_may_be_seen() -> None:
    query, key, value = some()
    allow = torch.rand(2, 1, 5, 7) < 0.5
    allow[1, 0, 3] = False
    seen = attend(query, key, value, allow=allow)
    weights, context = slow_attend(query, key, value, scaled, allow)
    same(seen.weights, weights)
    same(seen.context, context)
    assert (seen.scores == -math.inf).equal(~allow.expand_as(seen.scores))


def test_a_bias_is_added_to_the_scores_before_the_softmax() -> None:
    query, key, value = some()
    bias = torch.randn(1, 3, 5, 7)
    plain, biased = attend(query, key, value), attend(query, key, value, bias=bias)
    same(biased.scores, plain.scores + bias)
    same(biased.weights, (plain.weights.log() + bias).softmax(-1))


def test_grouped_key_value_heads_equal_repeated_heads() -> None:
    query, key, value = torch.randn(2, 6, 5, 11), torch.randn(2, 3, 7, 11), torch.randn(2, 3, 7, 13)
    repeated = [torch.stack([x[:, h // 2] for h in range(6)], dim=1) for x in (key, value)]
    for got, expected in zip(attend(query, key, value), attend(query, *repeated), strict=True):
        same(got, expected)
    weights, _ = slow_attend(query, key, value, scaled, torch.ones(2, 1, 5, 7, dtype=torch.bool))
    same(attend(query, key, value).weights, weights)


def test_heads_that_are_not_shared_are_not_copied() -> None:
    key = torch.randn(2, 3, 5, 7)
    assert serve(key, 3) is key


def test_dropout_drops_weights_and_scales_the_rest() -> None:
    query, key, value = some()
    plain = attend(query, key, value)
    torch.manual_seed(1)
    dropped = attend(query, key, value, dropout=0.5)
    torch.manual_seed(1)
    kept = torch.nn.functional.dropout(torch.ones_like(plain.weights), 0.5)
    assert set(kept.unique().tolist()) == {0.0, 2.0}
    same(dropped.context, (plain.weights * kept) @ value)
    assert torch.equal(dropped.weights, plain.weights), "the weights that are shown are those before dropout"


def test_a_query_that_may_look_nowhere_gets_zeros_in_value_and_gradient() -> None:
    query, key, value = (x.requires_grad_() for x in some())
    allow = torch.ones(1, 1, 5, 7, dtype=torch.bool)
    allow[:, :, 2] = False
    seen = attend(query, key, value, allow=allow)
    assert not seen.context[:, :, 2].any()
    assert not seen.weights[:, :, 2].any()
    mine = torch.autograd.grad(seen.context.square().sum() + seen.context.sum(), (query, key, value))
    assert not mine[0][:, :, 2].any()
    others = [0, 1, 3, 4]
    without = attend(query[:, :, others], key, value).context
    theirs = torch.autograd.grad(without.square().sum() + without.sum(), (query, key, value))
    for a, b in zip(mine, theirs, strict=True):
        same(a, b)


def test_the_quiz_of_003_has_the_answer_one_half() -> None:
    scores = torch.tensor([[1.0, 0, -1, -1], [1, 1, -1, 0], [0, 1, 1, -1], [-1, -1, 2, 1]])
    query, key, value = scores[None, None], torch.eye(4)[None, None], torch.randn(1, 1, 4, 3)
    masked = attend(query, key, value, allow=TRIANGLE, score=Dot())
    assert masked.weights[0, 0, 1, 1] == 0.5
    assert masked.weights[0, 0].triu(1).count_nonzero() == 0
    same(
        masked.weights[0, 0, 2],
        torch.tensor([1 / (1 + 2 * math.e), math.e / (1 + 2 * math.e), math.e / (1 + 2 * math.e), 0]),
    )
    unmasked = attend(query, key, value, score=Dot())
    same(unmasked.weights[0, 0, 1, 1], torch.tensor(math.e / (2 * math.e + 1 / math.e + 1)))


def test_thinking_machines_looks_88_percent_at_itself() -> None:
    """q1 . k1 = 112 and q1 . k2 = 96 with d_k = 64 give 14 and 12, so 0.88 v1 + 0.12 v2 (003)."""
    query = torch.ones(1, 1, 1, 64)
    key = torch.stack((torch.full((64,), 112 / 64), torch.full((64,), 96 / 64)))[None, None]
    value = torch.randn(1, 1, 2, 5)
    seen = attend(query, key, value)
    assert seen.scores.flatten().tolist() == [14, 12]
    assert [round(w, 2) for w in seen.weights.flatten().tolist()] == [0.88, 0.12]
    share = 1 / (1 + math.exp(-2))
    same(seen.context[0, 0, 0], share * value[0, 0, 0] + (1 - share) * value[0, 0, 1])


@pytest.mark.parametrize("length", [1, 4, 7])
def test_simplified_attention_mixes_the_words_themselves(length: int) -> None:
    """B3: score(x_i, x_j) = x_i . x_j, softmax over j <= i, sum of alpha_ij x_j."""
    x = torch.randn(length, 5)
    place = line(1, length)
    got = attend(*(x[None, None],) * 3, allow=Sight(causal, place, place).allow(), score=Dot()).context[0, 0]
    for i in range(length):
        shares = [math.exp(float(x[i] @ x[j])) for j in range(i + 1)]
        expected = sum((share / sum(shares)) * x[j] for j, share in enumerate(shares))
        same(got[i], expected)
