"""`regard train FILE --from RUN`: what the file says holds or stops, the rest is as the run has it."""

from pathlib import Path

import pytest

from regard.checkpoint import load as loaded
from regard.checkpoint import read_recipe, weights
from regard.systems.long import Long
from tests.cli.shell import Done, fine, refused
from tests.helpers import lines_file

TRAIN = ("steps = 1", "threads = 1", "rate = 1e-30", 'device = "cpu"')


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BigBird whose blocks are not those of the defaults."""
    made = tmp_path_factory.mktemp("from")
    lines_file(made / "text.txt", ["the dog sees the old cat and the cat sees the dog"] * 30)
    blocks = ('attention = "bigbird"', "block = 8", "near = 2", "random = 1", "dropout = 0.25")
    sizes = ("width = 16", "heads = 2", "depth = 1", "hidden = 16", "context = 80")
    fine("train", recipe(made, "run", *blocks, *sizes), "--out", made / "run", "--quiet")
    return made


def recipe(folder: Path, name: str, *system: str, text: tuple[str, ...] = ('kind = "word"',)) -> str:
    sections = {
        "data": (f'train = "{folder / "text.txt"}"', 'document = "line"'),
        "text": text,
        "system": ('kind = "bert"', *system),
        "objective": ('kind = "masked"',),
        "train": TRAIN,
    }
    lines = [line for section, rows in sections.items() for line in (f"[{section}]", *rows)]
    return lines_file(folder / f"{name}.toml", lines)


def begun(folder: Path, file: str, *words: str) -> tuple[Done, Path]:
    out = folder / f"from-{Path(file).stem}"
    return fine("train", file, "--from", folder / "run", "--out", out, "--force", *words), out


def test_what_the_file_says_of_the_system_holds_and_is_said(folder: Path) -> None:
    done, out = begun(folder, recipe(folder, "full", 'attention = "full"'))
    assert "system.attention = 'bigbird' there and 'full' here: the new one holds" in done.err
    made, old = read_recipe(out).system, read_recipe(folder / "run").system
    assert (made.attention, made.block) == ("full", type(made)().block), "what belonged to BigBird has gone with it"
    assert (made.width, made.dropout, made.context) == (old.width, old.dropout, old.context)
    one, other = (weights(loaded(run).model) for run in (folder / "run", out))
    assert all((one[name] - other[name]).abs().max() < 1e-6 for name in one)


def test_what_the_file_leaves_out_is_as_the_run_has_it(folder: Path) -> None:
    _, out = begun(folder, recipe(folder, "bare"))
    assert read_recipe(out).system == read_recipe(folder / "run").system


def test_what_is_set_by_hand_holds_alike(folder: Path) -> None:
    _, out = begun(folder, recipe(folder, "set"), "--set", "system.attention=full")
    assert read_recipe(out).system.attention == "full"
    _, out = begun(folder, recipe(folder, "both", 'attention = "full"'), "--set", "system.attention=bigbird")
    assert read_recipe(out).system == read_recipe(folder / "run").system


def test_a_file_that_says_nothing_of_the_system_takes_the_run_s(folder: Path) -> None:
    bare = Path(recipe(folder, "none-said"))
    bare.write_text(bare.read_text().replace('[system]\nkind = "bert"\n', ""))
    _, out = begun(folder, str(bare))
    assert read_recipe(out).system == read_recipe(folder / "run").system


def test_what_went_with_another_kind_is_not_said(folder: Path) -> None:
    """The file's settings belong to its own kind, and `--set` takes another."""
    file = Path(recipe(folder, "other-kind", "width = 18"))
    file.write_text(file.read_text().replace('kind = "bert"', 'kind = "transformer"'))
    _, out = begun(folder, str(file), "--set", "system.kind=bert")
    assert read_recipe(out).system == read_recipe(folder / "run").system


def test_a_run_that_would_be_refused_anew_can_be_started_from(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mixes = recipe(
        folder, "mixes", 'attention = "linformer"', "projected = 80", "context = 80", "width = 16", "heads = 2"
    )
    refused("train", mixes, "--out", folder / "mixes", because="take fewer, or system.attention = 'full'")
    with monkeypatch.context() as patch:
        patch.setattr(Long, "makes_sense", lambda self, context: None)
        fine("train", mixes, "--out", folder / "mixes", "--quiet")
    fine("train", recipe(folder, "again"), "--from", folder / "mixes", "--out", folder / "again", "--quiet")
    assert read_recipe(folder / "again").system == read_recipe(folder / "mixes").system


def test_what_cannot_hold_is_refused(folder: Path) -> None:
    asked = ("--from", folder / "run", "--out", folder / "none", "--quiet")
    refused("train", recipe(folder, "wide", "width = 18"), *asked, because="system.width = 16 there and 18 here")
    idle = recipe(folder, "idle", 'attention = "full"', "block = 16")
    refused("train", idle, *asked, because="system.block = 16 changes nothing: system.attention is 'full'")
    chars = recipe(folder, "chars", text=('kind = "char"',))
    because = f"chars.toml: text.kind=char: the tokenizer of {folder / 'run'} is taken, with text.kind = word"
    refused("train", chars, *asked, because=because)
    fine("train", chars, *asked, "--set", "text.kind=word")


def test_the_settings_of_a_preset_step_back(folder: Path) -> None:
    data = ("--set", f"data.train={folder / 'text.txt'}", "--set", "objective.kind=masked", "--set", "train.steps=1")
    fine("train", "bert", "--from", folder / "run", "--out", folder / "preset", "--quiet", *data)
    assert read_recipe(folder / "preset").system == read_recipe(folder / "run").system
