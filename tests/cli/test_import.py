"""`regard import`, and what the commands make of a run that was imported."""

import re
import sys
from pathlib import Path

import pytest
from transformers import BertForMaskedLM, BertForPreTraining, BertModel

from regard.interop.families.encoders import ACTIVATIONS
from tests.cli.shell import fine, refused, regard
from tests.interop.cases import CASES
from tests.interop.folders import WORDS, changed, written


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("theirs")
    written(folder, BertModel)
    return folder


def test_the_folder_is_printed_and_the_rest_is_told(source: Path, tmp_path: Path) -> None:
    done = fine("import", source, "--out", tmp_path / "run")
    assert done.out == f"{tmp_path / 'run'}\n"
    assert f"bert: * parameters, {len(WORDS)} tokens, objective 'vectors'".split("*")[1] in done.err
    assert f"next: regard embed {tmp_path / 'run'}" in done.err
    assert f"or regard train bert --from {tmp_path / 'run'}" in done.err
    refused("import", source, "--out", tmp_path / "run", because="holds a run already; --force overwrites it")
    fine("import", source, "--out", tmp_path / "run", "--force")


def test_json_has_what_was_imported_and_how_it_compares(tmp_path: Path) -> None:
    written(tmp_path / "theirs", BertForPreTraining, attention_probs_dropout_prob=0.2)
    done = fine("import", tmp_path / "theirs", "--out", tmp_path / "run", "--check", "--json")
    facts = done.json
    assert facts["run"] == str(tmp_path / "run")
    assert (facts["system"], facts["objective"], facts["vocabulary"]) == ("bert", "masked-pairs", len(WORDS))
    assert facts["check"]["passed"] and facts["check"]["difference"] < facts["check"]["tolerance"]
    assert (len(facts["remarks"]), facts["left_out"]) == (1, [])


def test_a_check_that_fails_exits_1(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = fine("import", source, "--out", tmp_path / "a", "--check")
    assert "the same tokens, numbers differ by" in done.err
    monkeypatch.setitem(ACTIVATIONS, "gelu", "relu")
    done = regard("import", source, "--out", tmp_path / "b", "--check")
    assert done.code == 1
    assert re.search("numbers differ by .* at most: MORE than", done.err)
    monkeypatch.setitem(sys.modules, "transformers", None)
    refused("import", source, "--out", tmp_path / "c", "--check", because="'transformers', which is not installed")
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("named", [None, ["GPT2Model"]])
def test_a_check_asks_for_the_class_of_the_task(named: list[str] | None, tmp_path: Path) -> None:
    CASES["gpt2"].write(tmp_path / "theirs")
    changed(tmp_path / "theirs", "config.json", architectures=named)
    done = fine("import", tmp_path / "theirs", "--out", tmp_path / "run", "--check")
    assert "the same tokens, the same texts" in done.err


def test_nothing_is_written_where_their_library_cannot_be_asked(tmp_path: Path) -> None:
    CASES["bert"].write(tmp_path / "theirs")
    changed(tmp_path / "theirs", "tokenizer_config.json", tokenizer_class="NoSuchTokenizer")
    told = (tmp_path / "theirs", "--out", tmp_path / "run")
    refused("import", *told, "--check", because="'transformers' cannot read")
    assert not [*tmp_path.glob("*run*")]
    fine("import", *told)
    refused("import", *told, "--check", "--force", because="'transformers' cannot read")
    assert (tmp_path / "run" / "config.json").exists()
    (tmp_path / "theirs" / "config.json").write_text("{}")
    refused("import", *told, "--check", "--force", because="has no config.json with a model_type; import it without")


def test_an_imported_run_says_what_it_cannot(source: Path, tmp_path: Path) -> None:
    run, texts = tmp_path / "run", tmp_path / "texts.txt"
    texts.write_text("the dog crossed the road.\n" * 3)
    fine("import", source, "--out", run)
    refused("resume", run, because="was imported from")
    refused("evaluate", run, "--data", texts, because="was imported without a task: its vectors have no score")
    refused("classify", run, "--text", "a dog", because="knows no labels")
    done = fine("verify", run, "--skip", "compiled = eager")
    assert "it was made to be used, not trained" in done.out
    assert "holds  fast = readable attention" in done.out


def test_hidden_words_of_an_imported_run_are_measured(tmp_path: Path) -> None:
    written(tmp_path / "theirs", BertForMaskedLM)
    fine("import", tmp_path / "theirs", "--out", tmp_path / "run")
    texts = tmp_path / "texts.txt"
    texts.write_text("the dog crossed the road.\n" * 7)
    refused("evaluate", tmp_path / "run", because="was imported, without data: give what to measure with --data")
    assert fine("evaluate", tmp_path / "run", "--data", texts, "--json").json["loss"] > 0
    fine("verify", tmp_path / "run", "--only", "accumulated = full batch", "fast = readable attention")


def test_a_folder_that_is_no_bert_is_refused(tmp_path: Path) -> None:
    written(tmp_path / "theirs", BertModel)
    changed(tmp_path / "theirs", "config.json", model_type="albert")
    refused("import", tmp_path / "theirs", "--out", tmp_path / "run", because="model_type = 'albert' is not supported")
    refused("import", tmp_path, "--out", tmp_path / "run", because="has no config.json")
    refused("import", tmp_path, because="--out")
