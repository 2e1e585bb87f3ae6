"""Heads to trees, against a slow walk to the root; trees to tokens and to places."""

import numpy as np
import pytest
import torch

from regard.data.trees import NoTree, grown, planted, spread
from regard.place import Place
from regard.text.words import Spelt
from tests.data.trees import drawn, path

every_tree = pytest.mark.parametrize("heads", [[0], *(drawn(words, seed) for words in (2, 7, 23) for seed in range(5))])


@every_tree
def test_depth_counts_the_steps_to_the_root(heads: list[int]) -> None:
    assert grown(heads)[0].tolist() == [len(path(heads, word)) - 1 for word in range(1, len(heads) + 1)]


@every_tree
def test_a_word_stands_above_those_that_the_walk_finds_below_it(heads: list[int]) -> None:
    _, enters, leaves = grown(heads)
    for i in range(len(heads)):
        for j in range(len(heads)):
            above = enters[i] <= enters[j] and leaves[j] <= leaves[i]
            assert above == (i + 1 in path(heads, j + 1))


def test_the_walk_enters_every_word_once() -> None:
    tree = grown([2, 0, 2, 5, 3])
    assert tree.tolist() == [[1, 0, 1, 3, 2], [1, 0, 2, 4, 3], [1, 4, 4, 4, 4]]
    assert sorted(grown(drawn(40, 3))[1].tolist()) == list(range(40))


def test_a_sentence_of_many_words_in_one_chain() -> None:
    assert grown(list(range(5000)))[0].tolist() == list(range(5000))


@pytest.mark.parametrize(
    ("heads", "word", "what"),
    [
        ([2, 3, 1], 0, "none is the root"),
        ([0, 1, 0], 2, "a second root (head 0) beside word 1"),
        ([0, 3, 2, 1], 1, "hangs on itself"),
        ([0, 2], 1, "hangs on itself"),
        ([0, 4, 1], 1, "hangs on word 4 of 3"),
        ([0, -1], 1, "hangs on word -1 of 2"),
    ],
)
def test_heads_that_make_no_tree(heads: list[int], word: int, what: str) -> None:
    with pytest.raises(NoTree) as raised:
        grown(heads)
    assert raised.value.word == word and what in raised.value.what


def test_every_token_stands_where_its_word_does() -> None:
    """A blank before the first word goes with it, one between two words with the one before."""
    tree = grown([2, 0, 2])
    spelt = Spelt([9] * 7, [1, 2, 5])
    assert spread(tree, spelt).tolist() == tree[:, [0, 0, 1, 1, 1, 2, 2]].tolist()


def test_symbols_stand_at_the_root_and_padding_nowhere() -> None:
    one, two = grown([2, 0, 2, 3]), grown([0])
    at = planted(Place.line(torch.zeros(2, 7, dtype=torch.long)), [one, two])
    assert at.depth.tolist() == [[0, 1, 0, 1, 2, 0, 0], [0, 0, 0, 0, 0, 0, 0]]
    assert at.enters.tolist() == [[0, 1, 0, 2, 3, 0, 0], [0] * 7]
    assert at.leaves.tolist() == [[3, 1, 3, 3, 3, 3, 0], [0] * 7]
    assert at.index.tolist() == [list(range(7))] * 2


def test_of_a_sentence_that_was_cut_the_symbols_still_stand_above_all_words() -> None:
    cut = grown([5, 1, 1, 3, 0])[:, :4]  # the root is cut off
    at = planted(Place.line(torch.zeros(1, 6, dtype=torch.long)), [cut])
    inside = slice(1, 5)
    assert (at.enters[0, 0] <= at.enters[0, inside]).all() and (at.leaves[0, inside] <= at.leaves[0, 0]).all()
    assert np.array_equal(at.depth[0, inside].numpy(), cut[0])
