"""The project's pages as the tests read them: what is to be run, where links point, which names are mentioned.

A page is run from top to bottom in one empty folder:

| in the page | what happens |
|---|---|
| a block of `sh` or `python` | it is run |
| a block of `toml NAME` or `python NAME` | it is written to the file NAME, and Python is run |
| a block of `sh minutes` or `sh gpu` | it takes minutes or wants a GPU: it is only read, and must be readable |
| a comment `<!-- setup: ... -->` | shell commands that make the small files which the page speaks of |
| a block of `text` or `toml` | shown, not run |
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md"))

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())

MARKS = ("minutes", "gpu")
BLOCK = re.compile(
    r"^<!-- setup:\n(?P<setup>.*?)^-->$|^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """A piece of a page. `kind` is its language or "setup", `mark` the word after it."""

    where: str
    kind: str
    mark: str
    text: str

    @property
    def runs(self) -> bool:
        return self.kind in ("setup", "python") or (self.kind == "sh" and not self.mark)

    @property
    def file(self) -> str:
        """The file that it is written to, if any."""
        if self.kind == "python":
            return self.mark or ".block.py"
        return self.mark if self.kind == "toml" else ""

    @property
    def commands(self) -> list[str]:
        """One for each line; a line that ends in a backslash goes on."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        where = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}"
        if match["setup"] is not None:
            yield Block(where, "setup", "", match["setup"])
        else:
            kind, _, mark = match["info"].partition(" ")
            yield Block(where, kind, mark, match["text"])


def prose(page: Path) -> str:
    """The page without its blocks."""
    return BLOCK.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """What `#...` may name in a page: its headings, in small letters, joined by hyphens; in a source its lines."""
    if page.suffix == ".py":
        return {f"L{line + 1}" for line in range(len(page.read_text(encoding="utf-8").splitlines()))}
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def cells(page: Path) -> list[list[str]]:
    """The rows of all tables of a page, without backticks."""
    lines = [line for line in prose(page).splitlines() if line.startswith("|") and not line.startswith("|---")]
    return [[cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
