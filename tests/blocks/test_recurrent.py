"""Recurrent layers: reading backwards over padding, dropout that stays, and a cache that is made anew after a cut."""

import pytest
import torch

from regard.blocks.dropout import Locked, WordDropout
from regard.blocks.recurrent import CELLS, Bidirectional, RecurrentLayer, States, state_of, turned
from regard.place import Place
from regard.systems import SYSTEMS, System
from tests.helpers import refused, same

TOKENS = torch.randint(4, 31, (3, 11), generator=torch.Generator().manual_seed(7))


def present(*lengths: int) -> torch.Tensor:
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def small(kind: str = "rnn-lm", **settings) -> System:
    torch.manual_seed(3)
    return SYSTEMS[kind](**{"width": 14, "depth": 2, "dropout": 0.0, **settings}).build(31).eval()


def test_each_row_is_turned_and_its_padding_stays() -> None:
    rows = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 8, 0, 0], [9, 0, 0, 0, 0]])
    there = present(5, 3, 1)
    assert turned(rows, there).tolist() == [[5, 4, 3, 2, 1], [8, 7, 6, 0, 0], [9, 0, 0, 0, 0]]
    assert turned(rows, None).tolist() == [[5, 4, 3, 2, 1], [0, 0, 8, 7, 6], [0, 0, 0, 0, 9]]
    assert torch.equal(turned(turned(rows, there), there), rows)


def test_turning_takes_vectors_along() -> None:
    x = torch.randn(3, 5, 7)
    back = turned(x, present(5, 3, 1))
    same(back[1, :3], x[1, :3].flip(0))
    same(back[1, 3:], x[1, 3:])


@pytest.mark.parametrize("cell", CELLS)
def test_a_state_is_cut_into_its_layers(cell: str) -> None:
    layer = RecurrentLayer(cell, 5, 7)
    state = torch.randn(3, 3 * layer.parts, 7)
    pieces = [state_of(state, i, layer.parts) for i in range(3)]
    assert {piece.shape[1] for piece in pieces} == {layer.parts}
    assert torch.equal(torch.cat(pieces, dim=1), state)
    assert state_of(None, 1, layer.parts) is None


def test_an_lstm_begins_by_forgetting_nothing() -> None:
    """Without a word and a state its forget gates stand at sigmoid(1), the others half open."""
    layer = RecurrentLayer("lstm", 5, 7)
    seen = []
    layer.gates.listener = seen.append
    layer(torch.zeros(3, 1, 5), None, None)
    enter, forget, out = seen[0][0, 0]
    same(forget, torch.full((7,), 1.0).sigmoid())
    same(enter, torch.full((7,), 0.5))
    same(out, torch.full((7,), 0.5))


def test_half_a_width_is_refused() -> None:
    with refused("width 13 has no half for each direction; 12 and 14 have"):
        Bidirectional("gru", 5, 13)
    with refused("width 13 has no half for each direction"):
        small("gnmt", width=13)
    with refused("width 13 has no half for each column of the encoder; 12 and 14 have"):
        small("deep-att", width=13)


@pytest.mark.parametrize("kind", ["seq2seq-attention", "gnmt", "deep-att"])
def test_an_unknown_score_is_refused(kind: str) -> None:
    with refused("system.score"):
        small(kind, score="cosine")


def test_locked_dropout_drops_the_same_units_at_every_token() -> None:
    torch.manual_seed(1)
    drop, x = Locked(0.5), torch.ones(3, 11, 103)
    y = drop(x)
    assert torch.equal(y, y[:, :1].expand_as(y))
    assert not torch.equal(y[0], y[1])
    assert set(y.unique().tolist()) == {0.0, 2.0}  # what stays is doubled, so that the sum stays
    assert float(y.mean()) == pytest.approx(1, abs=0.15)
    assert drop.eval()(x) is x
    assert Locked(0.0)(x) is x


def test_locked_layers_agree_with_plain_ones_only_without_dropout() -> None:
    for p, equal in ((0.0, True), (0.5, False)):
        plain, locked = (small(dropout=p, locked=it).train() for it in (False, True))
        torch.manual_seed(2)
        a = plain.decode(TOKENS)
        torch.manual_seed(2)
        assert torch.allclose(a, locked.decode(TOKENS)) == equal


@pytest.mark.parametrize("kind", ["rnn-lm", "seq2seq", "seq2seq-attention", "gnmt", "deep-att"])
def test_a_cut_cache_reads_again_what_was_left(kind: str) -> None:
    """The state after a cut is the one of a cache that never read further."""
    model = small(kind)
    memory = model.encode(TOKENS[:, :7]) if model.reads_source else None
    long, short = model.start(3, 13), model.start(3, 13)
    model.decode(TOKENS, memory, long)
    long.trim(5)
    assert long.state is None
    model.decode(TOKENS[:, :5], memory, short)
    same(model.decode(TOKENS[:, 6:7], memory, long), model.decode(TOKENS[:, 6:7], memory, short))
    same(long.state, short.state)
    assert long.length.tolist() == [6, 6, 6]


def test_a_cut_beyond_the_end_keeps_the_state() -> None:
    model = small()
    cache = model.start(3, 13)
    model.decode(TOKENS, cache=cache)
    before = cache.state
    cache.trim(11)
    assert cache.state is before


def test_a_cut_to_nothing_begins_again() -> None:
    model = small()
    cache = model.start(3, 13)
    model.decode(TOKENS, cache=cache)
    cache.trim(0)
    same(model.decode(TOKENS[:, :5], cache=cache), model.decode(TOKENS[:, :5]))


def test_uneven_rows_are_cut_where_they_are_longer() -> None:
    model = small()
    cache = model.start(3, 17)
    model.decode(TOKENS, None, cache, cache.places(TOKENS, present(11, 3, 7)))
    cache.trim(5)
    assert cache.length.tolist() == [5, 3, 5]
    newest = torch.tensor([[4], [5], [6]])
    got = model.decode(newest, None, cache)
    for row, length in enumerate([5, 3, 5]):
        alone = torch.cat((TOKENS[row, :length], newest[row]))[None]
        same(got[row, 0], model.decode(alone)[0, -1])


def test_rows_take_their_state_and_their_tokens_along() -> None:
    cache = States(3, 5)
    tokens, state = torch.tensor([[1, 2], [3, 4], [5, 6]]), torch.randn(3, 2, 7)
    cache.state = state
    cache.note(tokens, Place.line(tokens))
    cache.reorder(torch.tensor([2, 0, 0, 1]))
    same(cache.state, state[[2, 0, 0, 1]])
    assert cache.tokens[:, :2].tolist() == [[5, 6], [1, 2], [1, 2], [3, 4]]
    assert cache.length.tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize("cell", CELLS)
def test_weights_from_state_to_state_are_left_out_in_training_alone(cell: str) -> None:
    """What comes out is torch's own layer with those weights at zero and the others enlarged."""
    layer, x = RecurrentLayer(cell, 5, 7, weight_dropout=0.4), torch.randn(3, 11, 5)
    plain = layer.eval()(x, None, None)[0]
    same(plain, layer.fused(x)[0])
    torch.manual_seed(3)
    y, state = layer.train()(x, None, None)
    torch.manual_seed(3)
    dropped = torch.nn.functional.dropout(layer.fused.weight_hh_l0, 0.4)
    theirs = CELLS[cell].fused(5, 7, batch_first=True)
    theirs.load_state_dict({**layer.fused.state_dict(), "weight_hh_l0": dropped})
    expected, last = theirs(x)
    same(y, expected)
    same(state[:, 0], (last[0] if cell == "lstm" else last)[0])
    y.sum().backward()
    gradient = layer.fused.weight_hh_l0.grad
    assert bool((gradient[dropped == 0] == 0).all())
    assert bool((gradient[dropped != 0] != 0).any())


def test_a_word_is_left_out_wherever_it_stands() -> None:
    drop, tokens = WordDropout(0.5).train(), torch.randint(0, 13, (7, 29))
    torch.manual_seed(1)
    got = drop(torch.ones(7, 29, 3), tokens, 13)
    values = {word: set(got[tokens == word].flatten().tolist()) for word in range(13)}
    assert all(each in ({0.0}, {2.0}) for each in values.values())
    assert {0.0} in values.values() and {2.0} in values.values()
    assert torch.equal(drop.eval()(got, tokens, 13), got)
