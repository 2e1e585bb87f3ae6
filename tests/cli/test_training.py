"""`regard train` and `regard resume` on any user's files."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Place, pairs
from tests.cli.shell import fine, quoted, settings, untouched
from tests.helpers import lines_file

SHORT = ("train.steps=3", "train.batch_tokens=400")


def trained(folder: Path, *data: str) -> Path:
    """A translator trained for a moment on parallel files."""
    fine("train", "transformer-tiny", "--out", folder, "--quiet", *settings(*data, *SHORT))
    return folder


def report(folder: Path) -> dict:
    return json.loads((folder / "report.json").read_text())["data"]


def test_a_translator_comes_from_two_files_and_says_where_it_is(here: Place, tmp_path: Path) -> None:
    """The paths are those of the user's own folder; results go to stdout, everything else to stderr."""
    data = ('data.train=["a.en","a.de"]', 'data.valid=["v.en","v.de"]')
    done = fine("train", "transformer-tiny", "--out", tmp_path / "run", *settings(*data, *SHORT))
    assert done.out == f"{tmp_path / 'run'}\n"
    assert "reading 300 train, 20 valid records" in done.err
    assert "validation loss" in done.err
    assert f"regard evaluate {tmp_path / 'run'}" in done.err
    assert report(tmp_path / "run")["splits"].keys() == {"train", "valid"}


def test_absolute_paths_are_as_good(place: Place, tmp_path: Path) -> None:
    folder = trained(tmp_path / "run", f"data.train={quoted(*place.pair('a'))}")
    assert json.loads((folder / "config.json").read_text())["data"]["train"] == list(map(str, place.pair("a")))


def test_without_validation_files_some_lines_are_held_out(tmp_path: Path) -> None:
    folder = trained(tmp_path / "run", f"data.train={quoted(*pairs(tmp_path, 'few', 40))}")
    found = report(folder)
    assert {split: counts["records"] for split, counts in found["splits"].items()} == {
        "train": 36,
        "valid": 2,
        "test": 2,
    }
    assert len(found["decided"]) == 2


def test_empty_lines_are_counted_and_left_out(tmp_path: Path) -> None:
    english, german = pairs(tmp_path, "gaps", 40)
    lines = Path(english).read_text().splitlines()
    lines_file(Path(english), ["" if i % 10 == 3 else line for i, line in enumerate(lines)])
    counts = report(trained(tmp_path / "run", f"data.train={quoted(english, german)}"))["splits"]["train"]
    assert (counts["records"], counts["kept"], counts["empty"]) == (36, 32, 4)


def test_lines_longer_than_the_context_are_counted_and_left_out(tmp_path: Path) -> None:
    english, german = pairs(tmp_path, "long", 40)
    for path in map(Path, (english, german)):
        lines_file(path, ["the " * 3000, *path.read_text().splitlines()[1:]])
    counts = report(trained(tmp_path / "run", f"data.train={quoted(english, german)}"))["splits"]["train"]
    assert (counts["kept"], counts["dropped"], counts["longest"]) == (35, 1, 3001)


@pytest.mark.parametrize("kind", ["word", "char", "byte", "bpe", "byte-bpe"])
def test_any_script_is_text(tmp_path: Path, kind: str) -> None:
    english = lines_file(tmp_path / "x.en", [f"日本 {i} 🙂 naïve" for i in range(40)])
    russian = lines_file(tmp_path / "x.ru", [f"Где {i} 🙂 ёлка" for i in range(40)])
    folder = trained(tmp_path / "run", f"data.train={quoted(english, russian)}", f"text.kind={kind}")
    done = fine("translate", folder, "--max-tokens", "5", stdin="日本 3 🙂\n")
    assert len(done.lines) == 1


def test_line_ends_of_windows_are_no_part_of_the_words(tmp_path: Path) -> None:
    files = [Path(path) for path in pairs(tmp_path, "crlf", 40)]
    for path in files:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    tokenizer = json.loads((trained(tmp_path / "run", f"data.train={quoted(*files)}") / "tokenizer.json").read_text())
    assert {"cat", "Katze"} <= tokenizer["model"]["vocab"].keys()
    assert not [token for token in tokenizer["model"]["vocab"] if "\r" in token]


def test_a_bare_word_is_a_path(here: Place, tmp_path: Path) -> None:
    fine("train", "gpt", "--set", "data.train=play.txt", "--out", tmp_path / "run", "--quiet", *settings(*SHORT))
    assert json.loads((tmp_path / "run/config.json").read_text())["data"]["train"] == str(here.play)


def test_a_run_finds_its_data_from_any_folder(here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fine("train", "gpt", "--set", "data.train=play.txt", "--out", tmp_path / "run", "--quiet", *settings(*SHORT))
    there = fine("evaluate", tmp_path / "run", "--json").json["loss"]
    monkeypatch.chdir(tmp_path)
    assert fine("evaluate", "run", "--json").json["loss"] == there


def test_a_recipe_may_be_a_file_of_the_users_own(place: Place, tmp_path: Path) -> None:
    recipe = tmp_path / "mine.toml"
    recipe.write_text(
        f'[data]\ntrain = "{place.play}"\n[text]\nkind = "char"\n'
        '[system]\nkind = "gpt"\nwidth = 16\nheads = 2\ndepth = 1\n[objective]\nkind = "next-token"\n'
        '[train]\nsteps = 2\ndevice = "cpu"\n'
    )
    assert fine("train", recipe, "--out", tmp_path / "run", "--quiet").out == f"{tmp_path / 'run'}\n"


def test_without_a_name_a_run_gets_one_that_is_free(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ("train", "gpt", "--quiet", *settings(f"data.train={place.play}", *SHORT))
    assert [fine(*command).out for _ in range(3)] == ["runs/gpt\n", "runs/gpt-2\n", "runs/gpt-3\n"]


def test_quiet_says_nothing_at_all(place: Place, tmp_path: Path) -> None:
    command = ("train", "gpt", "--quiet", "--out", tmp_path / "run", *settings(f"data.train={place.play}", *SHORT))
    assert fine(*command).err == ""
    assert fine("resume", tmp_path / "run", "--quiet").err == ""


def test_json_is_all_there_is_on_stdout(place: Place, tmp_path: Path) -> None:
    done = fine("train", "gpt", "--json", "--out", tmp_path / "run", *settings(f"data.train={place.play}", *SHORT))
    assert done.json["run"] == str(tmp_path / "run")
    assert done.json["steps"] == 3
    assert done.json["tokens_per_second"] > 0
    assert {"seconds", "flops", "peak_memory_bytes", "best_valid_loss"} <= done.json.keys()


def test_a_run_is_overwritten_only_by_force(place: Place, tmp_path: Path) -> None:
    command = ("train", "gpt", "--quiet", "--out", tmp_path / "run", *settings(f"data.train={place.play}", *SHORT))
    fine(*command)
    fine(*command, "--set", "train.steps=4", "--force")
    assert fine("resume", tmp_path / "run", "--json", "--quiet").json["steps"] == 4


def test_resuming_what_is_finished_says_so(place: Place) -> None:
    with untouched(place.model):
        done = fine("resume", place.model)
    assert done.out == f"{place.model}\n"
    assert f"{place.model} is finished: 150 steps" in done.err


def test_tensorboard_gets_events_too(place: Place, tmp_path: Path) -> None:
    data = settings(f"data.train={place.play}", *SHORT)
    fine("train", "gpt", "--tensorboard", "--quiet", "--out", tmp_path / "run", *data)
    assert list((tmp_path / "run/tensorboard").glob("events.*"))
