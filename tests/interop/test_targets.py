"""Marian cuts sources and targets by two models of SentencePiece: a run of it does too, wherever a target is read."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from regard.checkpoint import TOKENIZER, Run, load, read_tokenizer
from regard.data.prepare import stores
from regard.explain import trace
from regard.interop import export_model, import_model
from regard.interop.checking import compare
from regard.interop.families import FAMILIES
from regard.interop.files.hugging_face import Folder
from regard.interop.tokens import read
from regard.recipe import Recipe
from regard.text import Tokenizer
from regard.train import resume, train
from regard.verify import inputs
from tests.cli.shell import fine
from tests.helpers import refused
from tests.interop.cases import CASES
from tests.interop.test_translators import cutter
from tests.interop.translators import GERMAN, spm, two_models
from tests.train.runs import listen

SOURCE, TARGET = "The boy was too tired.", "Ein Huhn war zu müde."
TEXTS = (
    *(TARGET, "Ein Junge isst", ">>deu<< Ein Apfel", "  das  Huhn ", "the chicken didn't", "ß w", "weil: the café"),
    *("東京 und Zürich", "zu too", "b oy", ""),
)
WAYS: dict[str, dict[str, Any]] = {
    "alike": {},
    "byte pairs": {"model_type": "bpe", "vocab_size": 70},
    "no blank first": {"normalization_rule_name": "identity", "add_dummy_prefix": False},
    "blanks as they are": {"normalization_rule_name": "identity", "remove_extra_whitespaces": False},
}


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, nn.Module]:
    """A folder of Marian's, and the model in it."""
    folder = tmp_path_factory.mktemp("targets") / "there"
    return folder, CASES["marian"].write(folder)


@pytest.fixture(scope="module")
def run(there: tuple[Path, nn.Module], tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("targets") / "run"
    found = import_model(there[0], out, check=True)
    assert found.compared is not None and found.compared.passed
    assert not any("target" in remark for remark in found.about["remarks"])
    return load(out)


def tokenizer_of(folder: Path, rows: int) -> Tokenizer:
    return read(Folder(folder), FAMILIES["marian"].symbols, {"decoder_start_token_id": 2}, rows)[0]


@pytest.mark.parametrize("without", ["", "er"])
@pytest.mark.parametrize("way", WAYS)
def test_both_sides_are_cut_as_there(way: str, without: str, tmp_path: Path) -> None:
    """Whatever the second model is, and if one of its pieces has no number."""
    two_models(tmp_path)
    pieces = spm(tmp_path / "target.spm", GERMAN, **WAYS[way])
    numbers = json.loads((tmp_path / "vocab.json").read_text())
    assert not without or without in pieces
    kept = [name for name in dict.fromkeys([*numbers, *pieces[3:]]) if not without or name != without]
    (tmp_path / "vocab.json").write_text(json.dumps({name: number for number, name in enumerate(kept)}))
    tokenizer, theirs = tokenizer_of(tmp_path, len(kept)), cutter_of(tmp_path)
    assert tokenizer.encode(SOURCE) == theirs(SOURCE, add_special_tokens=False)["input_ids"]
    for text in TEXTS:
        ids = theirs(text_target=text, add_special_tokens=False)["input_ids"]
        assert tokenizer.target.encode(text) == tokenizer.of("target").encode_batch([text])[0] == ids, text
        known = [i for i in ids if i != 1]
        assert tokenizer.target.decode(known).strip() == theirs.decode(known).strip()
    assert tokenizer.encode(TARGET) != tokenizer.target.encode(TARGET)
    assert tokenizer.of("source") is tokenizer is not tokenizer.target is tokenizer.target.target


def cutter_of(folder: Path) -> Any:
    (folder / "config.json").write_text(json.dumps({"model_type": "marian"}))
    return cutter(folder)


def log_probability(there: tuple[Path, nn.Module]) -> tuple[float, int]:
    """Of the target, as that library says it; and of how many tokens."""
    folder, model = there
    given = cutter(folder)(SOURCE, text_target=TARGET, return_tensors="pt")
    with torch.no_grad():
        loss = model(**given).loss
    return -float(loss) * given["labels"].numel(), given["labels"].numel()


def test_a_given_translation_is_scored_as_there(run: Run, there: tuple[Path, nn.Module], tmp_path: Path) -> None:
    wanted, count = log_probability(there)
    (scored,) = fine("score", run.path, "--source", SOURCE, "--text", TARGET, "--json").json
    assert len(scored["tokens"]) == count and scored["log_probability"] == pytest.approx(wanted, rel=1e-4)
    assert "".join(each["token"] for each in scored["tokens"][:-1]).replace("▁", " ").strip() == TARGET
    (tmp_path / "pairs.tsv").write_text(f"{SOURCE}\t{TARGET}\n" * 3)
    measured = fine("evaluate", run.path, "--data", tmp_path / "pairs.tsv", "--json").json
    assert measured["tokens"] == 3 * count and measured["unknown"] == 0
    assert measured["loss"] == pytest.approx(-wanted / count, rel=1e-4)


def test_a_target_is_explained_and_certified_as_it_is_cut(run: Run) -> None:
    seen = trace(run, source=SOURCE, target=TARGET)
    assert [token.id for token in seen.target.tokens[1:]] == run.tokenizer.target.encode(TARGET)
    assert [token.id for token in seen.source.tokens[:-1]] == run.tokenizer.encode(SOURCE)
    assert seen.log_probability.sum() == pytest.approx(
        fine("score", run.path, "--source", SOURCE, "--text", TARGET, "--json").json[0]["log_probability"], rel=1e-4
    )
    sources, targets = inputs.sentences(run)
    assert any(a.tolist() != b.tolist() for a, b in zip(sources, targets, strict=True))


def test_what_starts_from_it_goes_on_or_is_copied_cuts_the_same(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Lost(BaseException):
        """Nothing catches it."""

    def lose(event: dict) -> None:
        if event["step"] == 2:
            raise Lost

    (tmp_path / "pairs.tsv").write_text(f"{SOURCE}\t{TARGET}\n" * 30)
    tree = run.recipe.to_dict() | {"data": {"train": str(tmp_path / "pairs.tsv")}}
    tree |= {"train": {"steps": 4, "log_every": 1, "save_every": 1, "batch_tokens": 90, "device": "cpu"}}
    with monkeypatch.context() as patch:
        listen(patch, lose)
        with pytest.raises(Lost):
            train(Recipe.parse(tree, where="tuned"), tmp_path / "tuned", start_from=run.path, quiet=True)
    resume(tmp_path / "tuned", quiet=True)
    shutil.copytree(tmp_path / "tuned", tmp_path / "copy")
    tuned = load(tmp_path / "copy")
    assert tuned.tokenizer.fingerprint == run.tokenizer.fingerprint
    assert tuned.tokenizer.target.encode(TARGET) == run.tokenizer.target.encode(TARGET)
    sources, targets = stores(tmp_path / "copy" / "tokens" / "train", ("source", "target"))
    assert sources[0].tolist() == run.tokenizer.encode(SOURCE)
    assert targets[0].tolist() == run.tokenizer.target.encode(TARGET)
    exported(tmp_path / "copy", tmp_path / "out", run.tokenizer)


def exported(run: Path, out: Path, tokenizer: Tokenizer) -> None:
    """What was exported cuts both sides as this tokenizer does, there and imported again."""
    assert export_model(run, out).compared.passed
    theirs = cutter(out)
    assert type(theirs).__name__ == "MarianTokenizer" and not (out / TOKENIZER).exists()
    for text in TEXTS:
        assert theirs(text, add_special_tokens=False)["input_ids"] == tokenizer.encode(text)
        assert theirs(text_target=text)["input_ids"] == [*tokenizer.target.encode(text), tokenizer.end]
    assert import_model(out, out.with_name("again")).tokenizer.fingerprint == tokenizer.fingerprint


def test_both_models_go_back_as_they_came(run: Run, there: tuple[Path, nn.Module], tmp_path: Path) -> None:
    exported(run.path, tmp_path / "out", run.tokenizer)
    for name in ("source.spm", "target.spm"):
        assert (tmp_path / "out" / name).read_bytes() == (there[0] / name).read_bytes()
    assert json.loads((tmp_path / "out" / "vocab.json").read_text()) == json.loads(
        (there[0] / "vocab.json").read_text()
    )


def test_a_target_that_is_cut_otherwise_there_is_seen(run: Run, there: tuple[Path, nn.Module], tmp_path: Path) -> None:
    other = shutil.copytree(there[0], tmp_path / "there")
    shutil.copy(other / "source.spm", other / "target.spm")
    assert not compare(run, other).same_tokens


def test_without_a_model_for_targets_it_is_told(there: tuple[Path, nn.Module], tmp_path: Path) -> None:
    folder = shutil.copytree(there[0], tmp_path / "there")
    (folder / "target.spm").write_bytes(b"\x00\x01")
    with refused("target.spm is damaged"):
        import_model(folder, tmp_path / "run")
    (folder / "target.spm").unlink()
    found = import_model(folder, tmp_path / "run")
    assert found.about["remarks"][-1] == "there is no target.spm: targets are cut as sources are"
    assert found.tokenizer.target is found.tokenizer


def test_a_rule_for_targets_of_another_vocabulary_is_refused(run: Run, tmp_path: Path) -> None:
    tree = json.loads(run.tokenizer.to_json())
    other = json.loads(tree["regard"]["target"])
    other["regard"]["rows"] = len(run.tokenizer) + 1
    tree["regard"]["target"] = json.dumps(other)
    with refused("the tokenizer of targets has other numbers than that of sources"):
        Tokenizer(json.dumps(tree))
    (tmp_path / TOKENIZER).write_text(json.dumps({**tree, "regard": {**tree["regard"], "target": "{"}}))
    with refused(f"{TOKENIZER} is damaged"):
        read_tokenizer(tmp_path)
