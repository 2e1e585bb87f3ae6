"""Scores of taggers by their definitions: words, tags, spans; every sentence is read alike among others and alone."""

import random
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.checkpoint import Run
from regard.data.sources import Source
from regard.evaluate import classification
from regard.evaluate.job import Job
from regard.evaluate.tagging import log_probabilities, marks_spans, span_scores, spans, tagged
from regard.systems import SYSTEMS, built
from regard.text import Text, Tokenizer
from regard.text.words import spell
from tests.helpers import recipe, refused, same

LETTERS = Tokenizer.train(["abcdefg "], Text(kind="char"))
TAGS = ("D", "N", "O", "V", "X")


def model(**settings: object):
    torch.manual_seed(3)
    return built(SYSTEMS["rnn-encoder"](width=14, **settings), len(LETTERS), len(TAGS), "tags").eval()


def measured(records: list[tuple[str, str]], **more: Any) -> tuple[dict[str, Any], dict[str, list], list[str]]:
    """The scores, what was kept for comparisons, and what was said."""
    told, kept = [], {}
    run = Run(Path("nowhere"), recipe("rnn-encoder", objective={"kind": "tagging"}), LETTERS, model(), TAGS)
    source = Source("treebank", lambda: iter(records), len(records))
    return tagged(Job(run, source, say=told.append, keep=kept.__setitem__, **more)), kept, told


def test_the_probabilities_are_those_at_the_beginnings_of_words() -> None:
    system, words = model(), ["ab", "c", "gfe"]
    tokens = torch.tensor([[LETTERS.start, *LETTERS.encode(" ab c gfe"), LETTERS.end]])
    (found,) = log_probabilities(system, LETTERS, [spell(LETTERS, words)])
    same(found, system.answer(tokens)[0, [2, 5, 7]].log_softmax(-1))


def test_sentences_come_in_their_order_whatever_is_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["ab c", "", "gfe dcb a", "a", "g g g g", "abcabcabc", "c ab"]
    spelt = [spell(LETTERS, text.split()) for text in texts]
    system, done = model(), []
    alone = [log_probabilities(system, LETTERS, [each])[0] for each in spelt]
    assert [len(rows) for rows in alone] == [len(text.split()) for text in texts]
    monkeypatch.setattr(classification, "TOGETHER", 3)
    for one, other in zip(log_probabilities(system, LETTERS, spelt, done.append), alone, strict=True):
        same(one, other)
    assert done == [3, 6, 7]


def test_scores_are_those_of_all_words_counted_by_hand() -> None:
    records = [("ab c", "D N"), ("gfe dcb a", "V V X"), ("a", "D")]
    found, kept, told = measured(records)
    values = [log_probabilities(model(), LETTERS, [spell(LETTERS, words.split())])[0] for words, _ in records]
    wanted = [tags.split() for _, tags in records]
    said = [[TAGS[row.argmax()] for row in rows] for rows in values]
    assert kept == {"reference": wanted, "hypothesis": said} and told == []
    pairs = [pair for rows in zip(wanted, said, strict=True) for pair in zip(*rows, strict=True)]
    assert found["accuracy"] == sum(a == b for a, b in pairs) / 6
    nats = [-rows[i, TAGS.index(tag)] for rows, tags in zip(values, wanted, strict=True) for i, tag in enumerate(tags)]
    assert found["loss"] == pytest.approx(float(sum(nats)) / 6)
    assert (found["baseline"], found["words"], found["sentences"], found["unknown"]) == (2 / 6, 6, 3, 0)
    met = {tag for pair in pairs for tag in pair}
    ones = [2 * pairs.count((t, t)) / sum((a == t) + (b == t) for a, b in pairs) for t in met]
    assert found["f1"] == pytest.approx(sum(ones) / len(met))
    assert not any(name.startswith("span") for name in found)


def test_a_tag_the_run_does_not_know_is_never_right_and_not_in_the_loss() -> None:
    known, _, _ = measured([("ab c", "D N"), ("a", "V")])
    found, kept, told = measured([("ab c", "D N"), ("", ""), ("a gfe c", "V Q Q")])
    assert told == ["2 of 5 words have a tag that the run does not know (Q): never right, and not in the loss"]
    assert (found["words"], found["sentences"]) == (5, 2) and kept["reference"] == [["D", "N"], ["V", "Q", "Q"]]
    right = sum(a == b for rows in zip(*kept.values(), strict=True) for a, b in zip(*rows, strict=True))
    assert found["accuracy"] == right / 5
    assert found["confusion"]["Q"]["Q"] == 0 and sum(found["confusion"]["Q"].values()) == 2
    (alone,) = log_probabilities(model(), LETTERS, [spell(LETTERS, ["a", "gfe", "c"])])
    (first,) = log_probabilities(model(), LETTERS, [spell(LETTERS, ["ab", "c"])])
    assert found["loss"] == pytest.approx(-float(first[0, 0] + first[1, 1] + alone[0, 3]) / 3)
    assert known["loss"] != found["loss"], "other neighbours, other probabilities"


def test_data_of_another_kind_is_refused() -> None:
    with refused("treebank: the run knows none of its tags (Q, R), but D, N, O, V ..."):
        measured([("ab c", "Q R")])
    with refused("treebank: record 2 has 2 word(s) and 1 tag(s)"):
        measured([("a", "D"), ("ab c", "D")])
    with refused("treebank: there is no word in it"):
        measured([("", "")])


def test_what_a_limit_leaves_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(model()), "limit", 7)
    found, _, told = measured([("ab c", "D N"), ("ab cd", "D N")])
    assert found["sentences"] == 1
    assert told == ["1 of 2 sentences are longer than 7 tokens: not measured"]
    with refused("no sentence is left that the context of 7 tokens holds; the shortest has 8, and "):
        measured([("ab cd", "D N")])


SPANS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")


def slow_spans(tags: list[str]) -> set[tuple[int, int, str]]:
    """Of all stretches those that are a span by the rules: one kind, begun where one must begin, and not cut short."""

    def kind(i: int) -> str:
        return tags[i][2:] if 0 <= i < len(tags) and tags[i] != "O" else ""

    def begins(i: int) -> bool:
        return bool(kind(i)) and (tags[i].startswith("B") or kind(i - 1) != kind(i))

    found = set()
    for first, after in combinations(range(len(tags) + 1), 2):
        inside = range(first, after)
        whole = len({kind(i) for i in inside}) == 1 and kind(first) and [i for i in inside if begins(i)] == [first]
        if whole and (after == len(tags) or begins(after) or not kind(after)):
            found.add((first, after, kind(first)))
    return found


@pytest.mark.parametrize("seed", range(50))
def test_spans_are_those_of_a_slow_count(seed: int) -> None:
    chance = random.Random(seed)
    tags = chance.choices(SPANS, k=chance.randint(0, 17))
    assert spans(tags) == slow_spans(tags)


def test_spans_of_the_shared_task_by_hand() -> None:
    assert spans(["B-LOC", "I-LOC", "O", "I-PER", "I-PER", "B-PER", "I-LOC"]) == {
        (0, 2, "LOC"),
        (3, 5, "PER"),
        (5, 6, "PER"),
        (6, 7, "LOC"),
    }


def test_span_scores_by_hand() -> None:
    """Three wanted, four said; found are the first and the last: a kind and a border are wrong between."""
    wanted = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-PER"]]
    said = [["B-PER", "I-PER", "O", "B-PER"], ["O", "B-PER"]]
    assert span_scores(wanted, said) == {"span_precision": 2 / 3, "span_recall": 2 / 3, "span_f1": 2 / 3, "spans": 3}
    said = [["B-PER", "B-PER", "O", "B-LOC"], ["B-PER", "I-PER"]]
    found = span_scores(wanted, said)
    assert (found["span_precision"], found["span_recall"]) == (1 / 4, 1 / 3)
    assert found["span_f1"] == pytest.approx(2 / 7)
    nothing = span_scores([["O"]], [["O"]])
    assert nothing == {"span_precision": 0.0, "span_recall": 0.0, "span_f1": 0.0, "spans": 0}


def test_only_tags_that_mark_spans_are_scored_so() -> None:
    assert marks_spans(SPANS) and marks_spans(("I-x", "O"))
    for tags in (TAGS, ("O",), ("O", "B-"), ("O", "B-x", "E-x")):
        assert not marks_spans(tags)
