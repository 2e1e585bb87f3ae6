"""The fast kernel is `attend` by another way: the same values, gradients and zeros."""

from dataclasses import replace

import pytest
import torch

from regard.attention import kernels
from regard.attention.kernels import fastest, formula
from regard.attention.patterns import Pattern, Sight, causal, everyone, window
from regard.attention.positions import Position
from regard.attention.scores import SCORES, ScaledDot
from regard.place import Place
from tests.helpers import line, same


class Fixed(Position):
    """The same numbers added to the scores of any places."""

    def __init__(self, bias: torch.Tensor):
        super().__init__()
        self.bias = bias

    def on_scores(self, query, q, k, score):
        return self.bias


PATTERNS = {"everyone": everyone, "causal": causal, "window": window(3), "local": causal & window(2)}


def crowd(rows: int, length: int, kind: str) -> Place:
    at = line(rows, length)
    if kind == "padded":
        return replace(at, present=torch.arange(length) < torch.tensor([[length], [length // 2]]))
    if kind == "packed":
        return replace(at, document=(torch.arange(length) >= torch.tensor([[3], [length - 2]])).long())
    return at


def value_and_gradients(kernel, query, key, value, **rest) -> list[torch.Tensor]:
    inputs = [x.detach().requires_grad_() for x in (query, key, value)]
    context = kernel(*inputs, **rest)
    return [context, *torch.autograd.grad(context.square().sum() + context.sum(), inputs)]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("kind", ["plain", "padded", "packed"])
@pytest.mark.parametrize("groups", [6, 3, 1])
def test_the_fastest_way_equals_the_formula(score: str, pattern: str, kind: str, groups: int) -> None:
    at = crowd(2, 11, kind)
    sight = Sight(PATTERNS[pattern], at, at)
    query, key, value = torch.randn(2, 6, 11, 7), torch.randn(2, groups, 11, 7), torch.randn(2, groups, 11, 7)
    rest = {"sight": sight, "score": SCORES[score](6, 7)}
    seen = torch.ones_like(at.index, dtype=torch.bool) if at.present is None else at.present
    fast, slow = (
        value_and_gradients(lambda *x, k=k, **r: k(*x, **r) * seen[:, None, :, None], query, key, value, **rest)
        for k in (fastest, formula)
    )
    for a, b in zip(fast, slow, strict=True):
        same(a, b)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("across", [False, True])
def test_a_bias_is_added_by_both(pattern: str, across: bool) -> None:
    k = line(2, 7)
    q = line(2, 5) if across else k
    length = q.index.shape[1]
    rest = {
        "sight": Sight(PATTERNS[pattern], q, k),
        "score": ScaledDot(),
        "position": Fixed(torch.randn(1, 3, length, 7)),
    }
    tensors = torch.randn(2, 3, length, 11), torch.randn(2, 3, 7, 11), torch.randn(2, 3, 7, 13)
    for a, b in zip(
        value_and_gradients(fastest, *tensors, **rest), value_and_gradients(formula, *tensors, **rest), strict=True
    ):
        same(a, b)
    unbiased = fastest(*tensors, sight=rest["sight"], score=ScaledDot())
    assert not torch.allclose(unbiased, fastest(*tensors, **rest))


@pytest.mark.parametrize("kernel", [fastest, formula])
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("bias", [False, True])
def test_a_query_that_may_look_nowhere_gets_zeros_in_value_and_gradient(kernel, score: str, bias: bool) -> None:
    blind = Pattern(lambda q, k: (q.index != 2) & (k.index <= q.index))
    rest = {
        "sight": Sight(blind, line(2, 5), line(2, 7)),
        "score": SCORES[score](3, 11),
        "position": Fixed(torch.randn(1, 3, 5, 7)) if bias else Position(),
    }
    context, query, key, value = value_and_gradients(
        kernel, torch.randn(2, 3, 5, 11), torch.randn(2, 3, 7, 11), torch.randn(2, 3, 7, 11), **rest
    )
    for x in (context, query):
        assert not x[:, :, 2].any()
        assert x[:, :, 1].any()
    assert key.isfinite().all() and value.isfinite().all()
    assert not value[:, :, 5:].any(), "nobody looked there"


@pytest.mark.parametrize("kernel", [fastest, formula])
def test_where_all_is_padding_everybody_gets_zeros(kernel) -> None:
    at = replace(line(2, 5), present=torch.tensor([[True] * 5, [False] * 5]))
    context = kernel(*(torch.randn(2, 3, 5, 7) for _ in range(3)), sight=Sight(everyone, at, at), score=ScaledDot())
    assert context[0].all()
    assert not context[1].any()


@pytest.mark.parametrize("kernel", [fastest, formula])
def test_dropout_changes_the_context_and_keeps_its_mean(kernel) -> None:
    sight = Sight(everyone, line(1, 5), line(1, 7))
    tensors = torch.randn(1, 3, 5, 11), torch.randn(1, 3, 7, 11), torch.randn(1, 3, 7, 11)
    plain = kernel(*tensors, sight=sight, score=ScaledDot())
    drawn = torch.stack([kernel(*tensors, sight=sight, score=ScaledDot(), dropout=0.5) for _ in range(3000)])
    assert not torch.allclose(drawn[0], plain)
    same(drawn.mean(0), plain, atol=0.1)


def test_no_mask_is_built_where_none_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table at the top of `kernels`: full and lower-triangular attention run without a T x T mask."""
    calls = []
    real = kernels.scaled_dot_product_attention
    monkeypatch.setattr(kernels, "scaled_dot_product_attention", lambda *x, **r: calls.append(r) or real(*x, **r))
    at, tensors = line(2, 5), [torch.randn(2, 3, 5, 7) for _ in range(3)]
    for pattern, q, k in (
        (causal, at, at),
        (everyone, at, at),
        (causal, at, line(2, 5)),
        (causal, *[crowd(2, 5, "packed")] * 2),
        (everyone, at, crowd(2, 5, "padded")),
    ):
        fastest(*tensors, sight=Sight(pattern, q, k), score=ScaledDot())
    masks = [call.get("attn_mask") for call in calls]
    assert [bool(call.get("is_causal")) for call in calls] == [True, False, False, False, False]
    assert [mask is None for mask in masks] == [True, True, False, False, False]
