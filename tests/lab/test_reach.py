"""What a measurement depends on: all that its function reaches, and nothing that only tells."""

from pathlib import Path

import pytest

from regard.lab.claims.reach import reached

MODULE = '''"""About."""

import math
from beside import helper as other, words

LIMIT = 3
LOUD: int = 4


def measure(trial):
    return [inner(n) for n in range(LIMIT)]


@math.marked
def inner(n):
    return other(n) + Kept.one


class Kept:
    one = 1


def told(of):
    return words(LOUD, [measure for n in of])


EXPERIMENT = dict(tells=lambda of: [n for n in told(of)], measure=measure)
'''


@pytest.fixture
def module(tmp_path: Path) -> Path:
    file = tmp_path / "module.py"
    file.write_text(MODULE)
    return file


def test_what_is_reached_is_kept_in_order_and_what_tells_is_not(module: Path) -> None:
    text, taken = reached(module, "measure")
    assert [line for line in text.splitlines() if not line.startswith(" ")] == [
        "import math",
        "from beside import helper as other, words",
        "LIMIT = 3",
        "def measure(trial):",
        "@math.marked",
        "def inner(n):",
        "class Kept:",
    ]
    assert taken == {"beside": ["helper"]}


@pytest.mark.parametrize(
    "old, new, other",
    [
        ("LIMIT = 3", "LIMIT = 4", True),
        ("one = 1", "one = 2", True),
        ("@math.marked", "@math.other", True),
        ("helper as other", "words as other", True),
        ("LOUD: int = 4", "LOUD: int = 5", False),
        ("return words(", "return str(", False),
        ("of: [n for", "of: [2 * n for", False),
        ('"""About."""', '"""Around."""', False),
    ],
)
def test_another_measurement_is_another_text(module: Path, old: str, new: str, other: bool) -> None:
    before = reached(module, "measure")
    module.write_text(MODULE.replace(old, new))
    assert (reached(module, "measure") != before) == other
