"""A model of others becomes a run: which task its heads decide, the same answers, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    BertForMaskedLM,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)

from regard.checkpoint import REPORT, load, read_json
from regard.data.sources import file_hash
from regard.interop import import_model
from regard.interop.checking import compare
from regard.objectives import Classification, Masked, MaskedPairs, Tagging, Vectors
from regard.place import Place
from regard.train import resume, train
from tests.helpers import recipe, refused, same
from tests.interop.folders import WORDS, changed, written
from tests.train.runs import weights

TOKENS = torch.randint(5, len(WORDS), (3, 11), generator=torch.Generator().manual_seed(3))
NAMED = {"id2label": {0: "bad", 1: "fair", 2: "good"}}
CASES: dict[type, tuple[dict[str, Any], Any, tuple[str, ...]]] = {
    BertForPreTraining: ({}, MaskedPairs(), ()),
    BertForMaskedLM: ({}, Masked(), ()),
    BertModel: ({}, Vectors(pooled=True), ()),
    BertForSequenceClassification: (NAMED, Classification(), ("bad", "fair", "good")),
    BertForTokenClassification: ({}, Tagging(), ("LABEL_0", "LABEL_1")),
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    written(tmp_path / "source", BertModel)
    return tmp_path / "source"


@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.__name__)
@torch.no_grad()
def test_the_heads_decide_the_task_and_answer_as_theirs(kind: type, tmp_path: Path) -> None:
    changes, objective, labels = CASES[kind]
    theirs = written(tmp_path / "source", kind, **changes)
    found = import_model(tmp_path / "source", tmp_path / "run")
    run = load(tmp_path / "run")
    assert (run.recipe.objective, run.labels, found.about["left_out"]) == (objective, labels, [])
    reference = theirs(TOKENS)
    if isinstance(objective, MaskedPairs):
        vectors, at = run.model.embed(TOKENS, Place.line(TOKENS)), Place.line(TOKENS)
        same(run.model.head.follows(vectors, at), reference.seq_relationship_logits.flip(1))
        same(run.model.answer(TOKENS), reference.prediction_logits)
    elif isinstance(objective, Vectors):
        same(run.model.answer(TOKENS), theirs.base_model(TOKENS).last_hidden_state)
    else:
        same(run.model.answer(TOKENS), reference.logits)


def test_with_one_segment_no_pairs_are_judged(tmp_path: Path) -> None:
    written(tmp_path / "source", BertForPreTraining, type_vocab_size=1)
    found = import_model(tmp_path / "source", tmp_path / "run")
    assert found.recipe.objective == Masked()
    assert "cls.seq_relationship.weight" in found.about["left_out"]


def test_the_report_says_where_it_came_from(source: Path, tmp_path: Path) -> None:
    import_model(source, tmp_path / "run")
    about = read_json(tmp_path / "run" / REPORT)["imported"]
    names = ("config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json")
    assert about["from"] == str(source)
    assert about["files"] == {name: file_hash(source / name) for name in names}
    assert about["remarks"] == []
    again = import_model(source, tmp_path / "again")
    assert again.about["content"] == about["content"]


def test_it_cannot_be_resumed_but_started_from(source: Path, tmp_path: Path) -> None:
    """With its pool, under a new head; the tokenizer is the imported one."""
    run = tmp_path / "run"
    import_model(source, run)
    with refused(f"{run} was imported from {source}: there is no training to go on with; start from it with"):
        resume(run)
    (tmp_path / "moods.tsv").write_text("the dog\tgood\nthe road\tbad\n" * 12)
    system = {name: value for name, value in load(run).recipe.to_dict()["system"].items() if name != "kind"}
    still = {"steps": 1, "rate": 1e-30, "weight_decay": 0.0, "threads": 1}
    data = {"train": str(tmp_path / "moods.tsv")}
    tuned = train(
        recipe("bert", data=data, system=system, objective={"kind": "classification"}, train=still),
        tmp_path / "tuned",
        start_from=run,
        quiet=True,
    )
    before, after = weights(run), weights(tuned)
    assert after.keys() - before.keys() == {"head.rows.weight", "head.rows.bias"}
    for name, tensor in before.items():
        assert torch.allclose(after[name], tensor, rtol=0, atol=1e-25), name
    assert load(tuned).tokenizer.fingerprint == load(run).tokenizer.fingerprint
    averaged = recipe(
        "bert", data=data, system={**system, "pool": "mean"}, objective={"kind": "classification"}, train=still
    )
    pool = {"head.pool.dense.weight", "head.pool.dense.bias"}
    assert weights(train(averaged, tmp_path / "mean", start_from=run, quiet=True)).keys() == after.keys() - pool
    with refused("objective 'vectors' trains nothing"):
        train(recipe("bert", data=data, objective={"kind": "vectors"}), tmp_path / "no", quiet=True)


@torch.no_grad()
def test_other_spellings_of_the_same_file(source: Path, tmp_path: Path) -> None:
    """Half precision, a prefix, old names of norms, counted places, a pickle of tensors: the same vectors."""
    tensors = load_file(source / "model.safetensors")
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    spelt = {"bert.embeddings.position_ids": torch.arange(29)[None]}
    for name, tensor in tensors.items():
        stem, _, kind = name.rpartition(".")
        ending = old.get(f"{stem.rpartition('.')[2]}.{kind}")
        spelt["bert." + (f"{stem.rpartition('.')[0]}.{ending}" if ending else name)] = tensor.half()
    (source / "model.safetensors").unlink()
    torch.save(spelt, source / "pytorch_model.bin")
    found = import_model(source, tmp_path / "pickled")
    assert "pytorch_model.bin" in found.about["files"]
    assert not found.about["left_out"]
    save_file({name: tensor.half().float() for name, tensor in tensors.items()}, source / "model.safetensors")
    same(found.model.answer(TOKENS), import_model(source, tmp_path / "safe").model.answer(TOKENS), rtol=0, atol=0)


@torch.no_grad()
def test_a_model_with_more_rows_than_tokens(tmp_path: Path) -> None:
    theirs = written(tmp_path / "source", BertModel, rows=len(WORDS) + 5)
    found = import_model(tmp_path / "source", tmp_path / "run")
    same(found.model.answer(TOKENS), theirs(TOKENS).last_hidden_state)


def test_beside_their_library(source: Path, tmp_path: Path) -> None:
    import_model(source, tmp_path / "run")
    run = load(tmp_path / "run")
    found = compare(run, source)
    assert found.passed
    assert 0 < found.difference < 1e-5
    with torch.no_grad():
        run.model.encoder.blocks[1].attention.to_key.weight[0, 0] += 0.7
    assert compare(run, source).difference > found.tolerance
    other = tmp_path / "other"
    written(other, BertModel)
    changed(other, "tokenizer_config.json", do_lower_case=False)
    found = compare(load(tmp_path / "run"), other)
    assert not found.passed
    assert not found.same_tokens


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model_type": "albert"}, "model_type = 'albert' is not supported; known: gpt2, bert"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type = 'relative_key' is not supported"),
        ({"is_decoder": True}, "is_decoder = True is not supported"),
        ({"add_cross_attention": True}, "add_cross_attention = True is not supported"),
        ({"hidden_act": "silu"}, "hidden_act = 'silu' is not supported; known: gelu"),
        ({"hidden_size": "wide"}, "width: 'wide' is not a whole number"),
        ({"num_attention_heads": 5}, "width 12 does not split into 5 heads"),
        ({"num_hidden_layers": 3}, "16 tensors are ('bert.encoder.layer.2.attention.self.query.weight', "),
        ({"num_hidden_layers": 1}, "and 8 more) unused; '--allow PATTERN' goes on without"),
        (
            {"intermediate_size": 20},
            "intermediate.dense.weight' has shape [19, 12], the configuration asks for [20, 12]",
        ),
        ({"num_hidden_layers": 10**9}, "does not fit its settings: depth = 1000000000, and of 39 tensors the longest"),
        ({"hidden_size": 3 * 10**9}, "does not fit its settings: width = 3000000000"),
        ({"max_position_embeddings": 10**15}, "has shape [29, 12], the configuration asks for [1000000000000000, 12]"),
    ],
)
def test_what_ours_cannot_be_stops(changes: dict[str, Any], words: str, source: Path, tmp_path: Path) -> None:
    changed(source, "config.json", **changes)
    with refused(words):
        import_model(source, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_dropouts_that_differ_are_told(source: Path, tmp_path: Path) -> None:
    changed(source, "config.json", attention_probs_dropout_prob=0.3)
    found = import_model(source, tmp_path / "run")
    assert found.about["remarks"] == ["attention_probs_dropout_prob = 0.3 there; here dropout is 0.1 everywhere"]


def test_a_tensor_of_the_body_that_is_not_known_stops(source: Path, tmp_path: Path) -> None:
    tensors = load_file(source / "model.safetensors")
    name = "encoder.layer.1.attention.self.distance_embedding.weight"
    save_file({**tensors, name: torch.zeros(3, 4)}, source / "model.safetensors")
    with refused(f"tensor '{name}' is unused"):
        import_model(source, tmp_path / "run")
    found = import_model(source, tmp_path / "run", allow=("*.distance_embedding.*",))
    assert found.about["left_out"] == [name]
    save_file({"linear.weight": torch.zeros(2)}, source / "model.safetensors")
    with refused("has no word vectors: there is no 'bert.embeddings.word_embeddings.weight'"):
        import_model(source, tmp_path / "other")


def test_a_tensor_that_is_missing_stops_unless_it_is_allowed(source: Path, tmp_path: Path) -> None:
    """What is allowed to be missing is new, as in a model that was never trained."""
    tensors = load_file(source / "model.safetensors")
    name = "encoder.layer.1.output.dense.bias"
    save_file({key: tensor for key, tensor in tensors.items() if key != name}, source / "model.safetensors")
    with refused(f"tensor 'bert.{name}' is missing"):
        import_model(source, tmp_path / "run")
    found = import_model(source, tmp_path / "run", allow=(f"bert.{name}",))
    assert not found.model.encoder.blocks[1].feedforward.output.bias.any()
    same(found.model.encoder.blocks[1].feedforward.output.weight, tensors["encoder.layer.1.output.dense.weight"])


def test_the_head_of_another_task_is_left_out_when_allowed(tmp_path: Path) -> None:
    written(tmp_path / "source", BertForQuestionAnswering)
    with refused("2 tensors are ('qa_outputs.bias', 'qa_outputs.weight') unused"):
        import_model(tmp_path / "source", tmp_path / "run")
    found = import_model(tmp_path / "source", tmp_path / "run", allow=("qa_outputs.*",))
    assert found.recipe.objective == Vectors()
    assert sorted(found.about["left_out"]) == ["qa_outputs.bias", "qa_outputs.weight"]


def test_an_output_of_its_own_stops(tmp_path: Path) -> None:
    source = tmp_path / "source"
    written(source, BertForMaskedLM)
    tensors = load_file(source / "model.safetensors")
    tied = {"cls.predictions.decoder.weight": tensors["bert.embeddings.word_embeddings.weight"].clone()}
    save_file({**tensors, **tied}, source / "model.safetensors")
    import_model(source, tmp_path / "run")
    tied["cls.predictions.decoder.weight"][3, 5] += 1
    save_file({**tensors, **tied}, source / "model.safetensors")
    with refused("differs from 'bert.embeddings.word_embeddings.weight', and here they are one"):
        import_model(source, tmp_path / "other")


def test_a_run_that_is_there_is_kept(source: Path, tmp_path: Path) -> None:
    import_model(source, tmp_path / "run")
    with refused(f"{tmp_path / 'run'} holds a run already; --force overwrites it; give another --out"):
        import_model(source, tmp_path / "run")
    import_model(source, tmp_path / "run", force=True)
    with refused("exists and is no run"):
        import_model(source, source, force=True)
    assert json.loads((source / "config.json").read_text())["model_type"] == "bert"


def test_tensors_may_lie_in_several_files(source: Path, tmp_path: Path) -> None:
    whole = import_model(source, tmp_path / "whole")
    tensors = load_file(source / "model.safetensors")
    (source / "model.safetensors").unlink()
    places = {name: f"part-{number % 3}.safetensors" for number, name in enumerate(tensors)}
    for part in set(places.values()):
        save_file({name: tensor for name, tensor in tensors.items() if places[name] == part}, source / part)
    index = source / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": places}))
    found = import_model(source, tmp_path / "run")
    assert found.about["content"] == whole.about["content"]
    assert {"part-0.safetensors", "part-1.safetensors", "part-2.safetensors"} < set(found.about["files"])
    save_file({"encoder.layer.0.output.dense.bias": torch.zeros(12)}, source / "part-3.safetensors")
    index.write_text(json.dumps({"weight_map": {**places, "more": "part-3.safetensors"}}))
    with refused("is in another file too"):
        import_model(source, tmp_path / "twice")


def test_what_is_given_in_place_of_a_model_is_named(source: Path, tmp_path: Path) -> None:
    with refused("no such file or folder: gpt2; nothing is downloaded"):
        import_model("gpt2", tmp_path / "run")
    with refused(f"is one file of a model; give its folder, {source}"):
        import_model(source / "model.safetensors", tmp_path / "run")
    import_model(source, tmp_path / "run")
    with refused(f"{tmp_path / 'run'} is a run already"):
        import_model(tmp_path / "run", tmp_path / "again")
