"""Every command of every page runs, or, where it takes minutes or wants a GPU, is at least one that exists."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from regard import __version__
from regard.cli.app import app
from regard.recipe import Recipe, read
from tests.docs.conftest import Shell
from tests.docs.pages import MARKS, PAGES, ROOT, Block, blocks, every_page

KINDS = {"sh": ("", *MARKS), "setup": ("",), "text": ("",)}
FILES = {"python": ".py", "toml": ".toml"}
TARGETS = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
LONG = 200  # steps; a training of no more is run, not marked


@every_page
def test_a_page_runs_from_top_to_bottom(page: Path, shell: Shell) -> None:
    for block in blocks(page):
        shell.run(block)


@every_page
def test_every_block_says_what_it_is(page: Path) -> None:
    for block in blocks(page):
        if block.kind in FILES:
            assert not block.mark or block.mark.endswith(FILES[block.kind]), block.where
        else:
            assert block.mark in KINDS.get(block.kind, ()), f"{block.where}: {block.kind} {block.mark}"


MARKED = [
    pytest.param(block, line, id=f"{block.where} {line}")
    for page in PAGES
    for block in blocks(page)
    if block.mark in MARKS
    for line in block.commands
]


@pytest.mark.parametrize(("block", "line"), MARKED)
def test_a_marked_command_exists_and_needs_its_mark(block: Block, line: str) -> None:
    name, *words = shlex.split(line, comments=True)
    if name == "make":
        assert words[0] in TARGETS
        assert block.mark == "minutes"
        return
    assert name == "regard"
    command, bound, _ = app.parse_args(words, exit_on_error=False, print_error=False)
    recipe = made(command.__name__, bound.arguments)
    assert needs(block.mark, command.__name__, words, recipe), f"{line} is run by the tests as it is: take off the mark"


def made(command: str, arguments: dict) -> Recipe | None:
    """The recipe of a training, read as the command would."""
    if command != "train" or arguments["preset"].endswith(".toml"):
        return None
    return read(arguments["preset"], list(arguments.get("set_", ())))


def needs(mark: str, command: str, words: list[str], recipe: Recipe | None) -> bool:
    if mark == "gpu":
        return any("cuda" in word for word in words) or (recipe is not None and recipe.train.steps > 10_000)
    if command == "verify":
        return not {"--skip", "--only"} & set(words)  # compiling takes a minute
    if command == "bench":
        repeats = int(words[words.index("--repeats") + 1]) if "--repeats" in words else 0
        return repeats > 3 or ("length" in words and "--lengths" not in words)  # its own go up to 8,192 tokens
    if command == "compare":
        budget = [float(words[i + 1]) for i, word in enumerate(words) if word.startswith("--budget")]
        return not budget or budget[0] > 1e5  # without one, as long as presets train
    if command == "lab":
        return bool(words)  # the list of claims alone runs nothing
    return command == "demo" or (recipe is not None and recipe.train.steps > LONG)


def test_the_installed_script_is_this_one() -> None:
    script = Path(sys.executable).with_name("regard")
    found = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == __version__
