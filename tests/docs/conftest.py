"""A shell in which the commands of a page run."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import Block
from tests.docs.warm import Warm


class Shell:
    """Runs blocks, one after another, in one folder."""

    def __init__(self, path: str, folder: Path):
        self.path, self.folder = path, folder

    def run(self, block: Block) -> None:
        if block.file:
            (self.folder / block.file).write_text(block.text, encoding="utf-8")
        if block.runs:
            self.bash(f"python {block.file}" if block.kind == "python" else block.text, block)

    def bash(self, script: str, block: Block) -> None:
        done = subprocess.run(
            ["bash", "-xeuo", "pipefail", "-c", script],
            cwd=self.folder,
            env={**os.environ, "PATH": self.path, "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
        )
        if done.returncode:
            pytest.fail(f"{block.where}: exit {done.returncode}\n{done.stdout.decode()}", pytrace=False)


@pytest.fixture(scope="session")
def warm() -> Iterator[Path]:
    """The folder with a warm `regard` in it. Its path is short, for a socket's may not be long."""
    with tempfile.TemporaryDirectory() as folder:
        found = Warm(Path(folder))
        yield found.bin
        found.close()


@pytest.fixture
def shell(warm: Path, tmp_path: Path) -> Shell:
    return Shell(f"{warm}:{os.environ['PATH']}", tmp_path)
