"""From settings to the system they describe, with the head that a task asks for."""

from typing import Any

from regard.errors import UserError
from regard.systems.encoder import Encoding, OnWriter
from regard.systems.heads import Asked
from regard.systems.system import System


def built(settings: Any, vocabulary: int, labels: int = 0, head: str = "own") -> System:
    """For so many tokens and, where the head tells labels apart, so many of them."""
    asked = Asked(head, labels)
    if isinstance(settings, Encoding):
        return settings.build(vocabulary, asked)
    model = settings.build(vocabulary)
    if head == "own":
        return model
    if model.reads_source:
        raise UserError(
            "a system that reads a source and writes a text has no place for a head: "
            "let it write the answer, with objective.kind = 'translation'"
        )
    if not model.writes_text:
        raise UserError(
            "a system that gives each word one vector, whatever stands around it, has no place for a head; "
            "take an encoder such as rnn-encoder"
        )
    if head == "next":
        raise UserError("a system that writes sees no text that follows; only an encoder such as bert can judge it")
    return OnWriter(model, asked)
