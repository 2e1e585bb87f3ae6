"""Settings of recurrent systems: those that cannot be, and what some of them do."""

import pytest
import torch

from regard.place import Place
from regard.systems import SYSTEMS
from tests.helpers import refused


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("rnn-lm", {"cell": "lstn"}, "system.cell = 'lstn' is not known; did you mean 'lstm'?"),
        ("rnn-lm", {"depth": 0}, "system.depth = 0; it must be at least 1"),
        ("seq2seq", {"enters": "always"}, "system.enters = 'always' is not known; known: start, every"),
        ("seq2seq-attention", {"query": "next"}, "system.query = 'next' is not known; known: previous, current"),
        ("seq2seq-attention", {"feeding": True}, "what is found is read anyway"),
        ("seq2seq-attention", {"score": "dots"}, "system.score = 'dots' is not known; did you mean 'dot'?"),
        ("seq2seq-attention", {"width": 13}, "width 13 has no half for each direction; 12 and 14 have"),
    ],
)
def test_a_setting_that_cannot_be_stops(kind: str, settings: dict, message: str) -> None:
    with refused(message):
        SYSTEMS[kind](**settings).build(11)


def test_dropout_below_and_above_the_layers_may_be_another_one() -> None:
    """The dropout of the layers stands in for what is not given."""
    plain = SYSTEMS["rnn-lm"](width=8, depth=2, dropout=0.3, locked=True).build(11)
    assert (plain.drop_input.p, plain.layers.between[0].p, plain.drop_output.p) == (0.3, 0.3, 0.3)
    each = SYSTEMS["rnn-lm"](width=8, depth=2, dropout=0.3, input_dropout=0.0, output_dropout=0.6).build(11)
    assert (each.drop_input.p, each.layers.between[0].p, each.drop_output.p) == (0.0, 0.3, 0.6)


def test_word_vectors_begin_as_large_as_told_and_a_word_may_have_a_score_of_its_own() -> None:
    tokens = torch.arange(11)[None]
    sizes = []
    for size in (1.0, 0.1):
        torch.manual_seed(4)
        model = SYSTEMS["rnn-lm"](width=64, word_size=size, bias=True).build(11)
        sizes.append(model.embedding(tokens, Place.line(tokens)))
        assert not model.output.rows.bias.any()
    torch.testing.assert_close(sizes[1], 0.1 * sizes[0])
    with torch.no_grad():
        model.output.rows.bias[3] = 5.0
    vectors = torch.zeros(1, 2, 64)
    assert model.logits(vectors)[0, 0].tolist() == [0.0] * 3 + [5.0] + [0.0] * 7
