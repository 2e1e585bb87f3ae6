"""The tree that a model was given, read back from its numbers and drawn over the words."""

import random
import re
from dataclasses import replace

import pytest

from regard.checkpoint import Run
from regard.data.parse import Parse
from regard.explain import to_html, to_json, trace
from regard.explain.figures import figure, parts
from regard.explain.panels import WIDEST
from regard.explain.sides import with_tree
from regard.explain.tree import Arcs, hung, levels
from tests.explain.conftest import SOURCE, make

WORDS, HEADS = ["The", "chicken", "didn't", "cross", "the", "road", "."], [2, 4, 4, 0, 6, 4, 4]


@pytest.fixture(scope="module")
def run() -> Run:
    return make("syntax", context=97)


@pytest.mark.parametrize("seed", range(20))
def test_heads_are_read_back_from_what_the_model_was_given(run: Run, seed: int) -> None:
    chance = random.Random(seed)
    order = chance.sample(range(1, 12), 11)
    heads = [0] * 11
    for place, word in enumerate(order):
        heads[word - 1] = chance.choice(order[:place]) if place else 0
    words = [chance.choice(["chicken", "didn't", "it", "überquerte"]) for _ in heads]
    found = hung(with_tree(run, Parse.of(words, heads)))
    assert [each.word.text for each in found] == words
    assert [each.head + 1 if each.head is not None else 0 for each in found] == heads
    assert any(len(each.word.tokens) > 1 for each in found)


def test_a_gap_is_a_word_of_the_tree(run: Run) -> None:
    side = with_tree(run, Parse.of([*WORDS[:3], "___", *WORDS[4:]], HEADS))
    assert [each.word.text for each in hung(side)] == [*WORDS[:3], "<mask>", *WORDS[4:]]


def test_an_arc_passes_over_those_that_it_covers_or_crosses() -> None:
    assert levels([(0, 3), (1, 2), (2, 3), (3, 4)]) == {(1, 2): 1, (2, 3): 1, (3, 4): 1, (0, 3): 2}
    assert levels([(0, 2), (1, 3)]) == {(0, 2): 1, (1, 3): 2}
    assert levels([]) == {}


@pytest.mark.parametrize(("count", "lies"), [(1, True), (12, True), (60, False)])
def test_words_stand_upright_where_they_are_too_many(count: int, lies: bool) -> None:
    made = Arcs("", ["chicken"] * count, [None, *range(count - 1)])
    assert made.lies == lies and made.size[0] <= WIDEST + 1e-6


def test_pictures_pages_and_numbers_show_it(run: Run) -> None:
    seen = trace(run, text=Parse.of(WORDS, HEADS))
    assert isinstance(next(parts(seen)), Arcs)
    drawn = figure(seen, "svg").decode()
    assert "Tree that was given" in drawn and re.search(r">\s*root\s*<", drawn)
    numbers = to_json(seen)["tree"]
    assert [each["text"] for each in numbers] == WORDS
    assert [each["head"] for each in numbers] == [head - 1 if head else None for head in HEADS]
    assert '"tree":[{"text":"The"' in to_html(seen)


def test_a_tree_that_the_run_made_itself_is_said_to_be_so(run: Run) -> None:
    grown = replace(run, parser=lambda text: Parse.of(WORDS, HEADS))
    seen = trace(grown, text=" ".join(WORDS))
    drawn = figure(seen, "svg").decode()
    assert "Tree by the run's own parser" in drawn and "given" not in drawn
    assert to_json(seen)["parsed"] and '"parsed":true' in to_html(seen)
    assert not to_json(trace(grown, text=Parse.of(WORDS, HEADS)))["parsed"]


def test_a_model_that_looks_at_no_tree_shows_none(speaker: Run) -> None:
    seen = trace(speaker, text=SOURCE)
    assert to_json(seen)["tree"] is None
    assert not any(isinstance(part, Arcs) for part in parts(seen))
