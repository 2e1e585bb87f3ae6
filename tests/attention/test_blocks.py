"""Patterns of blocks: the pairs they allow against a loop over blocks, and the blocked kernel against the formula."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from regard.attention import kernels
from regard.attention.blocks import BigBird, Local, mixed
from regard.attention.kernels import fastest, formula, sparsely
from regard.attention.patterns import Pattern, Sight, bigbird, causal, everyone, local, window
from regard.attention.positions import Position
from regard.attention.relative import Alibi, Shaw
from regard.attention.scores import Additive, ScaledDot, Score
from regard.attention.structure import Both, Branches
from regard.place import Place
from tests.helpers import line, same

LENGTHS = [1, 4, 5, 23, 24, 41]
PATTERNS = {
    "bigbird": bigbird(BigBird(4, first=1, near=1, random=2)),
    "causal-bigbird": bigbird(BigBird(4, first=1, near=1, random=2, ahead=False)),
    "local": local(4),
    "causal-local": local(4) & causal,
}
WAYS: dict[str, tuple[Position, Score]] = {
    "plain": (kernels.PLAIN, ScaledDot()),
    "shaw": (Shaw(7, 3), ScaledDot()),
    "syntax": (Both(Shaw(7, 3), Branches(7, 5)), ScaledDot()),
    "additive": (Alibi(4), Additive(4, 7)),
}


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
    (chosen,) = rule.chosen(torch.arange(40)[None], 40, torch.tensor([40]))
    assert chosen.shape == (40, 8) and (chosen >= 0).all()
    assert all(len(set(row)) == 8 for row in chosen.tolist())
    other = replace(rule, seed=1).chosen(torch.arange(40)[None], 40, torch.tensor([40]))[0]
    assert not torch.equal(chosen, other)


def test_chance_is_spread_over_the_text() -> None:
    """Every block of a long text is seen about as often as any other by those that draw it."""
    rule, seen = BigBird(4, first=0, near=0, random=3), torch.zeros(50)
    for seed in range(200):
        chosen = replace(rule, seed=seed).chosen(torch.arange(50)[None], 50, torch.tensor([50]))
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


def test_a_local_block_is_one_of_its_own() -> None:
    at = line(1, 11)
    allowed = Sight(local(4), at, at).allow()[0, 0]
    expected = torch.arange(11)[:, None] // 4 == torch.arange(11) // 4
    assert torch.equal(allowed, expected)
    assert Local(4).most == 1


def in_a_tree(at: Place) -> Place:
    """Every third token hangs on the one before."""
    number = at.index
    return replace(at, depth=number % 3, enters=number, leaves=number + 2 - number % 3)


def equal_in_value_and_gradient(inputs: list, sight: Sight, **how) -> None:
    results = []
    for kernel in (fastest, formula):
        tensors = [x.clone().requires_grad_() for x in inputs]
        context = kernel(*tensors, sight=sight, **how)
        results.append([context, *torch.autograd.grad((context.square() + context).sum(), tensors)])
    for fast, slow in zip(*results, strict=True):
        same(fast, slow)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("length", [5, 24, 41])
def test_whatever_places_do_the_blocked_kernel_equals_the_formula(pattern: str, way: str, length: int) -> None:
    position, score = WAYS[way]
    with torch.no_grad():
        for weight in [*position.parameters(), *score.parameters()]:
            weight.normal_()
    at = in_a_tree(line(3, length))
    at = replace(at, present=torch.arange(length) < torch.tensor([[length], [length], [length - 3]]))
    inputs = [torch.randn(3, 4, length, 7) for _ in range(3)]
    there = at.present[:, None, :, None]
    sight = Sight(PATTERNS[pattern], at, at)
    fast, slow = (kernel(*inputs, sight=sight, score=score, position=position) for kernel in (fastest, formula))
    same(fast * there, slow * there)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_rules_beside_those_on_blocks_hold_too(pattern: str) -> None:
    inputs, at = [torch.randn(2, 4, 41, 7) for _ in range(3)], line(2, 41)
    for beside in (window(3), causal & window(5), window(5) & causal):
        equal_in_value_and_gradient(inputs, Sight(PATTERNS[pattern] & beside, at, at), score=ScaledDot())
        equal_in_value_and_gradient(inputs, Sight(PATTERNS[pattern] & window(2) & beside, at, at), score=ScaledDot())
        turned = beside & PATTERNS[pattern]
        assert turned.blocks is PATTERNS[pattern].blocks, "which of the two stands first is all the same"
        equal_in_value_and_gradient(inputs, Sight(turned, at, at), score=ScaledDot())


def test_a_bigbird_that_sees_all_blocks_is_full_attention() -> None:
    inputs, at = [torch.randn(2, 4, 41, 7) for _ in range(3)], line(2, 41)
    for ahead, plain in ((True, everyone), (False, causal)):
        unbounded = bigbird(BigBird(4, first=0, near=11, random=0, ahead=ahead))
        full = fastest(*inputs, sight=Sight(plain, at, at), score=ScaledDot())
        same(fastest(*inputs, sight=Sight(unbounded, at, at), score=ScaledDot()), full)


@pytest.mark.parametrize("pattern", ["causal-bigbird", "causal-local"])
@pytest.mark.parametrize("way", ["plain", "shaw", "additive"])
def test_one_query_looks_back_as_the_formula_does(pattern: str, way: str) -> None:
    """In a cache: rows of different lengths, and room beyond their ends that holds anything."""
    position, score = WAYS[way]
    k = Place(torch.arange(44).expand(5, 44), ordered=True)
    q = Place(torch.tensor([[0], [3], [4], [30], [43]]))
    inputs = [torch.randn(5, 4, 1, 7), torch.randn(5, 4, 44, 7), torch.randn(5, 4, 44, 7)]
    sight = Sight(PATTERNS[pattern], q, k)
    assert sight.step is not None
    fast, slow = (kernel(*inputs, sight=sight, score=score, position=position) for kernel in (fastest, formula))
    same(fast, slow)


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch):
    """How many pairs of a query and a key are computed by torch's kernel or by the formula."""
    counted: list[int] = []

    def counting(kernel):
        def count(query, key, value, **rest):
            counted.append(query.shape[0] * query.shape[2] * key.shape[2])
            return kernel(query, key, value, **rest)

        return count

    for name in ("scaled_dot_product_attention", "attend"):
        monkeypatch.setattr(kernels, name, counting(getattr(kernels, name)))

    def pairs(pattern: Pattern, q: Place, k: Place, way: str) -> int:
        counted.clear()
        position, score = WAYS[way]
        query, key = (torch.zeros(1, 4, at.index.shape[1], 7) for at in (q, k))
        fastest(query, key, key, sight=Sight(pattern, q, k), score=score, position=position)
        return sum(counted)

    return pairs


@pytest.mark.parametrize("way", WAYS)
def test_blocks_that_do_not_see_each_other_are_not_computed(pairs, way: str) -> None:
    """What is computed grows as the text does."""
    short, long = (in_a_tree(line(1, length)) for length in (400, 800))
    for name, pattern in PATTERNS.items():
        assert pairs(pattern, long, long, way) <= 2.1 * pairs(pattern, short, short, way), name
        assert pairs(pattern, long, long, way) < 800 * 800 / 4


def test_one_query_fetches_no_more_blocks_than_it_sees(pairs) -> None:
    k, q = Place(torch.arange(800)[None], ordered=True), Place(torch.tensor([[731]]))
    assert pairs(PATTERNS["causal-local"], q, k, "plain") == 4
    assert pairs(PATTERNS["causal-bigbird"], q, k, "plain") == 4 * (1 + 1 + 1 + 2)


def test_our_own_kernels_are_taken_for_bigbirds_rule_and_no_other_beside_it() -> None:
    """The choice for a CUDA device, asked about a tensor that says it is there."""
    x, at = SimpleNamespace(is_cuda=True, shape=(1, 4, 32, 64), dtype=torch.bfloat16), line(1, 32)
    for ahead in (True, False):
        rule = bigbird(BigBird(16, ahead=ahead))
        taken = {
            name: sparsely(x, x, x, Sight(pattern, at, at), position)
            for name, pattern, position in (
                ("alone", rule, kernels.PLAIN),
                ("window", rule & window(3), kernels.PLAIN),
                ("causal", rule & causal, kernels.PLAIN),
                ("bias", rule, Alibi(4)),
                ("local", local(16), kernels.PLAIN),
            )
        }
        assert taken == {"alone": kernels.TRITON, "window": False, "causal": False, "bias": False, "local": False}
        double = SimpleNamespace(**{**vars(x), "dtype": torch.float64})
        assert not sparsely(double, double, double, Sight(rule, at, at), kernels.PLAIN), "they add up in float32"
