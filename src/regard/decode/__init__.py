"""Making text: greedy, sampled, by beam, by an ensemble, as a stream; and scoring given text."""

from regard.decode.ensemble import Ensemble, together
from regard.decode.generate import cut, generate
from regard.decode.hypothesis import Hypothesis
from regard.decode.score import score
from regard.decode.stream import Stream

__all__ = ["Ensemble", "Hypothesis", "Stream", "cut", "generate", "score", "together"]
