"""Each score against its equation, pair by pair, and folded into a scaled dot product (B12)."""

import math

import pytest
import torch

from regard.attention.scores import SCORES, Additive, Bilinear, Dot, ScaledDot, Score

HEADS, WIDTH = 3, 7


def dot(score: Score, q: torch.Tensor, k: torch.Tensor, head: int) -> float:
    return sum(a * b for a, b in zip(q.tolist(), k.tolist(), strict=True))


def scaled(score: Score, q: torch.Tensor, k: torch.Tensor, head: int) -> float:
    return dot(score, q, k, head) / math.sqrt(WIDTH)


def bilinear(score: Bilinear, q: torch.Tensor, k: torch.Tensor, head: int) -> float:
    matrix = score.between[head].tolist()
    return sum(float(q[i]) * matrix[i][j] * float(k[j]) for i in range(WIDTH) for j in range(WIDTH))


def additive(score: Additive, q: torch.Tensor, k: torch.Tensor, head: int) -> float:
    """v . tanh(q W + k) with row vectors, as the lectures write them; k is made by U already."""
    mixed = [
        math.tanh(sum(float(q[i] * score.from_query[head, i, c]) for i in range(WIDTH)) + float(k[c]))
        for c in range(WIDTH)
    ]
    return sum(float(v) * m for v, m in zip(score.judge[head], mixed, strict=True))


SLOW = {"dot": dot, "scaled-dot": scaled, "bilinear": bilinear, "additive": additive}


def test_every_score_has_a_slow_one_here() -> None:
    assert set(SLOW) == set(SCORES)


@pytest.mark.parametrize("name", SCORES)
def test_a_score_equals_a_slow_loop(name: str) -> None:
    score = SCORES[name](HEADS, WIDTH).requires_grad_(False)
    query, key = torch.randn(2, HEADS, 5, WIDTH), torch.randn(2, HEADS, 11, WIDTH)
    got = score(query, key)
    assert got.shape == (2, HEADS, 5, 11)
    for b in range(2):
        for h in range(HEADS):
            for i in range(5):
                for j in range(11):
                    assert float(got[b, h, i, j]) == pytest.approx(
                        SLOW[name](score, query[b, h, i], key[b, h, j], h), rel=1e-4, abs=1e-5
                    )


@pytest.mark.parametrize("name", SCORES)
def test_a_folded_score_is_a_scaled_dot_product(name: str) -> None:
    score = SCORES[name](HEADS, WIDTH).requires_grad_(False)
    query, key = torch.randn(2, HEADS, 5, WIDTH), torch.randn(2, HEADS, 11, WIDTH)
    folded = score.folded(query)
    if name == "additive":
        assert folded is None, "a sum of tanh is no dot product"
        return
    changed, scale = folded
    torch.testing.assert_close(scale * changed @ key.transpose(-2, -1), score(query, key))


def test_unscaled_dot_products_grow_with_the_width_and_scaled_ones_do_not() -> None:
    """C11: with unit components the spread of q . k is sqrt(d)."""
    for width in (16, 1024):
        query, key = torch.randn(1, 1, 300, width), torch.randn(1, 1, 300, width)
        assert float(Dot()(query, key).std()) == pytest.approx(math.sqrt(width), rel=0.05)
        assert float(ScaledDot()(query, key).std()) == pytest.approx(1, rel=0.05)
