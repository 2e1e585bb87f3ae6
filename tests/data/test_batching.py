"""Batches: a pure function of (seed, epoch, step), each example once, never more tokens than the budget."""

from pathlib import Path

import numpy as np
import pytest
import torch

from regard.data import IGNORE, Batch, Pairs, Windows
from regard.data.batching import Documents, Pieces, windows_of
from regard.data.store import Store, Writer
from regard.text import Text, Tokenizer
from tests.helpers import refused

TOKENIZER = Tokenizer.train(["abc"], Text(kind="char"))
FIRST = 10  # ids of the test data start here, so that they differ from special symbols


def store(path: Path, sequences: list[list[int]]) -> Store:
    writer = Writer(path, 60_000)
    for ids in sequences:
        writer.add(ids)
    return writer.close()


def pairs(tmp_path: Path, count: int = 211, *, batch_tokens: int = 97, seed: int = 0) -> Pairs:
    """Example i has the source id FIRST + i, repeated, and a target that begins with it."""
    chance = np.random.default_rng(5)
    source = [[FIRST + i] * int(chance.integers(1, 17)) for i in range(count)]
    target = [[FIRST + i, *chance.integers(1000, 2000, int(chance.integers(0, 13)))] for i in range(count)]
    stores = [store(tmp_path / "source", source), store(tmp_path / "target", target)]
    return Pairs(stores, TOKENIZER, batch_tokens=batch_tokens, seed=seed)


def documents(
    tmp_path: Path, lengths: list[int], *, batch_tokens: int = 33, context: int = 11, seed: int = 0
) -> Windows:
    """Every token of all documents has an id of its own, in order."""
    flat = iter(range(FIRST, FIRST + sum(lengths)))
    made = store(tmp_path / "text", [[next(flat) for _ in range(length)] for length in lengths])
    return Windows([made], TOKENIZER, batch_tokens=batch_tokens, context=context, seed=seed)


def epoch_of(batches, epoch: int) -> list[Batch]:
    return [batches.batch(epoch, step) for step in range(batches.steps(epoch))]


def equal(a: Batch, b: Batch) -> bool:
    return a.tokens.shape == b.tokens.shape and torch.equal(a.tokens, b.tokens) and torch.equal(a.targets, b.targets)


# Pairs


@pytest.mark.parametrize("epoch", [0, 1])
def test_every_pair_is_seen_exactly_once_per_epoch(tmp_path: Path, epoch: int) -> None:
    seen = [int(row[0]) for batch in epoch_of(pairs(tmp_path), epoch) for row in batch.source]
    assert sorted(seen) == list(range(FIRST, FIRST + 211))


def test_in_order_every_pair_is_seen_once_and_the_longest_come_first(tmp_path: Path) -> None:
    batches = list(pairs(tmp_path).in_order())
    assert sorted(int(row[0]) for batch in batches for row in batch.source) == list(range(FIRST, FIRST + 211))
    longest = [max(batch.tokens.shape[1], batch.source.shape[1]) for batch in batches]
    assert longest == sorted(longest, reverse=True)


@pytest.mark.parametrize("batch_tokens", [1, 31, 97, 1009])
def test_the_budget_bounds_rows_times_the_longest_side(tmp_path: Path, batch_tokens: int) -> None:
    made = pairs(tmp_path, batch_tokens=batch_tokens)
    for batch in [*epoch_of(made, 0), *made.in_order()]:
        size = len(batch) * max(batch.tokens.shape[1], batch.source.shape[1])
        assert size <= batch_tokens or len(batch) == 1, "a row that is too long alone still has to be seen"
    wasted = [len(batch) for batch in made.in_order()][:-1]
    assert batch_tokens < 97 or min(wasted) > 1


def test_a_batch_is_a_pure_function_of_seed_epoch_and_step(tmp_path: Path) -> None:
    one, other = pairs(tmp_path), pairs(tmp_path)
    forwards = epoch_of(one, 3)
    backwards = [other.batch(3, step) for step in reversed(range(other.steps(3)))][::-1]
    assert all(equal(a, b) for a, b in zip(forwards, backwards, strict=True))
    assert not all(map(equal, forwards, epoch_of(pairs(tmp_path, seed=1), 3)))


def test_rows_are_shuffled_between_epochs(tmp_path: Path) -> None:
    made = pairs(tmp_path)
    orders = [[int(row[0]) for batch in epoch_of(made, epoch) for row in batch.source] for epoch in range(3)]
    assert len({tuple(order) for order in orders}) == 3
    company = [{frozenset(batch.source[:, 0].tolist()) for batch in epoch_of(made, epoch)} for epoch in range(2)]
    assert len(company[0] & company[1]) < len(company[0]) / 2, "the same rows stand together again"


def test_tokens_targets_and_source_stand_as_the_objective_wants_them(tmp_path: Path) -> None:
    stores = [store(tmp_path / "s", [[21, 22], [23]]), store(tmp_path / "t", [[31], [32, 33]])]
    batch = Pairs(stores, TOKENIZER, batch_tokens=100).collate(np.array([0, 1]))
    pad, start, end = TOKENIZER.pad, TOKENIZER.start, TOKENIZER.end
    assert batch.tokens.tolist() == [[start, 31, pad], [start, 32, 33]]
    assert batch.targets.tolist() == [[31, end, IGNORE], [32, 33, end]]
    assert batch.source.tolist() == [[21, 22, end], [23, end, pad]]
    assert batch.source_present.tolist() == [[True, True, True], [True, True, False]]
    assert batch.count == 5
    assert batch.at is None


def test_without_an_example_there_is_nothing_to_batch(tmp_path: Path) -> None:
    with refused("no example is left after dropping empty and overlong ones; see the data report"):
        pairs(tmp_path, count=0)


# Windows


def test_windows_restart_at_each_document_and_never_aim_across(tmp_path: Path) -> None:
    windows = documents(tmp_path, [5, 3, 20, 4])
    flat = windows.store.flat.tolist()
    owner = [document for document, length in enumerate([5, 3, 20, 4]) for _ in range(length)]
    batch = windows.collate(np.array([0, 2, 20, 9]))
    for row, begin in enumerate((0, 2, 20, 9)):
        here = owner[begin : begin + 12]
        assert batch.tokens[row].tolist() == flat[begin : begin + 11]
        expected = [b if x == y else IGNORE for b, x, y in zip(flat[begin + 1 :], here, here[1:], strict=False)]
        assert batch.targets[row].tolist() == expected[:11]
        index = [sum(other == here[t] for other in here[:t]) for t in range(11)]
        assert batch.at.index[row].tolist() == index
        same = [[a == b for b in here[:11]] for a in here[:11]]
        document = batch.at.document[row]
        assert (document[:, None] == document).tolist() == same
    assert batch.count == int((batch.targets != IGNORE).sum())


def test_windows_within_one_document_need_no_document_rule(tmp_path: Path) -> None:
    """So that the fast causal kernel can be taken."""
    windows = documents(tmp_path, [50, 50])
    assert windows.collate(np.array([0, 13, 60])).at.document is None
    assert windows.collate(np.array([0, 45])).at.document is not None


@pytest.mark.parametrize("epoch", [0, 1, 2])
def test_no_token_is_predicted_twice_in_an_epoch_and_few_never(tmp_path: Path, epoch: int) -> None:
    windows = documents(tmp_path, [1009], batch_tokens=22)
    seen = [int(i) for batch in epoch_of(windows, epoch) for i in batch.targets.flatten()]
    assert len(seen) == len(set(seen))
    assert len(seen) >= 1009 - 22 - 2 * 11 - 2, "but the last part of a batch and of a window"


def test_epochs_are_cut_at_different_places(tmp_path: Path) -> None:
    windows = documents(tmp_path, [1009])
    offsets = {int(windows.plan(epoch).min()) for epoch in range(9)}
    assert len(offsets) > 3
    assert all(offset < 11 for offset in offsets)


@pytest.mark.parametrize("batch_tokens", [1, 11, 32, 33, 500])
def test_the_budget_bounds_the_windows(tmp_path: Path, batch_tokens: int) -> None:
    windows = documents(tmp_path, [307], batch_tokens=batch_tokens)
    for batch in [*epoch_of(windows, 0), *windows.in_order(), *windows.in_order(3)]:
        assert batch.tokens.numel() <= batch_tokens or len(batch) == 1


def test_windows_are_a_pure_function_of_seed_epoch_and_step(tmp_path: Path) -> None:
    one, other = documents(tmp_path, [307, 11]), documents(tmp_path, [307, 11])
    assert all(equal(one.batch(e, s), other.batch(e, s)) for e, s in [(2, 3), (0, 0), (2, 3), (7, 1)])
    assert not equal(one.batch(0, 0), documents(tmp_path, [307, 11], seed=1).batch(0, 0))


def test_a_text_shorter_than_the_context_is_one_window(tmp_path: Path) -> None:
    windows = documents(tmp_path, [5], context=101)
    assert windows.steps(0) == 1
    assert windows.batch(0, 0).tokens.shape == (1, 4)


def test_without_text_there_is_nothing_to_batch(tmp_path: Path) -> None:
    with refused("there is no text in it"):
        documents(tmp_path, [2])


@pytest.mark.parametrize("stride", [None, *range(1, 12)])
@pytest.mark.parametrize("batch_tokens", [13, 100])
def test_each_token_is_predicted_once_with_any_stride(tmp_path: Path, stride: int | None, batch_tokens: int) -> None:
    lengths = [5, 3, 37, 12, 13, 23]
    windows = documents(tmp_path, lengths, batch_tokens=batch_tokens)
    seen, batches = [], list(windows.in_order(stride))
    for batch in batches:
        assert batch.count == int((batch.targets != IGNORE).sum()) > 0
        seen += batch.targets[batch.targets != IGNORE].tolist()
    starts = {FIRST + sum(lengths[:i]) for i in range(len(lengths))}
    everything = set(range(FIRST, FIRST + sum(lengths)))
    assert sorted(seen) == sorted(everything - starts), "all but the start of each document"


@pytest.mark.parametrize("stride", [1, 4, 11])
def test_with_a_stride_a_token_has_at_least_the_context_that_is_left(tmp_path: Path, stride: int) -> None:
    """What is predicted at place p of a document has min(p, context - stride + 1) tokens before it, or more."""
    windows = documents(tmp_path, [37])
    for batch in windows.in_order(stride):
        for tokens, targets in zip(batch.tokens, batch.targets, strict=True):
            for t, target in enumerate(targets.tolist()):
                if target != IGNORE:
                    assert tokens[: t + 1].tolist() == list(range(target - t - 1, target)), "the tokens right before it"
                    assert t + 1 >= min(target - FIRST, 11 - stride + 1)


def test_documents_are_evaluated_in_windows_of_their_own(tmp_path: Path) -> None:
    windows = documents(tmp_path, [5, 3], batch_tokens=100)
    (batch,) = windows.in_order()
    pad = TOKENIZER.pad
    assert batch.tokens.tolist() == [[10, 11, 12, 13], [15, 16, pad, pad]]
    assert batch.targets.tolist() == [[11, 12, 13, 14], [16, 17, IGNORE, IGNORE]]
    assert batch.at.index.tolist() == [[0, 1, 2, 3]] * 2


def test_pieces_of_a_document_say_how_many_targets_are_known() -> None:
    assert list(windows_of(20, 28, context=4, stride=2)) == [(20, 25, 0), (22, 27, 2), (24, 28, 2)]


@pytest.mark.parametrize("kind", [Windows, Pieces, Documents])
@pytest.mark.parametrize("batch_tokens", [9, 33, 100, 1000])
def test_how_many_batches_there_are_in_order(tmp_path: Path, kind: type[Windows], batch_tokens: int) -> None:
    stores = [documents(tmp_path, [5, 37, 3, 2, 19, 4]).store]
    made = kind(stores, TOKENIZER, batch_tokens=batch_tokens, context=11)
    assert made.in_all() == len(list(made.in_order())) >= 1
    both = pairs(tmp_path, batch_tokens=batch_tokens)
    assert both.in_all() == len(list(both.in_order())) > 1
