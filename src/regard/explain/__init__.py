"""Looking inside a trained model, as numbers, pictures and a page: attention, gates, experts, influence."""

from regard.explain.draw import draw, draw_word
from regard.explain.influence import Influence
from regard.explain.page import to_html
from regard.explain.plain import to_json
from regard.explain.sides import Side, Token
from regard.explain.steps import Steps, walk
from regard.explain.terminal import steps
from regard.explain.trace import Gates, Map, Routing, Trace, trace
from regard.explain.words import Look, Word, alignment, by_words, find, look_of_word, words

__all__ = [
    "Gates",
    "Influence",
    "Look",
    "Map",
    "Routing",
    "Side",
    "Steps",
    "Token",
    "Trace",
    "Word",
    "alignment",
    "by_words",
    "draw",
    "draw_word",
    "find",
    "look_of_word",
    "steps",
    "to_html",
    "to_json",
    "trace",
    "walk",
    "words",
]
