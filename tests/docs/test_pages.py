"""What the pages point to is there, and what there is stands in the pages."""

import ast
import re
from dataclasses import fields
from itertools import islice
from pathlib import Path

import pytest

from regard.cli.app import app
from regard.data import CORPORA
from regard.decode.settings import Decode
from regard.recipe import presets
from regard.verify import LINES
from tests.docs.pages import PAGES, ROOT, anchors, blocks, cells, every_page, prose

LINK = re.compile(r"\]\(([^)\s]+)\)|src(?:set)?=\"([^\"]+)\"")
NAMED = re.compile(
    r"`((?:src|tests|docs|attention|blocks|systems|text|data|objectives|train|decode|evaluate|interop|explain|verify|lab|cli)/[\w/.-]*)(?:::(\w+))?`"
)


@every_page
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for match in LINK.finditer(prose(page)):
        path, _, anchor = (match[1] or match[2]).partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: no {path}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {target.name} has no heading #{anchor}"


@every_page
def test_files_and_tests_that_are_named_exist(page: Path) -> None:
    for path, test in NAMED.findall(prose(page)):
        file = ROOT / path if path.startswith(("src/", "tests/", "docs/")) else ROOT / "src" / "regard" / path
        assert file.exists(), f"{page.name}: no {path}"
        assert not test or test in functions(file), f"{page.name}: {path} has no {test}"


def test_the_sentence_that_pages_translate_is_known_to_the_smallest_of_their_runs() -> None:
    """The first 60 pairs of `road`, cut into words."""
    pairs = list(islice(CORPORA["road"].make("train"), 60))
    for side, option in enumerate(("source", "target")):
        known = {word for pair in pairs for word in pair[side].split()}
        told = {text for page in PAGES for text in re.findall(rf'--{option} "((?:The|Der) [^"]*)"', page.read_text())}
        assert told and all(set(text.split()) <= known for text in told)


def functions(file: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef)}


@every_page
def test_a_page_points_nowhere_else(page: Path) -> None:
    """No address that may die, no path of one machine, lines that fit a screen."""
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"https?://\S+|/home/\S+|/root\S*|/tmp\S*|/work\S*", text)
    long = [line for line in text.splitlines() if len(line) > 120 and not line.startswith("|")]
    assert not long


def test_the_tree_of_the_readme_is_the_tree_of_the_source() -> None:
    tree = next(block.text for block in blocks(ROOT / "README.md") if "src/regard/" in block.text)
    folders, named = [ROOT], set()
    for line in tree.splitlines():
        indent, name = len(line) - len(line.lstrip()), line.split()[0]
        folders = folders[: indent // 2 + 1]
        found = [folders[-1] / name] if name.endswith("/") else sorted(folders[-1].glob(name))
        assert found and all(path.exists() for path in found), f"README.md: the tree has {name}, the source does not"
        named.update(found)
        if name.endswith("/"):
            folders += found
    source = ROOT / "src" / "regard"
    there = {path for path in source.rglob("*.py") if path.name != "__init__.py"}
    missing = sorted(str(path.relative_to(source)) for path in there - named)
    assert not missing, "README.md: the tree lacks these files"


def test_the_readme_shows_every_command() -> None:
    shown = "\n".join(block.text for block in blocks(ROOT / "README.md") if block.kind == "sh")
    for name in app:
        if not name.startswith("-") and name != "demo":  # `make demo` runs it
            assert f"regard {name}" in shown, f"README.md: no example of 'regard {name}'"


def test_the_certificate_page_explains_every_line() -> None:
    explained = {row[0] for row in cells(ROOT / "docs" / "certificate.md")}
    assert set(LINES) <= explained


def test_the_decoding_page_explains_every_option() -> None:
    page = prose(ROOT / "docs" / "decoding.md")
    for field in fields(Decode):
        assert f"`--{field.name.replace('_', '-')}`" in page, field.name


@pytest.mark.parametrize("name", presets())
def test_a_preset_begins_with_a_line_about_itself(name: str) -> None:
    text = (ROOT / "src" / "regard" / "presets" / f"{name}.toml").read_text()
    assert re.match(r"# .{20,}\n\[data\]\n", text)


@pytest.mark.parametrize("picture", sorted((ROOT / "docs" / "pictures").iterdir()), ids=lambda path: path.name)
def test_a_picture_is_small_complete_and_on_paper_of_its_own(picture: Path) -> None:
    """It opens at once, needs nothing from elsewhere and can be read on a dark page."""
    text = picture.read_text(encoding="utf-8")
    assert len(text) < 150_000
    assert "#ffffff" in text[:2500], "no background"
    assert not re.findall(r"(?:href|src)=\"(?!#)", text)
    assert any(picture.name in page.read_text(encoding="utf-8") for page in PAGES), "shown nowhere"


def test_the_licence_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text()
    for part in ("Apache License", "TERMS AND CONDITIONS FOR USE", "END OF TERMS AND CONDITIONS", "APPENDIX"):
        assert part in text


def test_the_changelog_has_this_version() -> None:
    from regard import __version__

    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()
