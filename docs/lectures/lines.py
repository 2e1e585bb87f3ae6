"""The lines that the lecture pages name: a link [`Sight.allow`](../../src/..py#L90) says where that stands.

python docs/lectures/lines.py    writes the lines anew where the source has moved
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PAGES = sorted(Path(__file__).parent.glob("*.md"))
LINK = re.compile(r"\[`(?P<name>[\w.]+)`\]\((?P<file>[^)#\s]+\.py)#L(?P<line>\d+)\)")


def line_of(file: Path, name: str) -> int:
    """Where a function, class, method or constant is defined; a field of a class is one too."""
    body: list[ast.stmt] = ast.parse(file.read_text(encoding="utf-8")).body
    line = 0
    for part in name.split("."):
        found = next((node for node in body if part in defined(node)), None)
        if found is None:
            raise LookupError(f"{file}: no {name}")
        line, body = found.lineno, getattr(found, "body", [])
    return line


def defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    for target in getattr(node, "targets", [getattr(node, "target", None)]):
        if isinstance(target, ast.Name):
            yield target.id


def corrected(page: Path) -> str:
    """The page with the lines as they are now."""

    def link(match: re.Match[str]) -> str:
        return f"[`{match['name']}`]({match['file']}#L{line_of(page.parent / match['file'], match['name'])})"

    return LINK.sub(link, page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(corrected(page), encoding="utf-8")
