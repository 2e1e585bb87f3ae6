"""Making text: greedy, sampled, by beam, by an ensemble, as a stream; and scoring given text."""

from regard.decode.alignment import check_alignment
from regard.decode.ensemble import Ensemble, together
from regard.decode.fill import fill_masks, fill_spans, write_anew
from regard.decode.generate import cut, generate
from regard.decode.hypothesis import Hypothesis
from regard.decode.score import score
from regard.decode.stream import Stream
from regard.decode.translate import Translated, room, translate

__all__ = [
    "Ensemble",
    "Hypothesis",
    "Stream",
    "Translated",
    "check_alignment",
    "cut",
    "fill_masks",
    "fill_spans",
    "generate",
    "room",
    "score",
    "together",
    "translate",
    "write_anew",
]
