"""ALiBi and Shaw's positions against loops over pairs; buckets are in test_positions.py."""

import math

import pytest
import torch

from regard.attention.kernels import attended
from regard.attention.patterns import Sight, everyone
from regard.attention.relative import Alibi, Shaw, slopes
from regard.attention.scores import SCORES, Additive, Bilinear, Dot, ScaledDot, Score
from regard.systems.gpt import Gpt
from tests.helpers import line, place, same

SMALL = {"width": 24, "heads": 4, "depth": 2, "hidden": 37, "context": 41, "dropout": 0.0}


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        (1, [2**-8]),
        (8, [2**-1, 2**-2, 2**-3, 2**-4, 2**-5, 2**-6, 2**-7, 2**-8]),
        (6, [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]),  # four heads, then every other of eight
    ],
)
def test_slopes_are_those_of_the_paper(heads: int, expected: list[float]) -> None:
    assert slopes(heads) == expected


def test_alibi_falls_with_the_distance_on_both_sides() -> None:
    q, k = place([[0, 9], [7, 300]]), place([[0, 9, 12], [30, 7, 6]])
    got = Alibi(3).on_scores(torch.zeros(2, 3, 2, 5), q, k)
    for row in range(2):
        for i in range(2):
            for j in range(3):
                for head, slope in enumerate(slopes(3)):
                    distance = abs(int(q.index[row, i] - k.index[row, j]))
                    assert float(got[row, head, i, j]) == pytest.approx(-slope * distance)


def fit(score: Score, query: torch.Tensor, key: torch.Tensor, head: int) -> torch.Tensor:
    """One query and one key of a head by the formulas of B12."""
    match score:
        case Dot():
            return query @ key
        case ScaledDot():
            return query @ key / math.sqrt(len(query))
        case Bilinear():
            return query @ score.between[head] @ key
        case Additive():
            return score.judge[head] @ torch.tanh(query @ score.from_query[head] + key)
    raise AssertionError


@pytest.mark.parametrize("kind", SCORES)
def test_shaw_adds_a_vector_for_each_clipped_distance_to_keys_and_values(kind: str) -> None:
    """Equations 3 and 4 of the paper, pair by pair, for any score: that of query and key + vector.

    An additive score, which is not linear in the key, adds what it gives to the vector alone.
    """
    torch.manual_seed(3)
    shaw, d, score = Shaw(7, reach=2), 7, SCORES[kind](3, 7)
    query, key, value = torch.randn(2, 3, 5, d), torch.randn(2, 3, 6, d), torch.randn(2, 3, 6, d)
    q, k = place([[0, 1, 2, 3, 9], [4, 3, 2, 1, 0]]), place([[0, 1, 2, 3, 4, 5], [5, 1, 0, 2, 8, 3]])
    found = attended(query, key, value, sight=Sight(everyone, q, k), score=score, position=shaw)
    for row in range(2):
        for head in range(3):
            for i in range(5):
                clipped = [max(-2, min(2, int(k.index[row, j] - q.index[row, i]))) + 2 for j in range(6)]
                keys = [key[row, head, j] + shaw.keys[clipped[j]] for j in range(6)]
                values = [value[row, head, j] + shaw.values[clipped[j]] for j in range(6)]
                if kind == "additive":
                    mine = [fit(score, query[row, head, i], key[row, head, j], head) for j in range(6)]
                    scores = [fit(score, query[row, head, i], shaw.keys[clipped[j]], head) + mine[j] for j in range(6)]
                else:
                    scores = [fit(score, query[row, head, i], each, head) for each in keys]
                weights = torch.stack(scores).softmax(0)
                same(found.weights[row, head, i], weights)
                same(found.context[row, head, i], sum(w * v for w, v in zip(weights, values, strict=True)))


def test_every_layer_has_shaw_vectors_of_its_own_and_zero_ones_are_no_scheme() -> None:
    tokens = torch.randint(0, 31, (3, 13))
    plain, shaw = (Gpt(**SMALL, position=kind).build(31).eval() for kind in ("none", "shaw"))
    first, second = (block.attention.position for block in shaw.decoder.blocks)
    assert first is not second and not torch.equal(first.keys, second.keys)
    theirs = dict(plain.named_parameters())
    with torch.no_grad():
        for name, parameter in shaw.named_parameters():
            parameter.copy_(theirs[name]) if name in theirs else parameter.zero_()
    same(shaw.decode(tokens), plain.decode(tokens))


def test_positions_without_a_table_take_texts_longer_than_the_context() -> None:
    for kind in ("alibi", "shaw"):
        model = Gpt(**SMALL, position=kind).build(31).eval()
        assert model.decoder.limit is None
        assert model.hidden(torch.randint(0, 31, (1, 60)), at=line(1, 60)).isfinite().all()
