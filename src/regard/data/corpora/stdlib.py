"""`stdlib`: the source of Python's own standard library, for language modelling. One file is one document."""

import sysconfig
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from regard.data.corpora.corpus import Corpus
from regard.data.sources import Record

LARGEST = 200_000  # bytes; a few tables of codes are left out


def modules(split: str) -> Iterator[Record]:
    """A file's name decides its split: one in twenty is for validation, one in twenty for the test."""
    root = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.glob("*.py")) + sorted(root.glob("[a-z]*/*.py")):
        parts = path.relative_to(root).parts
        if parts[0] in ("test", "idlelib", "lib2to3", "site-packages", "turtledemo") or path.stat().st_size > LARGEST:
            continue
        residue = crc32("/".join(parts).encode()) % 20
        if split != {0: "valid", 1: "test"}.get(residue, "train"):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if text.strip():
            yield (text,)


STDLIB = Corpus("stdlib", ("text",), modules)
