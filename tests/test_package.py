"""`import regard`: the names it promises, whatever was imported before."""

from pathlib import Path

import pytest

import regard
from tests.helpers import lines_file, recipe


def test_train_can_be_called_again_and_again(tmp_path: Path) -> None:
    """The function and the package it lives in have one name; after the first use Python finds the package."""
    data = {"train": lines_file(tmp_path / "text.txt", ["love is a rose"] * 9)}
    for name in ("one", "two"):
        assert (
            regard.train(recipe("gpt", data=data, train={"steps": 1}), tmp_path / name, quiet=True) == tmp_path / name
        )
    assert regard.load(tmp_path / "two").recipe.train.steps == 1
    assert regard.resume(tmp_path / "two", quiet=True) == tmp_path / "two"


def test_every_promised_name_is_there() -> None:
    assert all(callable(getattr(regard, name)) for name in regard.__all__)
    with pytest.raises(AttributeError, match="module 'regard' has no attribute 'trian'"):
        _ = regard.trian
