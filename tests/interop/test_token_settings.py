"""What stands beside a vocabulary is obeyed as `transformers` obeys it, or told: settings, added tokens, ends."""

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer, BertTokenizer

from regard.checkpoint import load
from regard.decode import generate
from regard.decode.settings import Decode
from regard.interop import import_model, tokens
from regard.interop.checking import compare
from regard.interop.families import FAMILIES
from regard.interop.files.hugging_face import Folder
from tests.helpers import refused
from tests.interop.cases import BART, CASES, Case, byte_level, gpt2_tokens, pieces
from tests.interop.folders import WORDS, changed, vocabulary
from tests.interop.test_tokens import read

LINE = "The Café crossed dogs"
MASKED = byte_level("<s>", "<pad>", "</s>", "<unk>", bos_token="<s>", eos_token="</s>", mask_token="<mask>")


def same_cut(folder: Path, mine: Any, *lines: str) -> None:
    theirs = AutoTokenizer.from_pretrained(folder)
    for line in lines:
        assert mine.encode(line) == theirs(line, add_special_tokens=False)["input_ids"], line


@pytest.mark.parametrize(
    "other", [{"do_lower_case": False}, {"strip_accents": False}, {"do_lower_case": False, "strip_accents": True}]
)
def test_how_words_are_cut_beside_a_tokenizer_json(other: dict[str, bool], tmp_path: Path) -> None:
    vocabulary(tmp_path)
    BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    plain = read(tmp_path)[0].encode(LINE)
    changed(tmp_path, "tokenizer_config.json", **other)
    tokenizer, text = read(tmp_path)
    same_cut(tmp_path, tokenizer, LINE)
    assert tokenizer.encode(LINE) != plain
    assert text.lowercase == other.get("do_lower_case", True)
    changed(tmp_path, "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    assert read(tmp_path)[0].encode(LINE) == plain


def test_a_blank_before_every_text(tmp_path: Path) -> None:
    rows = gpt2_tokens(tmp_path)
    symbols = FAMILIES["gpt2"].symbols
    plain = read(tmp_path, symbols, rows)[0]
    changed(tmp_path, "tokenizer_config.json", add_prefix_space=True, tokenizer_class="GPT2Tokenizer")
    tokenizer = read(tmp_path, symbols, rows)[0]
    assert tokenizer.encode("The road") == plain.encode(" The road") != plain.encode("The road")
    same_cut(tmp_path, tokenizer, "The road", " The road")
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": True}
    changed(tmp_path, "tokenizer.json", pre_tokenizer={"type": "Sequence", "pretokenizers": [metaspace]})
    changed(tmp_path, "tokenizer_config.json", add_prefix_space=False)
    with refused("add_prefix_space = false, and tokenizer.json puts a blank before every text: they disagree"):
        read(tmp_path, symbols, rows)


def test_whether_a_text_is_opened(tmp_path: Path) -> None:
    """By a `tokenizer.json`, which then decides; else by the settings."""
    rows = byte_level("<s>", "</s>", bos_token="<s>", eos_token="</s>")(tmp_path)
    symbols = FAMILIES["llama"].symbols
    for asked in (True, False):
        changed(tmp_path, "tokenizer_config.json", add_bos_token=asked)
        tokenizer, _, remarks = tokens.read(Folder(tmp_path), symbols, {}, rows)
        assert AutoTokenizer.from_pretrained(tmp_path)("the")["input_ids"] == tokenizer.begun(tokenizer.encode("the"))
        assert not tokenizer.habits.opens
        said = "tokenizer_config.json says add_bos_token = True, tokenizer.json does otherwise: here as tokenizer.json"
        assert remarks == ([said] if asked else [])
    (tmp_path / "tokenizer.json").unlink()
    rows = pieces(tmp_path)
    assert [read(tmp_path, symbols, rows)[0].habits.opens, asked] == [False, False]
    changed(tmp_path, "tokenizer_config.json", add_bos_token="no")
    with refused("add_bos_token = 'no' is neither true nor false"):
        read(tmp_path, symbols, rows)


def test_a_vocabulary_with_merges_must_be_cut_as_gpt2_does(tmp_path: Path) -> None:
    rows = gpt2_tokens(tmp_path)
    model = json.loads((tmp_path / "tokenizer.json").read_text())["model"]
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "vocab.json").write_text(json.dumps(model["vocab"]))
    (tmp_path / "merges.txt").write_text("\n".join(" ".join(pair) for pair in model["merges"]))
    assert read(tmp_path, FAMILIES["gpt2"].symbols, rows)[0].encode("the")
    for kind in ("qwen2", "llama", "bert", "xlm-roberta"):
        with refused(
            "merges.txt: it does not say where words are cut before pairs are joined; tokenizer.json is needed"
        ):
            read(tmp_path, FAMILIES[kind].symbols, rows)


@pytest.mark.parametrize("special", [False, True])
def test_added_tokens_in_files_of_their_own(special: bool, tmp_path: Path) -> None:
    vocabulary(tmp_path / "one")
    (tmp_path / "one" / "added_tokens.json").write_text(json.dumps({"dogroad": len(WORDS), "catroad": len(WORDS) + 1}))
    record = {"content": "dogroad", "special": special, "normalized": not special}
    vocabulary(tmp_path / "two", added_tokens_decoder={str(len(WORDS)): record, "4": {"content": "[MASK]"}})
    for name, rows in (("one", 2), ("two", 1)):
        changed(tmp_path / name, "tokenizer_config.json", tokenizer_class="BertTokenizer")
        tokenizer = read(tmp_path / name, rows=len(WORDS) + rows)[0]
        assert len(tokenizer) == len(WORDS) + rows
        assert tokenizer.piece(len(WORDS)) == "dogroad"
        if name == "one" or not special:
            same_cut(tmp_path / name, tokenizer, "the dogroad", "dogroads a")
            assert len(WORDS) in tokenizer.encode("the dogroad")
        else:  # no text spells it
            assert len(WORDS) not in tokenizer.encode("the dogroad")


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("added_tokens.json", {"dogroad": 4}, "two of its"),
        ("added_tokens.json", {"dog": 4}, "has 'dog' as 22, and a file beside it as 4"),
        ("added_tokens.json", {"dogroad": "x"}, "added_tokens.json is damaged: it has no number for each token"),
        ("tokenizer_config.json", {"added_tokens_decoder": [1]}, "added_tokens_decoder has no number and no name"),
        ("tokenizer_config.json", {"added_tokens_decoder": {"x": "y"}}, "added_tokens_decoder has no number and no"),
        ("tokenizer_config.json", {"added_tokens_decoder": {"7": {}}}, "added_tokens_decoder has no number and no"),
    ],
)
def test_added_tokens_that_cannot_be(name: str, values: dict[str, Any], words: str, tmp_path: Path) -> None:
    vocabulary(tmp_path)
    (tmp_path / name).write_text(json.dumps(values))
    with refused(words):
        read(tmp_path, rows=len(WORDS) + 1)


def without_a_row(folder: Path) -> int:
    """As BART for summaries has it: the mask is a token, and its model has no vector for it."""
    rows = MASKED(folder)
    mask = {**tokens.added("<mask>", rows), "lstrip": True}
    symbols = json.loads((folder / "tokenizer.json").read_text())["added_tokens"]
    changed(folder, "tokenizer.json", added_tokens=[*symbols, mask])
    return rows


def test_symbols_without_a_vector_are_left_out(tmp_path: Path) -> None:
    Case("BartForConditionalGeneration", BART, without_a_row).write(tmp_path / "there")
    found = import_model(tmp_path / "there", tmp_path / "run")
    assert "the model has no vector for <mask>: left out of the vocabulary" in found.about["remarks"]
    assert len(found.tokenizer) == found.model.vocabulary
    assert not found.tokenizer.has(["<mask>"])
    assert compare(load(tmp_path / "run"), tmp_path / "there").passed


def test_what_is_needed_is_not_left_out(tmp_path: Path) -> None:
    rows = without_a_row(tmp_path)
    with refused(f"has {rows + 1} tokens, the model has a vector for {rows - 1}: one is of another model"):
        read(tmp_path, FAMILIES["bart"].symbols, rows - 1)
    changed(tmp_path, "tokenizer_config.json", pad_token="<mask>")
    with refused(f"has {rows + 1} tokens, the model has a vector for {rows}"):
        read(tmp_path, FAMILIES["bart"].symbols, rows)


def asked(tmp_path: Path, kind: str, **generation: Any) -> Any:
    CASES[kind].write(tmp_path / "there")
    (tmp_path / "there" / "generation_config.json").write_text(json.dumps(generation))
    return import_model(tmp_path / "there", tmp_path / "run")


def test_several_tokens_end_a_text(tmp_path: Path) -> None:
    found = asked(tmp_path, "llama-3", eos_token_id=[1, 1])
    assert found.tokenizer.ends == {1}
    prompt = found.tokenizer.encode("The chicken")
    settings = Decode(max_tokens=9)
    (whole,) = generate(found.model, found.tokenizer, settings, prompts=[prompt])[0]
    other = whole.tokens[4]
    changed(tmp_path / "there", "generation_config.json", eos_token_id=[other, 1, 10**9, "x"])
    tokenizer = import_model(tmp_path / "there", tmp_path / "other").tokenizer
    assert (tokenizer.end, tokenizer.ends) == (1, {1, other})
    (cut,) = generate(found.model, tokenizer, settings, prompts=[prompt])[0]
    assert cut.tokens == whole.tokens[: whole.tokens.index(other)]
    assert (cut.ended, cut.end) == ("end", other)
    assert compare(load(tmp_path / "other"), tmp_path / "there").passed


def test_the_search_that_is_asked_for_there_is_told(tmp_path: Path) -> None:
    said = {"num_beams": 4, "length_penalty": 2.0, "no_repeat_ngram_size": 0, "suppress_tokens": [7]}
    found = asked(tmp_path, "bart", **said, bad_words_ids=[[5, 6], [9]])
    assert found.about["remarks"][-2:] == [
        "num_beams = 4, length_penalty = 2.0, suppress_tokens = [7] asked for there is not done here; "
        "give it to each command, as in --beam 4",
        "1 words of several tokens may be written here",
    ]
    assert found.tokenizer.habits.never == (9,)
    assert "generation_config.json" in found.about["files"]


def test_a_vocabulary_alone_says_nothing_more(tmp_path: Path) -> None:
    rows = pieces(tmp_path)
    assert tokens.read(Folder(tmp_path), FAMILIES["llama"].symbols, {}, rows)[2] == []
