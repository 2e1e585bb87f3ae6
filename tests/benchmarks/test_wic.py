"""The script that measures WiC: words found by their place, a threshold set where it is best, words alone as chance."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import wic

from regard.recipe import Recipe
from tests.evaluate.test_vectors import run
from tests.helpers import lines_file, refused

LINES = [
    "bank\tN\t1-3\ta bank of grass\twe sit on banks here",
    "run\tV\t0-1\trun home\tto run",
    "bank\tN\t2-0\tby the bank\tbank of mine",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in wic.SPLITS:
        (tmp_path / name).mkdir()
        lines_file(tmp_path / name / f"{name}.data.txt", LINES)
        lines_file(tmp_path / name / f"{name}.gold.txt", ["F", "T", "F"])
    return tmp_path


def test_uses_are_found_by_their_place(folder: Path) -> None:
    split = wic.read(folder, "dev")
    assert [use.word for use in split.firsts] == ["bank", "run", "bank"]
    assert [use.word for use in split.seconds] == ["banks", "run", "bank"]
    assert [use.start for use in split.seconds] == [10, 3, 0]
    assert split.same.tolist() == [False, True, False]
    (folder / "dev" / "dev.gold.txt").write_text("F\n")
    with refused("dev.data.txt has 3 lines"):
        wic.read(folder, "dev")
    (folder / "dev" / "dev.gold.txt").unlink()
    with refused("no such file"):
        wic.read(folder, "dev")


def test_the_threshold_is_the_best_there_is() -> None:
    chance = np.random.default_rng(3)
    for _ in range(50):
        values, same = chance.choice([0.1, 0.2, 0.5, 0.9, 1.0], 11), chance.random(11) < 0.5
        found = wic.accuracy(values, same, wic.threshold(values, same))
        assert found == max(wic.accuracy(values, same, least) for least in (0, 0.15, 0.35, 0.7, 0.95, 2))


def test_coordinates_are_made_alike_as_train_says() -> None:
    train = np.random.default_rng(5).normal(3.0, [1.0, 20.0, 0.1, 7.0, 2.0], (2, 11, 5))
    scaled = wic.scaling(train, standard=True)
    np.testing.assert_allclose(scaled(train).mean((0, 1)), 0, atol=1e-12)
    np.testing.assert_allclose(scaled(train).std((0, 1)), 1)
    np.testing.assert_allclose(scaled(train + 1), scaled(train) + 1 / train.std((0, 1)))
    assert np.array_equal(wic.scaling(train, standard=False)(train), train)


def test_a_run_is_measured(folder: Path) -> None:
    splits = {name: wic.read(folder, name) for name in wic.SPLITS}
    found = wic.measure(run("bert"), splits, [0, None])
    tried = found["tried"]
    assert [(row["layer"], row["standard"]) for row in tried] == [(0, False), (0, True), (None, False), (None, True)]
    chosen = next(row for row in tried if (row["layer"], row["standard"]) == (found["layer"], found["standard"]))
    assert found["test"] == chosen["dev"] == max(row["dev"] for row in tried) and found["pairs"]["test"] == 3
    assert found["alone_alike"] == pytest.approx(2 / 3), "bank and banks differ, the others are the same word"


def test_a_table_of_vectors_has_one_for_each_word(folder: Path) -> None:
    values = wic.cosines(wic.vectors(run("word2vec"), wic.read(folder, "test"), None))
    np.testing.assert_allclose(values[1:], 1, atol=1e-6)
    assert values[0] < 0.99999


def test_it_is_a_command(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    mine = replace(run("bert"), recipe=Recipe(system=SimpleNamespace(depth=3)))
    monkeypatch.setattr(wic.regard, "load", lambda path: mine)
    monkeypatch.setattr(sys, "argv", ["wic.py", "mine", str(folder)])
    wic.main()
    found = json.loads(capsys.readouterr().out)
    assert [row["layer"] for row in found["tried"][::2]] == [0, 1, 2, None]
