"""Positions by dependency syntax against the definitions, word by word and pair by pair."""

import math
from typing import Any

import pytest
import torch

from regard.attention.kernels import attended
from regard.attention.patterns import Sight, everyone
from regard.attention.relative import Shaw
from regard.attention.scores import ScaledDot
from regard.attention.structure import Branches, Syntax, branches
from regard.data.trees import grown, planted
from regard.place import Place
from regard.systems import SYSTEMS
from regard.systems.bert import Bert
from tests.data.trees import apart, drawn, path
from tests.helpers import line, refused, same

SMALL: dict[str, Any] = {"width": 24, "heads": 4, "depth": 2, "hidden": 37, "context": 41, "dropout": 0.0}
SIZES = [11, 7, 11]
HEADS = [drawn(words, seed) for seed, words in enumerate(SIZES)]


def places(heads: list[list[int]] = HEADS) -> Place:
    """Rows of a start symbol, words and an end symbol, filled up to the longest."""
    return planted(line(len(heads), max(map(len, heads)) + 2), [grown(each) for each in heads])


def expected(heads: list[int], i: int, j: int) -> int:
    """Of tokens 0, 1, ..., n + 1: the first and the last are symbols, which stand at the root and above it."""
    depth = [0, *(len(path(heads, word)) - 1 for word in range(1, len(heads) + 1)), 0]
    symbol = {0, len(heads) + 1}
    return depth[i] - depth[j] if symbol & {i, j} else apart(heads, i, j)


def test_distances_are_those_of_the_paper() -> None:
    found = branches(places(), places())
    for row, heads in enumerate(HEADS):
        for i in range(len(heads) + 2):
            for j in range(len(heads) + 2):
                assert int(found[row, i, j]) == expected(heads, i, j), (row, i, j)


def test_one_path_is_told_by_differences_and_two_branches_by_sums() -> None:
    """The chicken crosses the wide road: "the" and "wide" hang on "road", that and "chicken" on "crosses"."""
    found = branches(places([[2, 3, 0, 6, 6, 3]]), places([[2, 3, 0, 6, 6, 3]]))[0, 1:-1, 1:-1]
    assert found[3].tolist() == [4, 3, 2, 0, -4, 1]
    assert found[2].tolist() == [-2, -1, 0, -2, -2, -1]
    assert torch.equal(found, -found.T), "seen from the other side it is the other way round"


def test_pieces_of_a_word_stand_where_it_does() -> None:
    at = planted(line(1, 6), [grown([2, 0, 2])[:, [0, 1, 1, 2]]])
    found = branches(at, at)[0, 1:-1, 1:-1]
    assert found[1].tolist() == found[2].tolist() == [-1, 0, 0, -1] and found[:, 1].tolist() == found[:, 2].tolist()


def test_vectors_for_distances_in_line_and_tree_are_added_to_keys_and_values() -> None:
    torch.manual_seed(3)
    both, d, at = Syntax(24, size=0.5, each=7, reach=2).inside(), 7, places()
    query, key, value = (torch.randn(3, 2, 13, d) for _ in range(3))
    found = attended(query, key, value, sight=Sight(everyone, at, at), score=ScaledDot(), position=both)

    def near(distance: int) -> int:
        return max(-2, min(2, distance)) + 2

    for row, heads in ((0, HEADS[0]), (2, HEADS[2])):  # the other one is padded, and nothing hides that here
        for i in range(13):
            rows = [(near(j - i), near(expected(heads, i, j))) for j in range(13)]
            keys = [key[row, 1, j] + both.first.keys[a] + both.second.keys[b] for j, (a, b) in enumerate(rows)]
            values = [value[row, 1, j] + both.first.values[a] + both.second.values[b] for j, (a, b) in enumerate(rows)]
            weights = torch.stack([query[row, 1, i] @ each / math.sqrt(d) for each in keys]).softmax(0)
            same(found.weights[row, 1, i], weights)
            same(found.context[row, 1, i], sum(w * v for w, v in zip(weights, values, strict=True)))


def test_index_and_depth_are_mixed_and_added_to_the_word() -> None:
    torch.manual_seed(5)
    scheme, at, x = Syntax(11, size=0.3, each=7, reach=2), places(), torch.randn(3, 13, 11)
    found = scheme.on_input(x, at)

    def wave(number: int) -> torch.Tensor:
        angles = [number / 10_000 ** (2 * (k // 2) / 11) for k in range(11)]
        return torch.tensor([math.cos(angle) if k % 2 else math.sin(angle) for k, angle in enumerate(angles)])

    for row in range(3):
        for t in range(13):
            both = torch.cat([wave(t), wave(int(at.depth[row, t]))])
            same(found[row, t], x[row, t] + 0.3 * torch.tanh(scheme.mix.weight @ both))


def test_zero_tables_are_no_scheme_and_every_layer_has_its_own() -> None:
    tokens, at = torch.randint(0, 31, (3, 13)), places()
    plain, syntax = (Bert(**SMALL, position=kind).build(31).eval() for kind in ("none", "syntax"))
    first, second = (block.attention.position for block in syntax.encoder.blocks)
    assert first is not second and not torch.equal(first.second.keys, second.second.keys)
    theirs = dict(plain.named_parameters())
    with torch.no_grad():
        for name, parameter in syntax.named_parameters():
            parameter.copy_(theirs[name]) if name in theirs else parameter.zero_()
    same(syntax.answer(tokens, at), plain.answer(tokens, at))


def test_a_tree_in_which_all_is_one_word_leaves_the_line_alone() -> None:
    """With vectors for the distance 0 set to nothing, distances in the tree add nothing."""
    at = planted(line(2, 9), [grown([0])[:, [0] * 7]] * 2)
    shaw, tree = Shaw(7, reach=3), Branches(7, reach=3)
    with torch.no_grad():
        tree.keys[3], tree.values[3] = 0.0, 0.0
    assert not tree.on_scores(torch.randn(2, 3, 9, 7), at, at).any()
    assert shaw.on_scores(torch.randn(2, 3, 9, 7), at, at).any()


def test_without_a_tree_it_says_so() -> None:
    model = Bert(**SMALL, position="syntax").build(31)
    assert model.trees and not Bert(**SMALL).build(31).trees
    with refused("without a tree was given to positions 'syntax'"):
        model.answer(torch.zeros(1, 5, dtype=torch.long))
    with refused("without a tree"):
        branches(line(1, 5), line(1, 5))


@pytest.mark.parametrize("kind", ["gpt", "transformer", "t5"])
def test_a_system_that_writes_has_no_trees(kind: str) -> None:
    with refused("system.position = 'syntax' needs trees"):
        SYSTEMS[kind](position="syntax")


def test_what_does_not_go_with_it_is_refused() -> None:
    with refused("a mix of all tokens stands nowhere"):
        Bert(position="syntax", attention="linformer")
    with refused("has no table to put at 'heads'"):
        Bert(position="syntax", position_at="heads").build(31)


def test_beside_the_line_it_is_not_the_line() -> None:
    """Another tree over the same words gives other vectors; the sinusoid alone would not see it."""
    tokens, (one, two) = torch.randint(0, 31, (1, 13)), (places([drawn(11, seed)]) for seed in (0, 3))
    syntax, plain = (Bert(**SMALL, position=kind).build(31).eval() for kind in ("syntax", "sinusoidal"))
    assert not torch.allclose(syntax.embed(tokens, one), syntax.embed(tokens, two))
    same(plain.embed(tokens, one), plain.embed(tokens, two))
