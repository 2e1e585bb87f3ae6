"""A batch can be cut by rows, and a row stripped of its padding, without losing or gaining a target."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from regard.data import IGNORE, Batch
from regard.data.batch import pad, presence
from regard.place import Place


def batch() -> Batch:
    """Five rows of different lengths, with places and a source."""
    lengths, source_lengths = [7, 3, 5, 1, 6], [2, 11, 5, 3, 7]
    tokens = torch.arange(35).reshape(5, 7)
    targets = (tokens + 1).masked_fill(torch.arange(7) >= torch.tensor(lengths)[:, None], IGNORE)
    present = torch.arange(11) < torch.tensor(source_lengths)[:, None]
    source = torch.arange(55).reshape(5, 11)
    return Batch(tokens, targets, sum(lengths), Place(tokens % 7, tokens // 7), source, present)


@pytest.mark.parametrize("pieces", [1, 2, 3, 4, 5, 7])
def test_pieces_together_are_the_batch(pieces: int) -> None:
    whole = batch()
    parts = whole.split(pieces)
    assert len(parts) <= pieces
    assert all(len(part) for part in parts)
    assert max(map(len, parts)) - min(map(len, parts)) <= max(map(len, parts[:1]))
    assert sum(part.count for part in parts) == whole.count
    assert [part.count for part in parts] == [int((part.targets != IGNORE).sum()) for part in parts]
    for name in ("tokens", "targets", "source", "source_present"):
        assert torch.equal(torch.cat([getattr(part, name) for part in parts]), getattr(whole, name))
    for name in ("index", "document"):
        assert torch.equal(torch.cat([getattr(part.at, name) for part in parts]), getattr(whole.at, name))
    assert all(part.at.present is None for part in parts)


def test_a_row_has_no_padding() -> None:
    whole = batch()
    for i, (length, source_length) in enumerate(zip([7, 3, 5, 1, 6], [2, 11, 5, 3, 7], strict=True)):
        row = whole.row(i)
        assert torch.equal(row.tokens, whole.tokens[i : i + 1, :length])
        assert torch.equal(row.targets, whole.targets[i : i + 1, :length])
        assert torch.equal(row.at.index, whole.at.index[i : i + 1, :length])
        assert torch.equal(row.source, whole.source[i : i + 1, :source_length])
        assert row.source_present is None
        assert row.count == length


def test_a_row_keeps_targets_that_are_ignored_at_its_beginning() -> None:
    whole = batch()
    targets = whole.targets.clone()
    targets[0, :2] = IGNORE
    row = replace(whole, targets=targets).row(0)
    assert row.tokens.shape == (1, 7)
    assert row.count == 5


def test_rows_are_filled_up_on_the_right() -> None:
    rows = [np.array([5, 6]), np.array([7]), np.array([8, 9, 10])]
    assert pad(rows, 0).tolist() == [[5, 6, 0], [7, 0, 0], [8, 9, 10]]
    assert presence(rows).tolist() == [[True, True, False], [True, False, False], [True, True, True]]
    assert presence(rows[:1] * 2) is None, "without padding there is nothing to hide"


def test_a_batch_tells_its_padding() -> None:
    """All that follows the last counted target of a row; what is ignored before it is there to be read."""
    targets = torch.tensor([[IGNORE, 3, 5], [2, IGNORE, IGNORE], [IGNORE, 7, IGNORE]])
    batch = Batch(torch.ones(3, 3, dtype=torch.long), targets, 4)
    assert batch.places().present.tolist() == [[True] * 3, [True, False, False], [True, True, False]]
    assert batch.places().index.tolist() == [[0, 1, 2]] * 3


def test_the_places_of_few_targets_are_found_on_the_way_to_a_device() -> None:
    targets = torch.tensor([[IGNORE, 3, 5], [IGNORE, IGNORE, IGNORE], [IGNORE, 7, IGNORE]])
    few = Batch(torch.ones(3, 3, dtype=torch.long), targets, 3, few=True)
    assert few.to("cpu").chosen.tolist() == few.places_of_targets().tolist() == [1, 2, 7]
    assert replace(few, few=False).to("cpu").chosen is None, "where most tokens are targets nobody asks"


def test_the_places_of_targets_are_those_of_the_rows_that_are_left() -> None:
    targets = torch.tensor([[IGNORE, 3, 5], [2, IGNORE, IGNORE], [IGNORE, 7, IGNORE]])
    there = Batch(torch.ones(3, 3, dtype=torch.long), targets, 4, few=True).to("cpu")
    assert [part.places_of_targets().tolist() for part in there.split(2)] == [[1, 2, 3], [1]]
    assert there.row(2).places_of_targets().tolist() == [1]
