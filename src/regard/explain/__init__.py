"""Looking inside a trained model: what it looked at, as numbers, pictures, a page and the five steps of attention."""

from regard.explain.draw import draw, draw_word
from regard.explain.page import to_html
from regard.explain.plain import to_json
from regard.explain.steps import Steps, walk
from regard.explain.terminal import steps
from regard.explain.trace import Map, Side, Token, Trace, trace
from regard.explain.words import Look, Word, alignment, by_words, find, look_of_word, words

__all__ = [
    "Look",
    "Map",
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
