"""Commands that look inside: JSON is all there is on stdout, and the text for people says the same."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Place
from tests.cli.shell import fine, regard, settings

QUICK = ("cached = full", "padding inert", "packed = unpacked")


def test_every_preset_is_listed() -> None:
    table = fine("systems", "--json").json
    names = [row["preset"] for row in table]
    assert {"transformer-tiny", "gpt", "llama", "transformer-base"} <= set(names)
    assert all(row["parameters"] > 0 and row["task"] and row["family"] and row["about"] for row in table)
    lines = fine("systems").lines
    assert [name for name in names if sum(line.split()[:1] == [name] for line in lines) != 1] == []


def test_every_item_of_the_lectures_is_listed() -> None:
    table = fine("lectures", "--json").json
    assert {"id", "what", "state", "file", "preset", "test"} <= table[0].keys()
    lines = fine("lectures").lines
    assert [row["id"] for row in table if not any(line.split()[:1] == [row["id"]] for line in lines)] == []


def test_the_certificate_is_json_or_lines(place: Place) -> None:
    found = fine("verify", place.model, "--only", *QUICK, "--json").json
    assert found["passed"] is True
    assert [line["name"] for line in found["lines"]] == list(QUICK)
    done = fine("verify", place.model, "--only", *QUICK)
    assert [line[:5] for line in done.lines] == ["holds"] * 3
    assert done.err == "every line holds\n"


def test_a_line_that_does_not_apply_says_why(place: Place) -> None:
    (line,) = fine("verify", place.translator, "--only", "packed = unpacked").lines
    assert "does not apply: " in line


def test_a_certificate_with_a_line_that_fails_exits_1(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.verify import certificate
    from regard.verify.check import Finding

    failure = Finding([3], difference=0.5, tolerance=0.1, where="row 2")
    monkeypatch.setitem(certificate.LINES, "cached = full", lambda run, inputs: failure)
    done = regard("verify", place.model, "--only", "cached = full")
    assert done.code == 1
    assert done.lines[0].startswith("FAILS  cached = full")
    assert "row 2" in done.lines[1]
    assert regard("verify", place.model, "--only", "cached = full", "--json").json["passed"] is False


@pytest.mark.parametrize("way", [("--to", "json"), ()], ids=["asked for", "by default"])
def test_what_a_language_model_looks_at_is_json(place: Place, way: tuple[str, ...]) -> None:
    found = fine("explain", place.model, "--text", "ROMEO: love", *way).json
    assert found["target"]["text"] == "ROMEO: love"
    assert found["source"] is None


def test_a_translator_explains_its_own_translation(place: Place) -> None:
    done = fine("explain", place.translator, "--source", "the old cat sees the big dog", "--to", "json")
    assert done.json["target"]["text"] == "die alte Katze sieht die große Hündin"
    assert done.err == "target, as the model translates: die alte Katze sieht die große Hündin\n"
    done = fine("explain", place.translator, "--source", "the cat", "--target", "die Katze", "--to", "json")
    assert done.json["target"]["text"] == "die Katze"
    assert done.err == ""


def test_pictures_and_pages_are_written_where_asked(place: Place, tmp_path: Path) -> None:
    files = [tmp_path / f"seen.{kind}" for kind in ("svg", "png", "html", "json")]
    done = fine("explain", place.model, "--text", "love", "--to", *files)
    assert done.out == ""
    assert done.err.splitlines() == [f"wrote {file}" for file in files]
    assert files[0].read_text().startswith("<?xml")
    assert files[1].read_bytes().startswith(b"\x89PNG")
    assert "<html" in files[2].read_text()
    assert json.loads(files[3].read_text())["target"]["text"] == "love"


def test_a_picture_of_one_head(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "head.svg"
    fine("explain", place.model, "--text", "love", "--layer", "0", "--head", "1", "--to", file)
    picture = file.read_text()
    assert "layer 0, head 1" in picture
    assert "layer 0, head 0" not in picture


def test_the_five_steps_are_walked_through_for_the_word_asked_for(place: Place) -> None:
    done = fine("explain", place.translator, "--source", "the old cat", "--steps", "--word", "old", "--head", "1")
    assert done.lines[0].startswith("What 'old' looks at in head 1 of")
    assert [f"Step {n}" for n in range(1, 6)] == [line[:6] for line in done.lines if line.startswith("Step ")]
    last = fine("explain", place.model, "--text", "love is", "--steps").lines[0]
    assert last.startswith("What 'is' looks at in head 0 of")


def test_training_steps_and_decoding_are_timed(place: Place) -> None:
    small = settings(f"data.train={place.play}", "train.batch_tokens=200")
    (row,) = fine("bench", "step", "--systems", "gpt", "--repeats", "2", "--json", *small).json
    assert row["preset"] == "gpt"
    assert row["slowest"] <= row["tokens_per_second"] <= row["fastest"]
    (row,) = fine("bench", "decode", "--systems", "gpt", "--repeats", "1", "--json", *small).json
    assert row["cached_tokens_per_second"] > 0
    (row,) = fine("bench", "reading", "--systems", "gpt", "--repeats", "2", "--json", *small).json
    assert row["gain_64"] > 1, "64 tokens at once are read faster than one after another"
    assert "tokens per second" in fine("bench", "step", "--systems", "gpt", "--repeats", "1", *small).out


def test_a_table_that_is_not_for_a_terminal_has_one_line_for_each_row() -> None:
    table = fine("lectures").lines
    rows = fine("lectures", "--json").json
    missing = sum(bool(row.get("missing")) for row in rows)
    assert len(table) == 2 + len(rows) + missing
    assert all(line == line.rstrip() for line in table)
