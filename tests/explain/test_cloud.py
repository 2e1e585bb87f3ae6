"""Vectors as points: the axes of largest spread, and a picture that has every use, sense and run."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.evaluate.senses import Compared, uses_of
from regard.explain.cloud import FEW, draw_uses, principal
from tests.helpers import refused

TEXTS = [("a bank of the river $1", "river"), ("the bank pays $2", "money"), ("a steep bank", "river")]


def compared(name: str, times: int = 1) -> Compared:
    uses = uses_of("bank", TEXTS * times)
    return Compared(name, uses, torch.randn(len(uses), 7, generator=torch.Generator().manual_seed(3)))


def test_the_axes_are_those_of_the_largest_spread() -> None:
    """Points in a plane that was turned into seven dimensions come back as they were, up to their signs."""
    chance = np.random.default_rng(5)
    plane = np.stack([chance.normal(0, 5, 11), chance.normal(0, 2, 11)], 1)
    turned, _ = np.linalg.qr(chance.normal(size=(7, 7)))
    points, shares = principal(plane @ turned[:2] + 3.0)
    distances = [np.linalg.norm(each[:, None] - each[None], axis=-1) for each in (points, plane)]
    np.testing.assert_allclose(*distances, atol=1e-9)
    assert shares.sum() == pytest.approx(1) and shares[0] > shares[1]
    assert abs(np.corrcoef(points.T)[0, 1]) < 1e-9


def test_vectors_without_spread_are_one_point() -> None:
    points, shares = principal(np.tile(np.arange(5.0) / 3, (4, 1)))
    assert not points.any() and not shares.any()
    points, shares = principal(np.array([[1.0], [3.0]]))
    np.testing.assert_allclose(np.abs(points), [[1, 0], [1, 0]])
    assert shares.tolist() == [1, 0]


def test_the_picture_names_runs_senses_and_texts(tmp_path: Path) -> None:
    one = compared("mine")
    same = Compared("static", one.uses, one.vectors[:1].repeat(3, 1))
    draw_uses([one, same], tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    for words in ("“bank” in 3 places", "mine", "static", "river (2)", "money (1)", "the bank pays $2", "all 3"):
        assert words in text, words
    assert "separation 0.00, nearest sense 50%" in text
    assert not re.findall(r"(?:href|src)=\"(?!#)", text)
    draw_uses([one], tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_many_texts_are_not_written_out(tmp_path: Path) -> None:
    many = compared("mine", times=FEW)
    draw_uses([many], tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert "river (48)" in text and "the bank pays" not in text


def test_senses_need_not_be_named(tmp_path: Path) -> None:
    uses = uses_of("bank", [(text, "") for text, _ in TEXTS])
    draw_uses([Compared("mine", uses, compared("").vectors)], tmp_path / "a.svg")
    assert "separation" not in (tmp_path / "a.svg").read_text()


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with refused("its name must end in .svg, .png"):
        draw_uses([compared("mine")], tmp_path / "a.html")
