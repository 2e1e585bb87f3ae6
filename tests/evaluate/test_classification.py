"""Accuracy, F1 and confusion by their definitions; every text is read alike among others and alone."""

import pytest
import torch

from regard.evaluate import classification
from regard.evaluate.classification import log_probabilities, scores
from regard.place import Place
from regard.systems import SYSTEMS, built
from regard.text import Text, Tokenizer
from tests.helpers import refused, same

LETTERS = Tokenizer.train(["abcdefg"], Text(kind="char"))


def model(**settings: object):
    torch.manual_seed(3)
    return built(SYSTEMS["rnn-encoder"](width=14, **settings), len(LETTERS), 5, "labels").eval()


def test_scores_by_hand() -> None:
    """c is never wanted and once said: its F1 is 0 and counts; d is neither and does not."""
    wanted, said = [0, 0, 0, 0, 1, 1, 1], [0, 0, 1, 2, 1, 1, 0]
    found = scores(wanted, said, "abcd")
    assert found["accuracy"] == pytest.approx(4 / 7)
    assert found["baseline"] == pytest.approx(4 / 7)
    assert found["f1"] == pytest.approx((2 * 2 / (4 + 3) + 2 * 2 / (3 + 3) + 0) / 3)
    assert found["confusion"]["a"] == {"a": 2, "b": 1, "c": 1, "d": 0}
    assert found["confusion"]["b"] == {"a": 1, "b": 2, "c": 0, "d": 0}


def test_all_right_is_all_one() -> None:
    found = scores([2, 0, 2, 1], [2, 0, 2, 1], "abc")
    assert (found["accuracy"], found["f1"], found["baseline"]) == (1.0, 1.0, 0.5)


def test_texts_come_in_their_order_whatever_is_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [LETTERS.encode(text) for text in ("abc", "", "gfedcba", "a", "gg", "abcabcabc", "cab")]
    system, done = model(), []
    alone = torch.cat([log_probabilities(system, LETTERS, [text]) for text in texts])
    same(log_probabilities(system, LETTERS, texts), alone)
    monkeypatch.setattr(classification, "TOGETHER", 3)
    same(log_probabilities(system, LETTERS, texts, done.append), alone)
    assert done == [3, 6, 7]
    same(alone.exp().sum(1), torch.ones(7))
    assert len(alone.argmax(1)) == 7 and not torch.allclose(alone[0], alone[2])


def test_a_text_stands_between_start_and_end() -> None:
    system = model()
    tokens = torch.tensor([[LETTERS.start, *LETTERS.encode("abc"), LETTERS.end]])
    same(log_probabilities(system, LETTERS, [LETTERS.encode("abc")]), system.answer(tokens).log_softmax(-1))


def test_no_text_has_no_probabilities() -> None:
    assert log_probabilities(model(), LETTERS, []).shape == (0, 5)


def test_a_text_longer_than_a_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    system = model()
    monkeypatch.setattr(type(system), "limit", 4)
    log_probabilities(system, LETTERS, [LETTERS.encode("ab")])
    with refused("a text with its start and end has 5 tokens and the context holds 4"):
        log_probabilities(system, LETTERS, [LETTERS.encode("abc")])


def test_two_texts_are_read_as_one_row() -> None:
    torch.manual_seed(3)
    small = {"width": 14, "heads": 2, "depth": 1, "context": 23}
    bert = built(SYSTEMS["bert"](**small), len(LETTERS), 5, "labels").eval()
    first, second = ([LETTERS.encode(text) for text in texts] for texts in (("abc", "", "g"), ("de", "a", "fedcb")))
    found = log_probabilities(bert, LETTERS, first, seconds=second)
    start, end = LETTERS.start, LETTERS.end
    for one, other, values in zip(first, second, found, strict=True):
        tokens = torch.tensor([[start, *one, end, *other, end]])
        segment = torch.tensor([[0] * (len(one) + 2) + [1] * (len(other) + 1)])
        at = Place(torch.arange(tokens.shape[1])[None], segment=segment)
        same(values, bert.answer(tokens, at).log_softmax(-1)[0])
    assert not torch.allclose(found, log_probabilities(bert, LETTERS, second, seconds=first), atol=1e-3)
    with refused("a pair with its start and ends has 25 tokens and the context holds 23"):
        log_probabilities(bert, LETTERS, [first[0] * 5], seconds=[second[0] + second[2]])
