"""Settings of recurrent systems that cannot be."""

import pytest

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
