"""Patterns against a dense rule in Python loops, and the two rules that hold under every pattern."""

import pytest
import torch

from regard.attention.heads import MultiHead
from regard.attention.look import Look
from regard.attention.patterns import Pattern, Sight, causal, everyone, window
from regard.place import Place
from tests.helpers import line, place, same

first = Pattern(lambda q, k: k.index == 0)
even = Pattern(lambda q, k: q.index % 2 == 0)

RULES = {
    "everyone": (everyone, lambda i, j: True),
    "causal": (causal, lambda i, j: j <= i),
    "window": (window(3), lambda i, j: abs(i - j) <= 3),
    "causal & window": (causal & window(3), lambda i, j: i - 3 <= j <= i),
    "window | first": (window(2) | first, lambda i, j: abs(i - j) <= 2 or j == 0),
    "causal & (window | first)": (causal & (window(2) | first), lambda i, j: j <= i and (i - j <= 2 or j == 0)),
    "of the query alone": (even, lambda i, j: i % 2 == 0),
}
every_rule = pytest.mark.parametrize(("pattern", "rule"), RULES.values(), ids=RULES)


def dense(q: Place, k: Place, rule) -> torch.Tensor:
    """Pair by pair: the rule, the same document, a key that is there."""
    rows, queries, keys = q.index.shape[0], q.index.shape[1], k.index.shape[1]
    allow = torch.zeros(rows, 1, queries, keys, dtype=torch.bool)
    for b in range(rows):
        for i in range(queries):
            for j in range(keys):
                together = q.document is None or k.document is None or int(q.document[b, i]) == int(k.document[b, j])
                there = k.present is None or bool(k.present[b, j])
                allow[b, 0, i, j] = rule(int(q.index[b, i]), int(k.index[b, j])) and together and there
    return allow


def crowd(rows: int, length: int, *, documents: bool, padded: bool) -> Place:
    index = torch.arange(length).expand(rows, length)
    return Place(
        index,
        torch.randint(0, 3, (rows, length)) if documents else None,
        torch.rand(rows, length) < 0.7 if padded else None,
    )


@every_rule
@pytest.mark.parametrize("documents", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_a_pattern_equals_its_dense_rule(pattern: Pattern, rule, documents: bool, padded: bool) -> None:
    q = crowd(2, 11, documents=documents, padded=padded)
    k = crowd(2, 13, documents=documents, padded=padded)
    for a, b in ((q, k), (k, q), (q, q)):
        allow = Sight(pattern, a, b).allow()
        assert allow.shape == (2, 1, a.index.shape[1], b.index.shape[1])
        assert torch.equal(allow, dense(a, b, rule))


@every_rule
def test_a_pattern_reads_places_and_not_lengths(pattern: Pattern, rule) -> None:
    """Queries in the middle of a text, keys in any order."""
    q, k = place([[7, 8], [2, 12]]), place([[3, 9, 0, 7, 8], [12, 0, 1, 2, 5]])
    assert torch.equal(Sight(pattern, q, k).allow(), dense(q, k, rule))


def test_the_mask_keeps_the_lower_triangle() -> None:
    """001 prints j >= i; the quiz of 003 and the rest of both texts mean j <= i."""
    assert torch.equal(Sight(causal, line(1, 7), line(1, 7)).allow()[0, 0], torch.ones(7, 7).tril().bool())


def test_padding_and_other_documents_are_never_looked_at() -> None:
    at = place([[0, 1, 0, 1, 2]], document=[[4, 4, 9, 9, 9]], present=[[True, True, True, True, False]])
    allow = Sight(everyone, at, at).allow()[0, 0]
    expected = [[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 1, 1, 0], [0, 0, 1, 1, 0]]
    assert allow.int().tolist() == expected


def test_a_combination_reaches_as_far_as_its_farthest_part() -> None:
    assert (causal & window(3)).reach == 3
    assert (window(5) | window(2)).reach == 5
    assert (everyone | causal).reach == 0


@every_rule
def test_a_pattern_knows_whether_anybody_looks_ahead(pattern: Pattern, rule) -> None:
    assert pattern.ahead is any(rule(i, j) for i in range(7) for j in range(i + 1, 7))


def test_a_choice_of_two_looks_ahead_when_one_does() -> None:
    assert (causal | window(3)).ahead
    assert not (causal | (causal & first)).ahead


def test_an_unbounded_window_is_full_attention() -> None:
    full = MultiHead(22, 2, Look("encoder"))
    wide = MultiHead(22, 2, Look("encoder", pattern=window(1000)))
    wide.load_state_dict(full.state_dict())
    x, at = torch.randn(3, 7, 22), line(3, 7)
    same(wide(x, at), full(x, at))
    narrow = MultiHead(22, 2, Look("encoder", pattern=window(1)))
    narrow.load_state_dict(full.state_dict())
    assert not torch.allclose(narrow(x, at), full(x, at))
