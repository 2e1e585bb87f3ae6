"""The loss of a tag: nothing for a sure and right one, the log of their number for a guess, nothing between words."""

import math
from types import SimpleNamespace

import pytest
import torch

from regard.data import IGNORE, Batch
from regard.data.sources import Record, Source
from regard.objectives import Tagging
from regard.place import Place
from regard.systems import SYSTEMS, built
from tests.helpers import refused, same

TARGETS = torch.tensor([[IGNORE, 4, IGNORE, 0, IGNORE], [IGNORE, 2, 2, IGNORE, IGNORE], [IGNORE, 1, IGNORE, 3, IGNORE]])
COUNT, TAGS = 6, 7


def source(records: list[Record]) -> Source:
    return Source("treebank", lambda: iter(records), len(records))


def loss(scores: torch.Tensor, **settings: float):
    tokens = torch.zeros(TARGETS.shape, dtype=torch.long)
    model = SimpleNamespace(whole_batches=False, answer=lambda tokens, at: scores)
    found = Tagging(**settings)(model, Batch(tokens, TARGETS, COUNT, Place.line(tokens), whole=True))
    assert found.count == COUNT and found.each.shape == TARGETS.shape
    return found


def test_a_perfect_models_loss_is_zero_and_guessing_costs_the_log_of_the_tags() -> None:
    sure = torch.nn.functional.one_hot(TARGETS.clamp(min=0), TAGS).float() * 100
    assert float(loss(sure).total) == pytest.approx(0, abs=1e-6)
    even = loss(torch.zeros(3, 5, TAGS))
    assert float(even.total) == float(even.nats) == pytest.approx(COUNT * math.log(TAGS))


def test_what_is_no_beginning_of_a_word_adds_nothing() -> None:
    """Not to the loss, not to what is told of each token, and no gradient flows there."""
    scores = torch.randn(3, 5, TAGS, requires_grad=True)
    found = loss(scores)
    found.total.backward()
    silent = TARGETS == IGNORE
    assert (found.each[silent] == 0).all() and (found.each[~silent] > 0).all()
    assert (scores.grad[silent] == 0).all() and (scores.grad[~silent].abs().sum(-1) > 0).all()


def test_each_word_costs_its_own_nats() -> None:
    scores = torch.randn(3, 5, TAGS)
    each = loss(scores).each
    for (i, j), target in zip((TARGETS != IGNORE).nonzero().tolist(), TARGETS[TARGETS != IGNORE], strict=True):
        same(each[i, j], -scores[i, j].log_softmax(-1)[target])


def test_smoothing_asks_a_part_for_every_tag_alike_and_leaves_the_nats() -> None:
    scores = torch.randn(3, 5, TAGS)
    found = loss(scores, smoothing=0.3)
    flat = scores.flatten(0, 1), TARGETS.flatten()
    expected = torch.nn.functional.cross_entropy(*flat, ignore_index=IGNORE, label_smoothing=0.3, reduction="sum")
    same(found.total, expected)
    assert float(found.nats) == float(loss(scores).nats)


def test_the_model_is_told_what_is_padding() -> None:
    told = []
    tokens, present = torch.zeros(TARGETS.shape, dtype=torch.long), torch.arange(5) < torch.tensor([[5], [4], [5]])
    answer = lambda tokens, at: told.append(at.present) or torch.zeros(3, 5, TAGS)  # noqa: E731
    model = SimpleNamespace(whole_batches=False, answer=answer)
    Tagging()(model, Batch(tokens, TARGETS, COUNT, Place.line(tokens, present), whole=True))
    same(told[0].float(), present.float())


def test_labels_are_the_sorted_tags_of_the_training_split() -> None:
    assert Tagging().labels(source([("a b", "V D"), ("", ""), ("c", "N"), ("a", "D")])) == ("D", "N", "V")
    assert Tagging().named(" V D  V") == ["V", "D", "V"]


def test_tags_that_tell_nothing_apart_are_refused() -> None:
    with refused("treebank: every word has the tag 'N'; there is nothing to tell apart"):
        Tagging().labels(source([("a b", "N N"), ("c", "N")]))
    with refused("treebank: no word has a tag; there is nothing to tell apart"):
        Tagging().labels(source([("", "")]))
    with refused("treebank: record 2 has 1 word(s) and 0 tag(s)"):
        Tagging().labels(source([("a b", "N D"), ("c", "")]))


def test_only_what_tags_is_trained_to() -> None:
    for kind in ("rnn-encoder", "window-encoder", "bert", "gpt"):
        assert Tagging().misfit(built(SYSTEMS[kind](), 11, 3, "tags")) == ""
    assert "does not tag words" in Tagging().misfit(built(SYSTEMS["rnn-encoder"](), 11, 3, "labels"))
    assert "does not tag words" in Tagging().misfit(built(SYSTEMS["gpt"](), 11))


def test_smoothing_lies_between_0_and_1() -> None:
    for wrong in (-0.1, 1.0):
        with refused(f"objective.smoothing = {wrong}; it must be at least 0 and less than 1"):
            Tagging(smoothing=wrong)
