"""Uses of a word side by side: cosines, and how far senses are told apart, by hand and by a static vector."""

import pytest
import torch

from regard.evaluate.senses import Compared, Use, compared, separation, uses_of
from regard.evaluate.vectors import word_vectors
from tests.evaluate.test_vectors import run
from tests.helpers import refused, same

TEXTS = [("the bank of the river", "river"), ("Bank robbers like a bank", "money"), ("a bank by a lake", "river")]


def test_every_use_is_found_whatever_its_case() -> None:
    uses = uses_of("bank", TEXTS)
    assert [(use.word, use.start, use.sense) for use in uses] == [
        *(("bank", 4, "river"), ("Bank", 0, "money"), ("bank", 20, "money"), ("bank", 2, "river"))
    ]
    assert [use.start for use in uses_of("a", [("a bank, a", "")])] == [0, 8]
    with refused("the text 'a banker' has no word 'bank'"):
        uses_of("bank", [("a bank", ""), ("a banker", "")])
    with refused("has no word ''"):
        uses_of("", TEXTS)


def test_each_use_has_the_vector_of_its_own_text() -> None:
    mine, uses = run("bert"), uses_of("bank", TEXTS)
    found = compared(mine, uses)
    for use, vector in zip(uses, found.vectors, strict=True):
        (words,) = word_vectors(mine, [use.text])
        same(vector, next(word.vector for word in words if word.start == use.start))
    same(found.cosines.diagonal(), torch.ones(4).double())
    assert found.cosines.min() < 0.999
    deeper = compared(mine, uses, layer=0).vectors
    assert deeper.shape == (4, 24) and not torch.allclose(deeper, found.vectors)


def test_a_static_vector_knows_no_senses() -> None:
    found = compared(run("word2vec"), uses_of("bank", [(text.lower(), sense) for text, sense in TEXTS])).scores
    assert found["separation"] == pytest.approx(0, abs=1e-9)
    assert found["within"] == pytest.approx(1) and found["accuracy"] == found["chance"] == 0.5


def test_separation_by_hand() -> None:
    """Two of a along x and near it, three of b along y, one of which leans to a."""
    vectors = torch.tensor([[2.0, 0, 0], [3, 4, 0], [0, 1, 0], [0, 0, 5], [4, 3, 0]])
    found = separation(vectors, ["a", "a", "b", "b", "b"])
    assert found["within"] == pytest.approx((0.6 + 0 + 0.6 + 0) / 4)
    assert found["between"] == pytest.approx((0 + 0 + 0.8 + 0.8 + 0 + 0.96) / 6)
    assert found["separation"] == pytest.approx(found["within"] - found["between"])
    # each against the means of the others: 0 is nearest to a, as it should be; 1 to b, 2 and 4 to a; 3 to none
    assert found["accuracy"] == pytest.approx((1 + 0.5) / 5)
    assert (found["uses"], found["senses"], found["chance"]) == (5, {"a": 2, "b": 3}, 0.5)


def test_perfect_senses_are_all_found() -> None:
    vectors = torch.tensor([[1.0, 0], [2, 0.1], [0, 1], [0.1, 2]])
    found = separation(vectors, ["x", "x", "y", "y"])
    assert found["accuracy"] == 1 and found["separation"] > 0.9


def test_a_sense_with_one_use_is_not_judged() -> None:
    found = separation(torch.eye(3), ["x", "y", "z"])
    assert "accuracy" not in found and found["within"] is None and "separation" not in found
    found = separation(torch.tensor([[1.0, 0], [1, 0], [0, 1]]), ["x", "x", "y"])
    assert found["accuracy"] == 1


def test_one_sense_or_none_has_no_scores() -> None:
    assert Compared("mine", [Use("a", 0, 1), Use("a b", 0, 1)], torch.eye(2)).scores == {}
    assert Compared("mine", [Use("a", 0, 1, "x"), Use("a b", 0, 1)], torch.eye(2)).scores == {}


def test_a_use_without_a_sense_is_in_no_score() -> None:
    uses = [Use("a", 0, 1, sense) for sense in ("x", "", "x", "y", "")]
    vectors = torch.tensor([[1.0, 0], [0, 1], [1, 0.1], [0.1, 1], [1, 1]])
    assert Compared("mine", uses, vectors).scores == separation(vectors[[0, 2, 3]], ["x", "x", "y"])


def test_blanks_around_a_text_change_nothing() -> None:
    mine = run("bert")
    bare, wide = (compared(mine, uses_of("bank", [(text, "")])) for text in ("by a bank", " \tby a bank  "))
    same(wide.vectors, bare.vectors)
    assert wide.uses[0].word == "bank"
