"""The table of the lectures has every id, and what it names exists."""

import pytest

from regard.lab.claims import names
from regard.lectures import Entry, entries
from regard.recipe import presets
from tests.docs.pages import ROOT

LAST = {"B": 12, "S": 14, "O": 13, "C": 25}
every_entry = pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.id)


def test_every_id_is_there_once_and_in_order() -> None:
    assert [entry.id for entry in entries()] == [
        f"{letter}{n + 1}" for letter, last in LAST.items() for n in range(last)
    ]


@every_entry
def test_what_is_named_exists(entry: Entry) -> None:
    for path in (*entry.file.split(), *entry.test.split()):
        assert (ROOT / path).is_file(), path
    assert set(entry.preset.split()) <= set(presets())
    assert entry.what
    assert entry.text


@every_entry
def test_a_state_is_what_the_row_says(entry: Entry) -> None:
    proven = bool(entry.file and entry.test)
    assert entry.state == ("planned" if not proven else "partly" if entry.missing else "here")
    assert proven or not entry.missing, "what is planned misses everything"


def test_every_experiment_is_named_at_its_claim() -> None:
    named = {entry.id: entry for entry in entries()}
    for name in names():
        assert f"src/regard/lab/claims/c{int(name[1:]):02d}.py" in named[name].file.split()
        assert f"tests/lab/test_verdict_c{int(name[1:]):02d}.py" in named[name].test.split()


def test_every_preset_belongs_to_a_system() -> None:
    named = {name for entry in entries() if entry.id.startswith("S") for name in entry.preset.split()}
    assert named == set(presets())
