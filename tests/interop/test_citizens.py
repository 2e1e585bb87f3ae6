"""An imported model is a run like others: it is certified, measured, explained, and trained on."""

from pathlib import Path

import pytest

from regard.checkpoint import load
from tests.cli.shell import fine
from tests.interop.cases import CASES

KINDS = ("gpt2", "llama", "t5", "marian", "bart", "bert", "roberta", "distilbert")
USES = {"next-token": "generate", "translation": "translate", "spans": "fill", "masked": "fill"}
TEXT = "The boy is eating an apple."


@pytest.fixture(scope="module", params=KINDS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("citizen")
    CASES[request.param].write(folder / "there")
    fine("import", folder / "there", "--out", folder / "run")
    return folder / "run"


def test_every_line_of_the_certificate_holds(run: Path) -> None:
    done = fine("verify", run, "--skip", "compiled = eager", "--json")
    states = {line["name"]: line["state"] for line in done.json["lines"]}
    assert states["fast = readable attention"] == states["batch = single"] == states["saved = loaded"] == "holds"
    assert "fails" not in states.values()


def test_it_is_used_measured_and_explained(run: Path, tmp_path: Path) -> None:
    kind = load(run).recipe.to_dict()["objective"]["kind"]
    two = kind in ("translation", "spans")
    texts = tmp_path / ("pairs.tsv" if kind == "translation" else "texts.txt")
    texts.write_text((f"{TEXT}\t{TEXT}\n" if kind == "translation" else f"{TEXT}\n") * 9)
    hidden = TEXT.replace("apple", "<mask>") if USES[kind] == "fill" else TEXT
    fine(USES[kind], run, "--prompt" if kind == "next-token" else "--text", hidden)
    assert fine("evaluate", run, "--data", texts, "--json").json["loss"] > 0
    said = ("--source", TEXT, "--target", TEXT) if two else ("--text", TEXT)
    fine("explain", run, *said, "--to", tmp_path / "seen.svg")
    assert (tmp_path / "seen.svg").read_text().startswith("<?xml")
    assert len(fine("embed", run, "--text", TEXT, "--json").json[0]["vector"]) == load(run).model.width


def test_it_is_trained_on(run: Path, tmp_path: Path) -> None:
    tree = load(run).recipe.to_dict()
    pairs = tree["objective"]["kind"] == "translation"
    (tmp_path / "texts.tsv").write_text((f"{TEXT}\t{TEXT}\n" if pairs else f"{TEXT}\n") * 30)
    preset = {"next-token": "gpt", "translation": "transformer-tiny", "spans": "t5", "masked": "bert"}
    if tree["system"]["kind"] == "t5":
        preset["translation"] = "t5"
    kind = tree["objective"]["kind"]
    settings = {"data.train": f'"{tmp_path / "texts.tsv"}"', "objective.kind": kind, "train.steps": 2}
    told = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    fine("train", preset[kind], "--from", run, "--out", tmp_path / "tuned", "--quiet", *told)
    tuned = load(tmp_path / "tuned")
    assert tuned.recipe.to_dict()["system"] == tree["system"]
    assert tuned.tokenizer.fingerprint == load(run).tokenizer.fingerprint
