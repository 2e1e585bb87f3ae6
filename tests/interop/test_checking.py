"""Beside another library: what is no number, what is put around a text, and what that library cannot be asked."""

import json
import math
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer as Backend
from tokenizers import processors

from regard.checkpoint import Run, load
from regard.interop import export_model, import_model
from regard.interop.checking import Comparison, compare, farthest
from regard.interop.ct2.checking import compare as compare_ct2
from regard.interop.onnx.checking import compare as compare_onnx
from regard.interop.samples import RELATIVE, TEXTS, written
from tests.helpers import refused
from tests.interop.cases import CASES
from tests.interop.folders import changed

ONE = torch.tensor([1.0, -3.0])


def both(case: str, folder: Path) -> tuple[Path, Run]:
    CASES[case].write(folder / "there")
    import_model(folder / "there", folder / "run")
    return folder / "there", load(folder / "run")


def test_the_largest_difference_and_what_is_allowed() -> None:
    assert farthest([]) == (0.0, RELATIVE)
    found = farthest([(ONE, ONE), (ONE, ONE + torch.tensor([0.25, -4.0])), (ONE, ONE)])
    assert found == (4.0, RELATIVE * 7.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_infinitely_far_away(bad: float) -> None:
    """On either side, on both, and whatever is compared before and after."""
    none = torch.tensor([1.0, bad])
    for pair in ((none, ONE), (ONE, none), (none, none)):
        for pairs in ([pair], [(ONE, ONE), pair], [pair, (ONE, ONE)]):
            difference, tolerance = farthest(pairs)
            assert difference == math.inf and math.isfinite(tolerance)


def spoil(run: Run) -> None:
    tensor = next(tensor for name, tensor in run.model.named_parameters() if "blocks.1" in name)
    with torch.no_grad():
        tensor.flatten()[0] = math.nan


@pytest.mark.parametrize("case", ["bert", "gpt2", "marian"])
def test_a_run_whose_scores_are_no_numbers_does_not_pass(case: str, tmp_path: Path) -> None:
    folder, run = both(case, tmp_path)
    assert compare(run, folder).passed
    spoil(run)
    found = compare(run, folder)
    assert (found.passed, found.difference) == (False, math.inf)


@pytest.mark.parametrize(("to", "beside"), [("ct2", compare_ct2), ("onnx", compare_onnx)])
def test_nor_does_it_beside_other_libraries(to: str, beside, tmp_path: Path) -> None:
    _, run = both("bert-vectors", tmp_path)
    export_model(run.path, tmp_path / "out", to=to)
    spoil(run)
    found = beside(run, tmp_path / "out")
    assert (found.passed, found.difference) == (False, math.inf)


@pytest.mark.parametrize("named", [None, [], ["GPT2Model"], ["GPT2ForSequenceClassification"]])
def test_the_class_there_is_that_of_the_task_whatever_the_folder_names(named: list[str] | None, tmp_path: Path) -> None:
    folder, run = both("gpt2", tmp_path)
    changed(folder, "config.json", architectures=named)
    assert compare(run, folder).passed


def test_what_that_library_cannot_read_ends_in_one_line(tmp_path: Path) -> None:
    folder, run = both("gpt2", tmp_path)
    (folder / "tokenizer.json").write_text("{}")
    with refused(f"'transformers' cannot read {folder}: "):
        compare(run, folder)
    changed(folder, "config.json", model_type="albert")
    with refused("model_type = 'albert' is not supported"):
        compare(run, folder)


def surrounded(folder: Path, single: str) -> None:
    """Their tokenizer puts these around a text."""
    path = str(folder / "tokenizer.json")
    backend = Backend.from_file(path)
    names = [word for word in single.split() if not word.startswith("$")]
    backend.post_processor = processors.TemplateProcessing(
        single=single, special_tokens=[(name, backend.token_to_id(name)) for name in {*names}]
    )
    backend.save(path)


@pytest.mark.parametrize(
    ("case", "right", "wrong"),
    [
        ("roberta", "<s> $A </s>", "</s> $A <s>"),
        ("roberta", "<s> $A </s>", "$A </s>"),
        ("bart", "<s> $A </s>", "$A </s>"),
        ("llama-3", "<|begin_of_text|> $A", "<|begin_of_text|> $A <|end_of_text|>"),
    ],
)
def test_what_is_put_around_a_text_is_compared_too(case: str, right: str, wrong: str, tmp_path: Path) -> None:
    CASES[case].write(tmp_path / "there")
    surrounded(tmp_path / "there", right)
    import_model(tmp_path / "there", tmp_path / "run")
    run = load(tmp_path / "run")
    assert compare(run, tmp_path / "there").passed
    surrounded(tmp_path / "there", wrong)
    assert not compare(run, tmp_path / "there").same_tokens


def test_a_start_that_only_one_of_two_decoders_puts_before_a_text_is_seen(tmp_path: Path) -> None:
    CASES["llama-3"].write(tmp_path / "there")
    import_model(tmp_path / "there", tmp_path / "run")
    run = load(tmp_path / "run")
    assert not run.tokenizer.habits.opens and compare(run, tmp_path / "there").passed
    surrounded(tmp_path / "there", "<|begin_of_text|> $A")
    assert not compare(run, tmp_path / "there").same_tokens
    assert json.loads((tmp_path / "there" / "tokenizer.json").read_text())["post_processor"]


def test_a_text_ends_with_any_of_several_ends_in_both(tmp_path: Path) -> None:
    """The token that would come first is made an end: nothing is written, here as there."""
    folder, run = both("llama-3", tmp_path)
    text = run.tokenizer.encode(TEXTS[0])
    likeliest = int(run.model.decode(torch.tensor([run.tokenizer.begun(text)]))[0, -1].argmax())
    changed(folder, "generation_config.json", eos_token_id=[1, likeliest])
    changed(folder, "config.json", eos_token_id=[1, likeliest])
    import_model(folder, tmp_path / "again")
    again = load(tmp_path / "again")
    assert likeliest in again.tokenizer.ends and written(again, [text], most=7)[0][0].tokens == []
    assert compare(again, folder).passed


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Comparison(True, True, 3e-7, 1e-4), "the same tokens, the same texts, numbers differ by 3.0e-07 at most"),
        (Comparison(True, None, 0.0, 1e-4), "the same tokens, every number the same"),
        (Comparison(False, None, 0.5, 1e-4), "OTHER TOKENS, numbers differ by 5.0e-01 at most: MORE than 1.0e-04"),
        (Comparison(True, False, 0.0, 1e-4), "the same tokens, OTHER TEXTS, every number the same"),
    ],
)
def test_a_comparison_in_words_speaks_of_what_was_compared(found: Comparison, words: str) -> None:
    assert found.said == words
    assert found.passed == ("OTHER" not in words and "MORE" not in words)


def test_a_model_that_writes_nothing_is_not_said_to_write_the_same(tmp_path: Path) -> None:
    folder, run = both("bert-vectors", tmp_path)
    assert compare(run, folder).same_texts is None
    for to in ("ct2", "onnx"):
        found = export_model(run.path, tmp_path / to, to=to).compared
        assert found.passed and found.same_texts is None and "texts" not in found.said
