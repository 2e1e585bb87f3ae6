"""Dependency trees (B7): from the word that each word hangs on to where it stands, and from words to their tokens.

A tree is three rows of numbers, with a column for each word or for each token. `depth` is how many steps a word is
below the root, `enters` when a walk from the root comes to it, `leaves` when the walk comes to the last word below it.
One word stands above another where the other's `enters` lies between its own two numbers.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from regard.place import Place
from regard.shapes import Int
from regard.text.words import Spelt

ROOT = 0  # what the root hangs on
DEPTH, ENTERS, LEAVES = range(3)


class NoTree(Exception):
    """Heads that make no tree: which word is to blame, counted from 0, and what is wrong with it."""

    def __init__(self, word: int, what: str):
        super().__init__(word, what)
        self.word, self.what = word, what


def grown(heads: Sequence[int]) -> Int[np.ndarray, "3 words"]:
    """The tree of words of which each hangs on another, named by its number from 1, and one on the root, 0."""
    below = hanging(heads)
    depth, enters = [-1] * len(heads), [0] * len(heads)
    waiting, walked = [(word, 0) for word in below[ROOT]], list[int]()
    while waiting:
        word, deep = waiting.pop()
        depth[word - 1], enters[word - 1] = deep, len(walked)
        walked.append(word)
        waiting += [(other, deep + 1) for other in reversed(below[word])]
    if -1 in depth:
        raise NoTree(depth.index(-1), "hangs on itself, through the words above it")
    leaves = list(enters)
    for word in reversed(walked[1:]):
        above = heads[word - 1] - 1
        leaves[above] = max(leaves[above], leaves[word - 1])
    return np.array([depth, enters, leaves])


def hanging(heads: Sequence[int]) -> list[list[int]]:
    """The words that hang on the root, on the first word, on the second, ..."""
    below: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads, 1):
        if not 0 <= head <= len(heads):
            raise NoTree(word - 1, f"hangs on word {head} of {len(heads)}")
        below[head].append(word)
    if not below[ROOT]:
        raise NoTree(0, "and all others hang on a word: none is the root (head 0)")
    if len(below[ROOT]) > 1:
        first, second = below[ROOT][:2]
        raise NoTree(second - 1, f"is a second root (head 0) beside word {first}")
    return below


def spread(tree: Int[np.ndarray, "3 words"], spelt: Spelt) -> Int[np.ndarray, "3 tokens"]:
    """The tree of the tokens: each stands where its word does, a blank between two words with the one before it."""
    word = np.searchsorted(spelt.begins, np.arange(len(spelt.ids)), side="right") - 1
    return tree[:, np.maximum(word, 0)]


def planted(at: Place, trees: Sequence[Int[np.ndarray, "3 tokens"]]) -> Place:
    """Places of rows `<s> text </s>` with the tree of each text. The symbols stand at the root, above all words."""
    table = np.zeros((3, *at.index.shape), np.int64)
    for row, tree in enumerate(trees):
        end = tree.shape[1] + 1
        table[:, row, 1:end] = tree
        table[LEAVES, row, [0, end]] = tree[LEAVES].max(initial=0)
    depth, enters, leaves = torch.from_numpy(table).to(at.index.device)
    return replace(at, depth=depth, enters=enters, leaves=leaves)
