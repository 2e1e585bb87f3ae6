"""`regard embed`: vectors of texts and words printed and written, and one word in several senses."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import regard
from regard.cli import reading
from regard.cli.embedding import of_texts
from regard.cli.reading import standing
from regard.data import CORPORA
from regard.evaluate.vectors import sentence_vectors, word_vectors
from tests.cli.conftest import Place
from tests.cli.shell import fine, refused, settings
from tests.evaluate.test_vectors import run as letters
from tests.helpers import lines_file

TEXTS = ["the old bank", "we sit on the bank of the river", "a river bank, no money"]
SENSES = ["river\twe sit on the bank", "money\tthe bank lends money", "river\ta river has a bank"]
SMALL = ("train.device=cpu", "train.steps=3", "train.batch_tokens=200", "text.kind=word", "data.document=line")


def texts(*given: str) -> list[str]:
    return [word for text in given for word in ("--text", text)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A contextual model and a static one of the same words."""
    made = tmp_path_factory.mktemp("vectors")
    path = lines_file(
        made / "lines.txt", ["we sit on the old bank of the river", "a bank lends no money , has it ?"] * 40
    )
    data = settings(f"data.train={path}", *SMALL, tiny=False)
    bert = settings("system.width=22", "system.hidden=31", "system.depth=2", "system.heads=2", tiny=False)
    fine("train", "bert", "--out", made / "bert", "--quiet", *data, *bert, "--set", "objective.kind=masked")
    fine("train", "word2vec", "--out", made / "static", "--quiet", *data, "--set", "system.width=13")
    return made


@pytest.fixture(params=["bert", "static", "model", "translator"])
def any_run(folder: Path, place: Place, request: pytest.FixtureRequest) -> Path:
    return {"model": place.model, "translator": place.translator}.get(request.param, folder / request.param)


def test_every_line_in_gives_one_record_out(any_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = fine("embed", any_run, stdin="".join(text + "\n" for text in TEXTS))
    found = [json.loads(line) for line in done.lines]
    wanted = sentence_vectors(regard.load(any_run), TEXTS).numpy()
    assert [each["text"] for each in found] == TEXTS and found[0].keys() == {"text", "vector"}
    np.testing.assert_allclose([each["vector"] for each in found], wanted, atol=1e-5)
    monkeypatch.setattr(reading, "AT_ONCE", 2)
    again = [json.loads(line) for line in fine("embed", any_run, stdin="".join(text + "\n" for text in TEXTS)).lines]
    np.testing.assert_allclose([each["vector"] for each in again], wanted, atol=1e-5)
    assert [each["text"] for each in again] == TEXTS


def test_files(any_run: Path, tmp_path: Path) -> None:
    given = texts(*TEXTS)
    printed = fine("embed", any_run, *given, "--json").json
    table, lines = tmp_path / "a.npy", tmp_path / "a.jsonl"
    for path in (table, lines):
        done = fine("embed", any_run, *given, "--to", path)
        assert done.out == "" and f"wrote 3 texts to {path}" in done.err
    assert [json.loads(line) for line in lines.read_text().splitlines()] == printed
    read = np.load(table)
    assert read.dtype == np.float32 and len(read) == 3
    assert np.array_equal(read, np.array([each["vector"] for each in printed], np.float32))


def test_words(any_run: Path, tmp_path: Path) -> None:
    (found,) = (json.loads(line) for line in fine("embed", any_run, "--words", "--text", TEXTS[2]).lines)
    (wanted,) = word_vectors(regard.load(any_run), [TEXTS[2]])
    assert [each["word"] for each in found["words"]] == ["a", "river", "bank", ",", "no", "money"]
    for each, word in zip(found["words"], wanted, strict=True):
        assert TEXTS[2][each["start"] : each["end"]] == each["word"]
        np.testing.assert_allclose(each["vector"], word.vector, atol=1e-5)
    fine("embed", any_run, "--words", "--text", TEXTS[2], "--to", tmp_path / "w.jsonl")
    assert json.loads((tmp_path / "w.jsonl").read_text())["words"][0]["word"] == "a"


def test_options_reach_the_vectors(folder: Path) -> None:
    def vector(*options: str) -> list[float]:
        return fine("embed", folder / "bert", "--text", TEXTS[0], "--json", *options).json[0]["vector"]

    run = regard.load(folder / "bert")
    for options, how in (
        (("--layer", "0"), {"layer": 0}),
        (("--pool", "first"), {"pool": "first"}),
        (("--pool", "all"), {"pool": "all"}),
        (("--pool", "last", "--normalise"), {"pool": "last", "normalise": True}),
    ):
        np.testing.assert_allclose(vector(*options), sentence_vectors(run, TEXTS[:1], **how)[0], atol=1e-5)
    assert np.linalg.norm(vector("--normalise")) == pytest.approx(1)
    words = fine("embed", folder / "bert", "--text", TEXTS[0], "--words", "--normalise", "--json").json[0]["words"]
    assert all(np.linalg.norm(word["vector"]) == pytest.approx(1) for word in words)


def test_the_settings_of_the_run_hold_and_options_go_before_them(folder: Path, tmp_path: Path) -> None:
    sealed = tmp_path / "sealed"
    shutil.copytree(folder / "bert", sealed)
    config = json.loads((sealed / "config.json").read_text())
    config["embed"] |= {"pool": "all", "normalise": True, "max_tokens": 5}
    (sealed / "config.json").write_text(json.dumps(config))

    def vector(run: Path, *options: str) -> list[float]:
        return fine("embed", run, "--text", TEXTS[0], "--json", *options).json[0]["vector"]

    asked = vector(folder / "bert", "--pool", "all", "--normalise")
    np.testing.assert_allclose(vector(sealed), asked, atol=1e-6)
    np.testing.assert_allclose(vector(sealed, "--pool", "mean", "--no-normalise"), vector(folder / "bert"), atol=1e-6)
    words = fine("embed", sealed, "--text", TEXTS[0], "--words", "--json").json[0]["words"]
    assert np.linalg.norm(words[0]["vector"]) != pytest.approx(1)
    refused("embed", sealed, "--text", TEXTS[1], because="10 tokens and 5 are read (--max-tokens); --truncate reads")
    fine("embed", sealed, "--text", TEXTS[1], "--max-tokens", "10")


def test_of_texts_too_long_the_beginning_is_read_if_asked(folder: Path) -> None:
    options = ("--max-tokens", "5", "--truncate", "--json")
    done = fine("embed", folder / "bert", *texts(*TEXTS), *options)
    assert "2 of 3 texts are too long: their beginning was read alone" in done.err
    whole = fine("embed", folder / "bert", "--text", "we sit on", "--json").json[0]["vector"]
    np.testing.assert_allclose(done.json[1]["vector"], whole, atol=1e-6)
    words = fine("embed", folder / "bert", *texts(TEXTS[1]), "--words", *options).json[0]["words"]
    assert [word["vector"] is None for word in words] == [False] * 3 + [True] * 5
    compare = ("--compare", "bank", "--max-tokens", "9")
    refused("embed", folder / "bert", *texts(TEXTS[1]), *compare, because="9 are read (--max-tokens); --tr")
    fine("embed", folder / "bert", *texts(TEXTS[1]), *compare, "--truncate")


def test_a_text_too_long_is_named_by_where_it_stands(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "AT_ONCE", 1)
    said = "{} 'a river bank, no money' with its start and end has 7 tokens and 6 are read (--max-tokens)"
    refused(
        "embed",
        folder / "bert",
        "--max-tokens",
        "6",
        "--json",
        stdin="the old bank\na river bank, no money\n",
        because=said.format("standard input line 2:"),
    )
    given = texts(TEXTS[0], "we sit on the bank of the river " * 3)
    begun = "--text 'we sit on the bank of the river we sit o…' with its start"
    refused("embed", folder / "bert", *given, "--max-tokens", "6", "--json", because=begun)


def test_what_is_empty_or_unknown_is_told(folder: Path) -> None:
    done = fine("embed", folder / "bert", "--json", stdin="the bank\n\nthe zebra\n")
    assert "1 of 3 texts are empty: their vectors are 0" in done.err
    assert "1 of 4 tokens are unknown to this run: zebra" in done.err
    assert not np.any(done.json[1]["vector"]) and np.any(done.json[2]["vector"])


def test_blanks_alone_are_an_empty_text_where_they_are_tokens_too(capsys: pytest.CaptureFixture) -> None:
    found = of_texts(letters("bert"), ["a", "  "], where=standing((), None))
    assert np.any(found[0]["vector"]) and not np.any(found[1]["vector"])
    assert "1 of 2 texts are empty: their vectors are 0" in capsys.readouterr().err


def test_one_word_in_several_senses(folder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "bank.svg"
    options = ("--compare", "bank", *texts(*SENSES))
    found = fine("embed", folder / "bert", folder / "static", *options, "--json", "--to", picture).json
    assert found["word"] == "bank" and len(found["uses"]) == 3
    assert [use["sense"] for use in found["uses"]] == ["river", "money", "river"]
    contextual, static = found["runs"]
    assert static["separation"] == pytest.approx(0, abs=1e-6) and static["accuracy"] == 0.5
    assert np.allclose(static["cosines"], 1) and not np.allclose(contextual["cosines"], 1)
    assert contextual["separation"] == pytest.approx(contextual["within"] - contextual["between"])
    text = picture.read_text()
    assert "bert" in text and "static" in text and "the bank lends money" in text


def test_the_cosines_are_printed(folder: Path) -> None:
    done = fine("embed", folder / "bert", folder / "static", "--compare", "bank", *texts(*SENSES))
    assert "cosines of “bank” in 3 places" in done.out
    assert done.out.count("river: we sit on the bank") == 2 and done.out.count("separation") == 2
    plain = fine("embed", folder / "bert", "--compare", "bank", *texts(*TEXTS)).out
    assert "separation" not in plain and "a river bank, no money" in plain


def test_many_uses_are_printed_by_sense(folder: Path) -> None:
    done = fine("embed", folder / "bert", "--compare", "bank", *texts(*SENSES * 5))
    assert "we sit on" not in done.out and "sense" in done.out
    lines = {line.split()[0]: line.split() for line in done.lines if line}
    assert lines["river"][1] == "10" and lines["money"][1] == "5" and len(lines["river"]) == 4


def test_without_texts_the_built_in_senses_are_taken(folder: Path) -> None:
    found = fine("embed", folder / "static", "--compare", "bank", "--json").json
    labels = [label for _, label in CORPORA["senses"].source("test") if label.startswith("bank/")]
    assert [f"bank/{use['sense']}" for use in found["uses"]] == labels and len(set(labels)) > 1
    refused("embed", folder / "static", "--compare", "zebra", because="the corpus 'senses' has no word 'zebra'")


def test_mistakes_are_named(folder: Path, place: Place, tmp_path: Path) -> None:
    bert = folder / "bert"
    refused("embed", bert, folder / "static", because="2 runs have vectors that are not alike: give one, or a word")
    refused("embed", bert, "--words", "--pool", "mean", because="--pool makes one vector of a text")
    refused("embed", bert, "--compare", "a", "--words", because="no --words, --pool or --normalise")
    refused("embed", bert, "--to", "a.txt", because="--to a.txt: its name must end in .npy or .jsonl")
    refused("embed", bert, "--words", "--to", "a.npy", because="its name must end in .jsonl")
    refused("embed", bert, "--compare", "a", "--to", "a.npy", because="its name must end in .svg or .png")
    refused("embed", bert, "--text", "a", "--layer", "2", because="no layer 2;*has layers 0 to 1")
    refused("embed", folder / "static", "--text", "a", "--layer", "0", because="has no layers to choose from")
    refused("embed", bert, "--text", "a", "--pool", "max", because="known: mean, first, last")
    refused("embed", place.model, "--text", "a", "--pool", "first", because="knows nothing; take the last")
    refused("embed", bert, "--compare", "bank", "--text", "no money", because="the text 'no money' has no word 'bank'")
