"""What a folder brought along beside its weights comes back when the run is exported, as far as it still holds."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import transformers

import regard
from regard.checkpoint import load, write_setup
from regard.decode.settings import Decode
from regard.interop import export_model, import_model
from regard.recipe import Recipe
from tests.helpers import lines_file, refused
from tests.interop.cases import CASES
from tests.interop.folders import changed
from tests.interop.ggufs import llama

CHAT = "{% for message in messages %}<|endoftext|>{{ message['content'] }}{% endfor %}"
ASKED = {
    "max_length": 27,
    "num_beams": 3,
    "length_penalty": 0.5,
    "do_sample": True,
    "temperature": 0.7,
    "top_p": 0.8,
    "no_repeat_ngram_size": 3,
    "forced_eos_token_id": 2,
    "suppress_tokens": [9, 11],
}
CUT = {"model_max_length": 31, "padding_side": "left", "truncation_side": "left", "model_input_names": ["input_ids"]}
IDS = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id")


def folder(path: Path, case: str, **generation: Any) -> Path:
    CASES[case].write(path)
    (path / "generation_config.json").unlink(missing_ok=True)
    if generation:
        given = json.loads((path / "config.json").read_text())
        symbols = {name: given[name] for name in IDS if given.get(name) is not None}
        transformers.GenerationConfig(**symbols, **generation).save_pretrained(path)
    return path


def settings(path: Path, name: str) -> dict[str, Any]:
    return json.loads((path / name).read_text())


def there_and_back(there: Path, name: str = "run") -> Path:
    import_model(there, there.parent / name)
    export_model(there.parent / name, there.parent / f"{name}-back")
    return there.parent / f"{name}-back"


@pytest.mark.parametrize("case", ["bart", "gpt2", "marian", "t5"])
def test_how_text_is_written_there_comes_back(case: str, tmp_path: Path) -> None:
    there = folder(tmp_path / "there", case, **ASKED)
    back = there_and_back(there)
    one, other = (transformers.GenerationConfig.from_pretrained(each).to_dict() for each in (there, back))
    assert {name: one[name] for name in ASKED} == ASKED
    assert {name: other[name] for name in one if name not in IDS} == {n: v for n, v in one.items() if n not in IDS}
    assert other["eos_token_id"] == one["eos_token_id"]


def test_what_older_folders_say_in_their_settings_comes_back_too(tmp_path: Path) -> None:
    there = folder(tmp_path / "there", "t5")
    tasks = {"translation_en_to_de": {"prefix": "translate English to German: ", "num_beams": 4}}
    changed(there, "config.json", num_beams=4, max_length=19, early_stopping=True, task_specific_params=tasks)
    back = there_and_back(there)
    asked = settings(back, "generation_config.json")
    assert (asked["num_beams"], asked["max_length"], asked["early_stopping"]) == (4, 19, True)
    assert settings(back, "config.json")["task_specific_params"] == tasks


def test_a_folder_that_asks_for_nothing_gets_nothing(tmp_path: Path) -> None:
    back = there_and_back(folder(tmp_path / "there", "gpt2"))
    assert not (back / "generation_config.json").exists() and not (back / "chat_template.jinja").exists()
    assert "padding_side" not in settings(back, "tokenizer_config.json")


def test_settings_of_the_tokenizer_come_back(tmp_path: Path) -> None:
    there = folder(tmp_path / "there", "gpt2")
    more = {"additional_special_tokens": ["<|endoftext|>", "<unheard>"], "chat_template": CHAT}
    changed(there, "tokenizer_config.json", **CUT, **more)
    back = there_and_back(there)
    said = settings(back, "tokenizer_config.json")
    assert {name: said[name] for name in CUT} == CUT
    assert said["additional_special_tokens"] == ["<|endoftext|>"]
    one, other = (transformers.AutoTokenizer.from_pretrained(each) for each in (there, back))
    turns = [{"role": "user", "content": "the road"}, {"role": "assistant", "content": "A boy"}]
    assert other.apply_chat_template(turns, tokenize=False) == one.apply_chat_template(turns, tokenize=False)
    assert (other.model_max_length, other.padding_side, other.truncation_side) == (31, "left", "left")
    assert len(other) == load(tmp_path / "run").tokenizer.backend.get_vocab_size()


def test_a_template_in_a_file_of_its_own_comes_back_and_is_never_run(tmp_path: Path) -> None:
    there = folder(tmp_path / "there", "gpt2")
    text = CHAT + "{{ raise_exception('it was run') }}\n"
    (there / "chat_template.jinja").write_text(text)
    back = there_and_back(there)
    assert (back / "chat_template.jinja").read_text() == text
    (there / "chat_template.jinja").write_bytes(b"\xff\xfe")
    with refused("chat_template.jinja is damaged: it is no text"):
        import_model(there, tmp_path / "other")


def test_the_template_of_a_gguf_file_is_written_too(tmp_path: Path) -> None:
    llama(tmp_path / "there", add_chat_template=CHAT)
    import_model(tmp_path / "there" / "small.gguf", tmp_path / "run")
    export_model(tmp_path / "run", tmp_path / "back")
    assert settings(tmp_path / "back", "tokenizer_config.json")["chat_template"] == CHAT


@pytest.mark.parametrize(
    ("case", "dropouts"),
    [
        ("bert", {"attention_probs_dropout_prob": 0.3, "classifier_dropout": 0.2}),
        ("distilbert", {"attention_dropout": 0.3, "seq_classif_dropout": 0.25}),
        ("gpt2", {"embd_pdrop": 0.3, "attn_pdrop": 0.2, "summary_first_dropout": 0.4}),
        ("bart", {"attention_dropout": 0.3, "activation_dropout": 0.0, "encoder_layerdrop": 0.5}),
    ],
)
def test_dropouts_of_their_own_come_back(case: str, dropouts: dict[str, float], tmp_path: Path) -> None:
    there = folder(tmp_path / "there", case)
    changed(there, "config.json", **dropouts, initializer_range=0.05)
    back = settings(there_and_back(there), "config.json")
    assert {name: back[name] for name in dropouts} == dropouts and back["initializer_range"] == 0.05


def tuned(start: Path, out: Path, **sections: dict[str, Any]) -> Path:
    """A run that was trained on from another one for two steps."""
    recipe, lines = load(start).recipe.to_dict(), lines_file(out.with_suffix(".txt"), ["the road was too wide."] * 20)
    recipe["data"] |= {"train": [str(lines)], "document": "line"}
    recipe["train"] |= {"steps": 2, "batch_tokens": 100, "device": "cpu"}
    for name, values in sections.items():
        recipe[name] |= values
    return regard.train(Recipe.parse(recipe, where="here"), out, start_from=start, quiet=True)


def test_trained_on_it_keeps_what_the_tokenizer_needs_and_its_family(tmp_path: Path) -> None:
    there = folder(tmp_path / "there", "mistral", **ASKED)
    (there / "tokenizer_config.json").write_text(json.dumps({**CUT, "chat_template": CHAT}))
    changed(there, "config.json", attention_dropout=0.25, initializer_range=0.05)
    import_model(there, tmp_path / "run")
    run = tuned(tmp_path / "run", tmp_path / "tuned", system={"dropout": 0.0})
    assert export_model(run, tmp_path / "back").kind == "mistral"
    said = settings(tmp_path / "back", "tokenizer_config.json")
    assert said["chat_template"] == CHAT and said["padding_side"] == "left" and "model_max_length" not in said
    config = settings(tmp_path / "back", "config.json")
    assert config["attention_dropout"] == 0.0 and "initializer_range" not in config
    assert settings(tmp_path / "back", "generation_config.json")["num_beams"] == 3
    again = tuned(run, tmp_path / "again", decode={"beam": 2})
    export_model(again, tmp_path / "once more")
    asked = settings(tmp_path / "once more", "generation_config.json")
    assert asked["forced_eos_token_id"] == 2 and not {"num_beams", "temperature", "max_length"} & {*asked}


def test_a_run_that_decodes_in_its_own_way_does_not_say_theirs(tmp_path: Path) -> None:
    import_model(folder(tmp_path / "there", "gpt2", **ASKED), tmp_path / "run")
    run = load(tmp_path / "run")
    write_setup(run.path, replace(run.recipe, decode=Decode(beam=5)), run.tokenizer)
    export_model(run.path, tmp_path / "back")
    assert "num_beams" not in settings(tmp_path / "back", "generation_config.json")


def test_what_is_kept_is_sealed(tmp_path: Path) -> None:
    import_model(folder(tmp_path / "there", "gpt2", **ASKED), tmp_path / "run")
    kept = tmp_path / "run" / "origin.json"
    for damage in (lambda: kept.write_text(kept.read_text().replace("27", "28")), kept.unlink):
        damage()
        with refused("origin.json is not the one that"):
            export_model(tmp_path / "run", tmp_path / "back")
        load(tmp_path / "run")
