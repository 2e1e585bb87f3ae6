"""`--help`: fast, complete, for every command."""

import resource
import statistics
import subprocess
import sys

import pytest

from regard.cli.app import app
from tests.cli.shell import PROGRAM, environment, fine

COMMANDS = [name for name in app if not name.startswith("-")]


def test_help_answers_in_under_half_a_second() -> None:
    """Measured as processor time, which a busy machine does not change."""
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([*PROGRAM, "--help"], capture_output=True, text=True, env=environment(), check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
        assert "Train, run, check and open up" in done.stdout
    assert statistics.median(times) < 0.5


@pytest.mark.parametrize("words", [["--help"], ["train", "--help"], ["--version"], ["generate", "--seed", "x"]])
def test_nothing_heavy_is_imported_before_it_is_needed(words: list[str]) -> None:
    script = (
        "import sys\nfrom regard.cli import run\n"
        f"run({words!r})\n"
        "heavy = {'torch', 'numpy', 'tokenizers', 'safetensors', 'sacrebleu', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr


def test_every_command_is_listed_with_what_it_does() -> None:
    out = fine("--help").out
    assert [name for name in COMMANDS if f"│ {name} " not in out] == []
    assert fine().out == out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_is_for(name: str) -> None:
    out = fine(name, "--help").out
    arguments = app[name].assemble_argument_collection(parse_docstring=True)
    assert arguments
    for argument in arguments:
        if argument.children:  # a group of options, each listed by itself
            continue
        shown = argument.name if argument.name.startswith("-") else argument.name.upper()
        assert shown in out
        assert argument.parameter.help, f"{argument.name} has no help"


def test_the_version_is_printed() -> None:
    from regard import __version__

    assert fine("--version").out == f"{__version__}\n"


def test_what_needs_a_source_is_offered_where_there_is_one() -> None:
    offered = {name: fine(name, "--help").out for name in ("generate", "translate", "evaluate")}
    for option in ("--coverage-penalty", "--replace-unknown"):
        assert [name for name, out in offered.items() if option in out] == ["translate", "evaluate"]
