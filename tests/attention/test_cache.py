"""The cache holds each token where it stands; the laws show that decoding with it equals decoding at once."""

import pytest
import torch

from regard.attention.cache import KeyValues
from regard.place import Place
from tests.helpers import line


def filled(lengths: list[int], longest: int) -> tuple[KeyValues, torch.Tensor]:
    """A cache of one block after prompts of these lengths, and the keys that were written."""
    cache = KeyValues(1, len(lengths), 11)
    tokens, key = torch.zeros(len(lengths), longest, dtype=torch.long), torch.randn(len(lengths), 2, longest, 3)
    present = torch.arange(longest) < torch.tensor(lengths)[:, None]
    at = cache.places(tokens, present)
    cache.layers[0].extend(key, key, at)
    cache.advance(at)
    return cache, key


def test_more_tokens_than_it_was_made_for_are_refused() -> None:
    cache = KeyValues(1, 2, 5)
    cache.advance(line(2, 3))
    with pytest.raises(ValueError, match="6 tokens in a cache made for 5"):
        cache.places(torch.zeros(2, 3, dtype=torch.long))


def test_each_row_goes_on_from_its_own_length() -> None:
    cache, _ = filled([5, 2], 5)
    assert cache.length.tolist() == [5, 2]
    assert cache.places(torch.zeros(2, 2, dtype=torch.long)).index.tolist() == [[5, 6], [2, 3]]


def test_new_keys_overwrite_padding_and_stand_at_their_index() -> None:
    cache, old = filled([5, 2], 5)
    at = cache.places(torch.zeros(2, 1, dtype=torch.long))
    new = torch.randn(2, 2, 1, 3)
    key, value, where = cache.layers[0].extend(new, new, at)
    assert key.shape == (2, 2, cache.capacity, 3), "less than a block is left, so all slots are given"
    assert torch.equal(key, value)
    assert torch.equal(key[0, :, :6], torch.cat((old[0], new[0]), dim=1))
    assert torch.equal(key[1, :, :3], torch.cat((old[1, :, :2], new[1]), dim=1))
    assert where.index.tolist() == [list(range(cache.capacity))] * 2


def test_the_first_keys_come_back_as_they_are() -> None:
    """Then queries and keys stand at the very same place, and the fast causal kernel is taken."""
    cache, key, at = KeyValues(1, 2, 7), torch.randn(2, 3, 5, 11), line(2, 5)
    _, _, where = cache.layers[0].extend(key, key, at)
    assert where is at


def test_rows_follow_their_order_and_are_cut() -> None:
    cache, key = filled([5, 2, 4], 5)
    cache.layers[0].once(lambda: (key, key + 1))
    cache.reorder(torch.tensor([2, 2, 0]))
    assert cache.length.tolist() == [4, 4, 5]
    assert torch.equal(cache.layers[0].read(5)[0], key[[2, 2, 0]])
    assert torch.equal(cache.layers[0].once(lambda: ())[1], key[[2, 2, 0]] + 1)
    cache.trim(4)
    assert cache.length.tolist() == [4, 4, 4]
    assert cache.used == 4


def test_a_place_can_be_mapped_field_by_field() -> None:
    at = Place(torch.arange(5)[None], present=torch.ones(1, 5, dtype=torch.bool))
    cut = at.map(lambda field: field[:, :2])
    assert cut.index.tolist() == [[0, 1]]
    assert cut.present.tolist() == [[True, True]]
    assert cut.document is None
