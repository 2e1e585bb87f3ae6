"""Patterns of blocks: the pairs they allow against a loop over blocks, and the blocked kernel against the formula."""

from dataclasses import replace

import pytest
import torch

from regard.attention.blocks import BigBird, Local, mixed
from regard.attention.kernels import fastest, formula
from regard.attention.patterns import Pattern, Sight, bigbird, causal, local
from regard.attention.relative import Alibi
from regard.attention.scores import ScaledDot
from tests.helpers import line, same

LENGTHS = [1, 4, 5, 23, 24, 41]


def sees_slowly(rule: BigBird, query: int, key: int, blocks: int) -> bool:
    """Whether a block sees another in a text of so many blocks, by the words of the rule."""
    if not rule.ahead and key > query:
        return False
    if rule.ahead and query < rule.first:
        return True
    there = [n for n in range(blocks) if rule.ahead or n <= query]
    fixed = [n for n in there if n < rule.first or abs(n - query) <= rule.near]
    rank = {n: int(mixed(torch.tensor([[query]]), torch.tensor([[n]]), rule.seed)) for n in there if n not in fixed}
    drawn = sorted(rank, key=rank.__getitem__)[: rule.most - len(fixed)]
    return key in fixed + drawn


@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize("shape", [(2, 1, 1), (0, 0, 2), (1, 2, 0), (3, 0, 1)])
@pytest.mark.parametrize("length", LENGTHS)
def test_bigbird_allows_exactly_the_pairs_of_its_rule(length: int, shape: tuple[int, int, int], ahead: bool) -> None:
    first, near, random = shape
    rule = BigBird(4, first=first, near=near, random=random, seed=7, ahead=ahead)
    at = line(1, length)
    allowed = Sight(bigbird(rule), at, at).allow()[0, 0]
    blocks = -(-length // 4)
    for i in range(length):
        for j in range(length):
            expected = sees_slowly(rule, i // 4, j // 4, blocks) and (ahead or j <= i)
            assert bool(allowed[i, j]) == expected, (i, j)


def test_every_block_sees_as_many_as_the_rule_says_and_chance_differs_by_layer() -> None:
    rule = BigBird(4, first=2, near=1, random=3)
    (chosen,) = rule.chosen(40, torch.tensor([40]))
    assert chosen.shape == (40, 8) and (chosen >= 0).all()
    assert all(len(set(row)) == 8 for row in chosen.tolist())
    other = replace(rule, seed=1).chosen(40, torch.tensor([40]))[0]
    assert not torch.equal(chosen, other)


def test_chance_is_spread_over_the_text() -> None:
    """Every block of a long text is seen about as often as any other by those that draw it."""
    rule, seen = BigBird(4, first=0, near=0, random=3), torch.zeros(50)
    for seed in range(200):
        chosen = replace(rule, seed=seed).chosen(50, torch.tensor([50]))
        seen += chosen.flatten().bincount(minlength=50)
    drawn = seen / 200 - 1  # without itself
    assert drawn.mean() == pytest.approx(3.0)
    assert drawn.min() > 2.5 and drawn.max() < 3.5


@pytest.mark.parametrize("pattern", ["bigbird", "causal-bigbird", "local", "causal-local"])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("groups", [4, 2])
def test_the_blocked_kernel_equals_the_formula(pattern: str, length: int, padded: bool, groups: int) -> None:
    torch.manual_seed(length)
    at = line(3, length)
    if padded:
        at = replace(at, present=torch.arange(length) < torch.tensor([[length], [max(1, length - 5)], [1]]))
    inputs = torch.randn(3, 4, length, 7), torch.randn(3, groups, length, 7), torch.randn(3, groups, length, 5)
    there = at.present[:, None, :, None] if at.present is not None else 1.0
    results = []
    for kernel in (fastest, formula):
        tensors = [x.clone().requires_grad_() for x in inputs]
        how = {"sight": Sight(PATTERNS[pattern], at, at), "score": ScaledDot(), "position": Alibi(4)}
        context = kernel(*tensors, **how) * there
        results.append([context, *torch.autograd.grad((context.square() + context).sum(), tensors)])
    for fast, slow in zip(*results, strict=True):
        same(fast, slow)


def test_blocks_that_do_not_see_each_other_are_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers of queries and keys given to torch's kernel grow as the text does."""
    from regard.attention import kernels

    def pairs(pattern: Pattern, length: int) -> int:
        counted = []

        def count(query, key, value, **rest):
            counted.append(query.shape[0] * query.shape[2] * key.shape[2])
            return torch.zeros(*query.shape[:3], value.shape[3])

        monkeypatch.setattr(kernels, "scaled_dot_product_attention", count)
        at, x = line(1, length), torch.zeros(1, 1, length, 8)
        fastest(x, x, x, sight=Sight(pattern, at, at), score=ScaledDot())
        return sum(counted)

    for name in PATTERNS:
        assert pairs(PATTERNS[name], 800) <= 2.1 * pairs(PATTERNS[name], 400), name
        assert pairs(PATTERNS[name], 800) < 800 * 800 / 4


PATTERNS = {
    "bigbird": bigbird(BigBird(4, first=1, near=1, random=2)),
    "causal-bigbird": bigbird(BigBird(4, first=1, near=1, random=2, ahead=False)),
    "local": local(4),
    "causal-local": local(4) & causal,
}


def test_a_local_block_is_one_of_its_own() -> None:
    at = line(1, 11)
    allowed = Sight(local(4), at, at).allow()[0, 0]
    expected = torch.arange(11)[:, None] // 4 == torch.arange(11) // 4
    assert torch.equal(allowed, expected)
    assert Local(4).most == 1
