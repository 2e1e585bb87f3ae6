"""What a measurement depends on: all that its function reaches, and nothing that only tells."""

from pathlib import Path

import pytest

from regard.lab.claims.reach import everything, reached

MODULE = '''"""About."""

import math
from beside import helper as other, words

LIMIT = 3
LOUD: int = 4


def measure(trial, words=()):
    """Measure."""
    from elsewhere import far  # late

    LOUD = far(words)
    return [inner(n) for n in range(LIMIT)] + LOUD


@math.marked
def inner(n):
    return other(n) + Kept.one


class Kept:
    one = 1


def shadowed(told):
    # a comment
    return told


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
        "def measure(trial, words=()):",
        "@math.marked",
        "def inner(n):",
        "class Kept:",
    ]
    assert taken == {"beside": {"helper"}, "elsewhere": {"far"}}


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
        ('"""Measure."""', '"""Count."""', False),
        ("  # late", "", False),
        ("import far", "import further", True),
    ],
)
def test_another_measurement_is_another_text(module: Path, old: str, new: str, other: bool) -> None:
    before = reached(module, "measure")
    module.write_text(MODULE.replace(old, new))
    assert (reached(module, "measure") != before) == other


def test_names_of_a_function_itself_lead_nowhere_else(module: Path) -> None:
    text, _ = reached(module, "shadowed")
    assert text == "def shadowed(told):\n    return told"


def test_a_name_in_a_comprehension_hides_none_outside_it(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("n = 1\n\ndef measure():\n    return [n for n in (1, 2)] + [n]\n")
    assert reached(file, "measure")[0].startswith("n = 1")


def test_what_is_taken_from_other_modules_is_followed_through_all_of_them(tmp_path: Path) -> None:
    texts = {
        "first": "from second import one\n\ndef measure():\n    return one()\n",
        "second": "from third import far\nfrom outside import deep\n\ndef one():\n    return far + deep\n\nOTHER = 1\n",
        "third": "from second import one\n\nfar = [one]\n",
    }
    files = {name: tmp_path / f"{name}.py" for name in texts}
    for name, text in texts.items():
        files[name].write_text(text)
    wanted = {"first": {"measure"}}
    before = everything(wanted, files)
    assert "OTHER" not in before
    for name, old, new, other in (("third", "[one]", "[one, 2]", True), ("second", "OTHER = 1", "OTHER = 2", False)):
        files[name].write_text(texts[name].replace(old, new))
        assert (everything(wanted, files) != before) == other
        files[name].write_text(texts[name])


def test_what_an_argument_is_without_another_is_looked_up_outside(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("N = 3\nM = 4\n\n\ndef measure(trial, N=N, *, way=lambda N=M: N):\n    return N, way\n")
    text, _ = reached(file, "measure")
    assert text.splitlines()[:2] == ["N = 3", "M = 4"]
