"""The script that compares ways of looking: equal but for the attention, three seeds in a table, nothing twice."""

import sys
from pathlib import Path

import masked as script
import pytest

from tests.helpers import lines_file, refused

TINY = {
    "text": {"kind": "char"},
    "system": {"kind": "bert", "width": 16, "heads": 2, "depth": 1, "hidden": 16, "context": 160, "segments": 1},
    "objective": {"kind": "masked"},
    "train": {"steps": 2, "batch_tokens": 400, "warmup": 1, "threads": 1},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for split in script.SPLITS:
        lines_file(tmp_path / f"{split}.txt", [f"the cat sat on mat {i} and the dog on mat {i + 1}" for i in range(40)])
    return tmp_path


def test_a_missing_file_is_named(folder: Path) -> None:
    assert set(script.files(folder)) == {"train", "valid", "test"}
    (folder / "valid.txt").unlink()
    with refused(f"no such file: {folder / 'valid.txt'}"):
        script.files(folder)


def test_only_the_attention_differs() -> None:
    full, *others = (script.plan(way, 5, {"steps": 7}) for way in script.WAYS)
    for way, made in zip(list(script.WAYS)[1:], others, strict=True):
        assert {**made, "system": None} == {**full, "system": None}
        assert {name for name, value in made["system"].items() if full["system"].get(name) != value} == set(
            script.WAYS[way]
        )


def test_it_is_a_command_and_measures_nothing_twice(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(script, "SETTINGS", TINY)
    ways = {"full": {}, "linformer": {"attention": "linformer", "projected": 4}}
    monkeypatch.setattr(script, "WAYS", ways | {"bigbird": {"attention": "bigbird", "block": 4}})
    words = ["--seeds", "3", "4", "--out", str(folder / "out"), "--device", "cpu"]
    monkeypatch.setattr(sys, "argv", ["masked.py", str(folder), *words])
    script.main()
    told = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in told.splitlines()[2:]]
    assert [row[0] for row in rows] == ["`full`", "`linformer`", "`bigbird`"]
    assert all("±" in row[1] and row[4] == "2" for row in rows)
    assert len({row[1] for row in rows}) == 3, "they are three systems"
    monkeypatch.setattr(script, "measure", lambda plan, data: pytest.fail("measured again"))
    script.main()
    assert capsys.readouterr().out == told
    lines_file(folder / "test.txt", ["another corpus of the same size"] * 40)
    with pytest.raises(pytest.fail.Exception, match="measured again"):
        script.main()
