"""What each position scheme can tell an encoder: nothing, how far, or also which comes first."""

import pytest
import torch

from regard.attention.schemes import POSITIONS, TREES
from regard.place import Place
from tests.helpers import NEAR, recipe

SCHEMES = [name for name in POSITIONS if name not in TREES]


def vectors(position: str, tokens: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(11)
    settings = recipe("bert", system={"position": position, "depth": 2, "heads": 2, "width": 24}).system
    return settings.build(13).eval().embed(tokens, Place.line(tokens))


@pytest.mark.parametrize("position", SCHEMES)
def test_read_backwards_a_row_is_the_same_where_only_how_far_is_known(position: str) -> None:
    """ALiBi counts before and behind alike: what order an encoder makes of it, it has from the start symbol."""
    tokens = torch.tensor([[3, 5, 7, 11, 2, 5, 1]])
    onward, backward = vectors(position, tokens), vectors(position, tokens.flip(1)).flip(1)
    assert torch.allclose(onward, backward, **NEAR) == (position in ("none", "alibi"))


@pytest.mark.parametrize("position", SCHEMES)
def test_words_that_change_places_take_their_vectors_along_where_nothing_is_known(position: str) -> None:
    tokens, order = torch.tensor([[3, 5, 7, 11, 2, 5, 1]]), torch.tensor([4, 0, 2, 6, 1, 3, 5])
    mixed = vectors(position, tokens[:, order])
    assert torch.allclose(vectors(position, tokens)[:, order], mixed, **NEAR) == (position == "none")
