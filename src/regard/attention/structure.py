"""Where a word stands in the tree of its sentence (B7; Wang et al., 2019), beside where it stands in the line.

| scheme | of one token i | of query i and key j |
|---|---|---|
| in the line | its index | how far apart the two are |
| in the tree | how deep it hangs: its steps to the root | see `branches` |

The two depths of a path to the root are subtracted, those of two branches added up, so both are small where words
belong together. The pieces of a word stand where their word does, and symbols at the root, above all words.
"""

import torch
from torch import nn

from regard.attention.positions import Position, Sinusoid
from regard.attention.relative import Shaw, offsets
from regard.attention.scores import scaled_dot
from regard.errors import UserError
from regard.place import Place
from regard.shapes import Int, Tensor

NO_TREE = "a text without a tree was given to positions 'syntax': give it as CoNLL-U, each word with its head"


class Syntax(Position):
    """x + size tanh(W [wave(index); wave(depth)]), and vectors for distances in the line and in the tree.

    The waves are sinusoids; `size` is that of the word vectors they are added to. Every layer learns its own vectors,
    of `each` numbers for each distance up to `reach`.
    """

    def __init__(self, width: int, *, size: float, each: int, reach: int):
        super().__init__()
        self.size, self.each, self.reach = size, each, reach
        self.wave = Sinusoid(width)
        self.mix = nn.Linear(2 * width, width, bias=False)
        nn.init.normal_(self.mix.weight, std=width**-0.5)

    def inside(self) -> Position:
        return Both(Shaw(self.each, self.reach), Branches(self.each, self.reach))

    def on_input(self, x, at):
        depth, _, _ = tree(at)
        both = torch.cat((self.wave(at.index), self.wave(depth)), dim=-1)
        return x + self.size * torch.tanh(self.mix(both)).to(x.dtype)


class Both(Position):
    """Vectors for two kinds of distances: what they add is added up."""

    on_values = True

    def __init__(self, first: Shaw, second: Shaw):
        super().__init__()
        self.first, self.second, self.reach = first, second, max(first.reach, second.reach)

    def on_scores(self, query, q, k, score=scaled_dot):
        return self.first.on_scores(query, q, k, score) + self.second.on_scores(query, q, k, score)

    def on_context(self, weights, q, k):
        return self.first.on_context(weights, q, k) + self.second.on_context(weights, q, k)


class Branches(Shaw):
    """Shaw's vectors, of distances in the tree."""

    def distances(self, q, k):
        return branches(q, k)


def branches(q: Place, k: Place) -> Int[Tensor, "b q k"]:
    """How far apart query i and key j stand in the tree (Wang et al., 2019).

    depth(i) - depth(j) where one of the two stands on the other's path to the root, else sign(i - j) times the sum of
    both depths.
    """
    (depth, enters, leaves), others = (field[:, :, None] for field in tree(q)), tree(k)
    deep, enter, leave = (field[:, None, :] for field in others)
    above = (enters <= enter) & (leave <= leaves)
    below = (enter <= enters) & (leaves <= leave)
    return torch.where(above | below, depth - deep, -offsets(q, k).sign() * (depth + deep))


def tree(at: Place) -> tuple[Tensor, Tensor, Tensor]:
    """Depth and span of each token, or a message that there is none."""
    if at.depth is None or at.enters is None or at.leaves is None:
        raise UserError(NO_TREE)
    return at.depth, at.enters, at.leaves
