"""What must hold for every system, whatever it is made of."""

from itertools import pairwise

import pytest
import torch

from regard.attention import Look
from regard.attention.kernels import fastest, formula
from regard.data import IGNORE, Batch
from regard.objectives import NextToken
from regard.tap import record
from tests.laws.cases import Case, every_language_model, every_system, memory_for, packed_place, ragged, texts

NEAR = {"rtol": 1e-4, "atol": 2e-5}


def same(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, **NEAR)


def batch_for(model, rows: int = 3, length: int = 13) -> Batch:
    tokens, present = texts(rows, length + 1), ragged([13, 7, 11][:rows], length)
    targets = tokens[:, 1:].masked_fill(~present, IGNORE)
    source = texts(rows, 11, seed=2) if model.reads_source else None
    seen = ragged([11, 5, 8][:rows], 11) if model.reads_source else None
    return Batch(tokens[:, :-1], targets, int(present.sum()), source=source, source_present=seen)


@every_system
def test_the_past_ignores_the_future(case: Case) -> None:
    model, tokens = case.build(), texts()
    memory = memory_for(model)
    before = model.decode(tokens, memory)
    changed = tokens.clone()
    changed[:, 7:] = texts(seed=9)[:, 7:]
    after = model.decode(changed, memory)
    same(before[:, :7], after[:, :7])
    assert not torch.allclose(before[:, 7:], after[:, 7:]), "the change was not seen at all"


@every_system
def test_padding_is_inert(case: Case) -> None:
    """Neither what the padding says nor how much there is of it changes a result."""
    model, tokens = case.build(), texts()
    lengths = [11, 5, 8]
    source, present = texts(3, 11, seed=2), ragged(lengths)
    if not model.reads_source:
        longer = torch.cat([tokens, texts(3, 4, seed=8)], dim=1)
        same(model.decode(longer)[:, :13], model.decode(tokens))
        return
    once = model.decode(tokens, model.encode(source, present))
    filled = source.where(present, texts(3, 11, seed=8))
    same(model.decode(tokens, model.encode(filled, present)), once)
    wider = torch.cat([source, texts(3, 4, seed=8)], dim=1)
    same(model.decode(tokens, model.encode(wider, ragged(lengths, 15))), once)


@every_system
def test_cached_equals_full(case: Case) -> None:
    """At once, token by token, and in uneven pieces."""
    model, tokens = case.build(), texts()
    memory = memory_for(model, lengths=[11, 5, 8])
    full = model.decode(tokens, memory)
    for cuts in ([0, *range(1, 14)], [0, 5, 6, 11, 13]):
        cache = model.start(3, 17)
        parts = [model.decode(tokens[:, a:b], memory, cache) for a, b in pairwise(cuts)]
        same(torch.cat(parts, dim=1), full)


@every_system
def test_a_cache_of_uneven_rows_equals_each_alone(case: Case) -> None:
    """Prompts of different lengths are read together, then go on together."""
    model, tokens, lengths = case.build(), texts(3, 13), [7, 3, 5]
    memory = memory_for(model)
    cache = model.start(3, 17)
    prompt = tokens[:, :7]
    at = cache.places(prompt, ragged(lengths))
    model.decode(prompt, memory, cache, at)
    steps = []
    for step in range(4):
        newest = torch.stack([tokens[row, length + step] for row, length in enumerate(lengths)])[:, None]
        steps.append(model.decode(newest, memory, cache))
    got = torch.cat(steps, dim=1)
    for row, length in enumerate(lengths):
        one = memory.reorder(torch.tensor([row])) if memory else None
        alone = model.decode(tokens[row : row + 1, : length + 4], one)
        same(got[row], alone[0, length:])


@every_system
def test_a_cache_follows_its_rows_and_can_be_cut(case: Case) -> None:
    model, tokens = case.build(), texts()
    memory, rows = memory_for(model), torch.tensor([2, 0, 0])
    cache = model.start(3, 17)
    model.decode(tokens[:, :9], memory, cache)
    cache.reorder(rows)
    moved = memory.reorder(rows) if memory else None
    full = model.decode(tokens[rows], moved)
    cache.trim(6)
    same(model.decode(tokens[rows][:, 6:], moved, cache), full[:, 6:])


@every_system
def test_a_batch_equals_each_row_alone(case: Case) -> None:
    model = case.build()
    batch = batch_for(model)
    memory = model.encode(batch.source, batch.source_present) if model.reads_source else None
    together = model.decode(batch.tokens, memory)
    for i in range(3):
        row = batch.row(i)
        alone = model.decode(row.tokens, model.encode(row.source) if model.reads_source else None)
        same(together[i, : row.tokens.shape[1]], alone[0])


@every_language_model
def test_packed_equals_unpacked(case: Case) -> None:
    """A translator is not packed: its batches hold one sentence a row. What cannot be packed refuses to be."""
    model, tokens = case.build(), texts(2, 13)
    pieces = [[5, 8], [2, 4, 7]]
    if not model.packs:
        with pytest.raises(ValueError, match="one document a row"):
            model.decode(tokens, at=packed_place(pieces))
        return
    packed = model.decode(tokens, at=packed_place(pieces))
    for row, lengths in enumerate(pieces):
        begin = 0
        for length in lengths:
            alone = model.decode(tokens[row : row + 1, begin : begin + length])
            same(packed[row, begin : begin + length], alone[0])
            begin += length


@every_system
def test_the_fast_kernel_equals_the_formula_in_value_and_gradient(case: Case) -> None:
    results = []
    for training in (False, True):
        for kernel in (fastest, formula):
            model = case.build()
            model.train(training)
            for part in model.modules():
                if isinstance(part, Look):
                    part.kernel = kernel
            loss = NextToken(smoothing=0.1)(model, batch_for(model))
            loss.total.backward()
            results.append((loss.total.detach(), {n: p.grad for n, p in model.named_parameters()}))
    for total, gradients in results[1:]:
        same(total, results[0][0])
        for name, gradient in gradients.items():
            torch.testing.assert_close(gradient, results[0][1][name], rtol=1e-3, atol=1e-3)


@every_system
def test_recorded_weights_are_those_of_the_running_model(case: Case) -> None:
    """Rows sum to 1, they reproduce the kernel's output, and listening changes nothing."""
    model, tokens = case.build(), texts()
    unheard = model.decode(tokens, memory_for(model, lengths=[11, 5, 8]))
    with record(model, "*") as seen:
        heard = model.decode(tokens, memory_for(model, lengths=[11, 5, 8]))
    assert torch.equal(unheard, heard)
    names = [name for name in seen if name.endswith(".weights")]
    assert len(names) == sum(isinstance(part, Look) for part in model.modules())
    for name in names:
        beside = [seen.all(name.replace("weights", other)) for other in ("value", "context")]
        added = seen.all(name.replace("weights", "added")) or [0.0] * len(beside[0])
        for weights, value, context, more in zip(seen.all(name), *beside, added, strict=True):
            seeing = (
                ragged([11, 5, 8]) if name.startswith("encoder") else torch.ones(weights.shape[0], weights.shape[2])
            )
            sums = weights.sum(-1) * seeing[:, None]  # padding may look nowhere
            same(sums, seeing[:, None].expand_as(sums).float())
            shared = value.repeat_interleave(weights.shape[1] // value.shape[1], dim=1)
            same(weights @ shared, context - more)


@every_system
def test_accumulated_equals_the_full_batch(case: Case) -> None:
    """Pieces with different numbers of tokens: a mean of means would not do."""
    model, objective = case.build(), NextToken(smoothing=0.1)
    batch = batch_for(model)
    gradients = []
    for pieces in (1, 2, 3):
        model.zero_grad()
        for piece in batch.split(pieces):
            (objective(model, piece).total / batch.count).backward()
        gradients.append([p.grad.clone() for p in model.parameters()])
    for other in gradients[1:]:
        for a, b in zip(gradients[0], other, strict=True):
            same(a, b)


@every_system
def test_ignored_targets_add_nothing(case: Case) -> None:
    model = case.build()
    batch = batch_for(model)
    alone = [batch.row(i) for i in range(3)]
    together = NextToken()(model, batch)
    same(together.nats, sum(NextToken()(model, row).nats for row in alone))
    assert together.count == sum(row.count for row in alone)


@every_system
def test_every_parameter_is_used(case: Case) -> None:
    model = case.build()
    NextToken()(model, batch_for(model)).total.backward()
    unused = [name for name, parameter in model.named_parameters() if parameter.grad is None]
    assert not unused


@every_system
def test_dropout_acts_in_training_alone(case: Case) -> None:
    model, tokens = case.build(dropout=0.5), texts()
    memory = memory_for(model)
    same(model.decode(tokens, memory), model.decode(tokens, memory))
    model.train()
    assert not torch.allclose(model.decode(tokens, memory), model.decode(tokens, memory))
