"""What a system is for, in words, and the command that does it."""

from typing import NamedTuple

from regard.systems.system import System


class Use(NamedTuple):
    """What a run with such a system is called, what it does, and which command."""

    name: str
    does: str
    command: str


TRANSLATOR = Use("translator", "translates", "translate")
FILLER = Use("gap filler", "writes what was cut out of texts", "fill")  # a translator that was trained on spans
CONTINUER = Use("continuer", "writes what follows a source", "translate")  # a language model that was trained so
LANGUAGE_MODEL = Use("language model", "is a language model", "generate")
READERS = {  # by what they answer
    "labels": Use("classifier", "classifies texts", "classify"),
    "tags": Use("tagger", "tags the words of texts", "tag"),
    "words": Use("masked language model", "guesses hidden words of texts", "fill"),
    "vectors": Use("reader", "turns texts into vectors", "embed"),
}


def use_of(model: System) -> Use:
    if model.writes_text:
        return TRANSLATOR if model.reads_source else LANGUAGE_MODEL
    return READERS[model.answers]
