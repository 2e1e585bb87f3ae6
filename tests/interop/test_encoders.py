"""Families of encoders: what each of them means by its settings, and what it cannot say."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from regard.checkpoint import load
from regard.errors import UserError
from regard.interop import export_model, import_model
from regard.interop.families import FAMILIES
from regard.interop.family import Model
from regard.objectives import Classification, Masked, MaskedPairs, Tagging, Vectors
from regard.place import Place
from regard.systems.bert import Bert
from tests.helpers import refused, same
from tests.interop.cases import CASES
from tests.interop.folders import changed

SMALL = {"width": 12, "heads": 3, "depth": 2, "hidden": 19, "context": 41}
TOKENS = torch.randint(5, 37, (3, 17), generator=torch.Generator().manual_seed(3))


def read(kind: str, **config: Any) -> Bert:
    return FAMILIES[kind].read(config, {}, "config.json").system


def said(kind: str, objective: Any = Masked(), labels: tuple[str, ...] = (), **settings: Any) -> dict[str, Any]:
    return FAMILIES[kind].config(Model(Bert(**{**SMALL, **settings}), objective, labels), 37)


def test_positions_of_roberta_begin_behind_the_padding() -> None:
    assert read("roberta", max_position_embeddings=514).context == 512
    assert said("roberta", segments=1)["max_position_embeddings"] == 43
    with refused("config.json: pad_token_id = 0 is not supported"):
        read("roberta", pad_token_id=0)
    with refused("system.context = 0; it must be at least 1"):
        read("roberta", max_position_embeddings=2)


@pytest.mark.parametrize("kind", ["roberta", "xlm-roberta"])
def test_roberta_guesses_words_with_gelu_whatever_its_layers_have(kind: str) -> None:
    with refused("config.json: hidden_act = 'relu' is not supported; known: gelu"):
        read(kind, hidden_act="relu")
    with refused("system.feedforward = 'gelu-tanh' cannot be said there"):
        said(kind, feedforward="gelu-tanh")


@pytest.mark.parametrize(
    ("kind", "config", "message"),
    [
        ("bert", {"type_vocab_size": 0}, "config.json: type_vocab_size = 0 is not supported"),
        ("bert", {"is_decoder": True}, "config.json: is_decoder = True is not supported; known: False"),
        ("roberta", {"pad_token_id": [1]}, "config.json: pad_token_id = [1] is not supported; known: 1"),
        ("bert", {"type_vocab_size": "2"}, "segments"),
        ("bert", {"hidden_act": ["gelu"]}, "config.json: hidden_act = ['gelu'] is not supported"),
        ("roberta", {"is_decoder": True}, "config.json: is_decoder = True is not supported"),
        ("distilbert", {"activation": "silu"}, "config.json: activation = 'silu' is not supported"),
        ("distilbert", {"pruned_heads": {"0": [1]}}, "config.json: pruned_heads = {'0': [1]} is not supported"),
        ("big_bird", {"use_bias": False}, "config.json: use_bias = False is not supported"),
        ("big_bird", {"rescale_embeddings": True}, "config.json: rescale_embeddings = True is not supported"),
        ("big_bird", {"attention_type": "sparse"}, "config.json: attention_type = 'sparse' is not supported"),
        ("big_bird", {"block_size": "64"}, "block"),
        (
            "bert",
            {"architectures": ["BertForTokenClassification"], "id2label": {"one": "a", "two": "b"}},
            "config.json: id2label = {'one': 'a', 'two': 'b'} has no numbers of labels",
        ),
    ],
)
def test_what_ours_cannot_be_stops(kind: str, config: dict[str, Any], message: str) -> None:
    with refused(message):
        read(kind, **config)


def test_nonsense_in_the_name_of_a_class_is_no_class() -> None:
    for architectures in (None, [], {}, "BertModel", [7]):
        assert read("bert", architectures=architectures).width == 768


def test_distilbert_has_no_segments_and_its_own_pool() -> None:
    system = read("distilbert", dim=12, n_heads=3)
    assert (system.segments, system.pool, system.depth, system.epsilon) == (0, "first-relu", 6, 1e-12)
    config = said("distilbert", Classification(), ("a", "b"), segments=0, pool="first-relu", dropout=0.2)
    assert (config["dim"], config["n_layers"], config["seq_classif_dropout"]) == (12, 2, 0.2)
    assert (config["architectures"], config["id2label"]) == (["DistilBertForSequenceClassification"], {0: "a", 1: "b"})
    for settings, message in (
        ({"segments": 2, "pool": "first-relu"}, "system.segments = 2 cannot be said there, only 0"),
        ({"segments": 0}, "system.pool = 'first' cannot be said there, only 'first-relu'"),
        ({"segments": 0, "pool": "first-relu", "epsilon": 1e-5}, "system.epsilon = 1e-05 cannot be said there"),
    ):
        with refused(message):
            said("distilbert", **settings)
    with refused("bert: type_vocab_size = 0 is not supported"):
        said("bert", segments=0)


def test_the_class_is_that_of_the_head() -> None:
    """Pairs that are all real are asked no question, so there is no head for it."""
    both, guessed = MaskedPairs(), MaskedPairs(random=0.0)
    assert said("bert", both)["architectures"] == ["BertForPreTraining"]
    assert said("bert", guessed)["architectures"] == ["BertForMaskedLM"]
    assert said("big_bird", both)["architectures"] == ["BigBirdForPreTraining"]
    for kind, settings in (("roberta", {}), ("distilbert", {"segments": 0, "pool": "first-relu"})):
        with refused(f"{kind}: there is no class for the objective of this run"):
            said(kind, both, **settings)


def test_bigbird_pools_labels_with_the_activation_of_its_layers() -> None:
    named = {"architectures": ["BigBirdForSequenceClassification"], "attention_type": "original_full"}
    assert read("big_bird", **named).pool == "first-gelu-tanh"
    assert read("big_bird", **named, hidden_act="relu").pool == "first-relu"
    assert read("big_bird", attention_type="original_full").pool == "first"
    tanh = {"feedforward": "gelu-tanh"}
    assert said("big_bird", Classification(), ("a", "b"), pool="first-gelu-tanh", **tanh)["hidden_act"] == "gelu_new"
    assert said("big_bird", Tagging(), ("a", "b"), **tanh)["attention_type"] == "original_full"
    with refused("system.pool = 'first' cannot be said there, only 'first-gelu-tanh'"):
        said("big_bird", Classification(), ("a", "b"), **tanh)


def test_blocks_of_bigbird() -> None:
    system = read("big_bird")
    assert (system.attention, system.block, system.random, system.first, system.near) == ("bigbird", 64, 3, 1, 1)
    (remark,) = FAMILIES["big_bird"].remarks({})
    assert "up to 704 tokens there, of 448 here" in remark
    for first in (1, 2):
        with refused("system.attention = 'bigbird' cannot be said there: BigBird of 'transformers' sees other blocks"):
            said("big_bird", attention="bigbird", block=4, random=1, first=first)


def test_the_way_from_blocks_to_an_export_is_one_that_can_be_gone() -> None:
    """Weights go on where nothing but the blocks stands against it; else a run is trained anew, with all it takes."""
    blocks = {"attention": "bigbird", "block": 4, "random": 1, "first": 2}
    usual = "--set system.attention=full --set system.block=64 --set system.random=3"
    with refused(f"; train on with --from and {usual}, and export that"):
        said("big_bird", **blocks)
    with refused(f"a run that is trained with {usual} --set system.position=learned --set system.norm=post can be"):
        said("big_bird", **blocks, position="rotary", norm="pre")
    assert said("big_bird", attention="full")["attention_type"] == "original_full"


def test_where_all_texts_are_short_bigbird_looks_at_everything() -> None:
    short = {"max_position_embeddings": 704, "block_size": 64, "num_random_blocks": 3}
    assert read("big_bird", **short) == read("big_bird", max_position_embeddings=704, attention_type="original_full")
    assert not FAMILIES["big_bird"].remarks(short)
    assert read("big_bird", **{**short, "max_position_embeddings": 705}).attention == "bigbird"


@torch.no_grad()
def test_a_short_text_is_the_same_to_blocks_and_a_long_one_is_not(tmp_path: Path) -> None:
    theirs = CASES["big_bird-blocks"].write(tmp_path / "there")
    run = import_model(tmp_path / "there", tmp_path / "run").model
    assert run.settings.attention == "bigbird"
    short, long = TOKENS, torch.cat((TOKENS, TOKENS[:, :12]), 1)
    theirs.bert.set_attention_type("original_full")
    same(run.answer(short, Place.line(short)), theirs(short).prediction_logits, rtol=0, atol=1e-4)
    assert not torch.allclose(run.answer(long, Place.line(long)), theirs(long).prediction_logits, atol=1e-2)


def test_blocks_are_not_written_for_others(tmp_path: Path) -> None:
    """Said in one line, not in one for each family."""
    CASES["big_bird-blocks"].write(tmp_path / "there")
    import_model(tmp_path / "there", tmp_path / "run")
    way = "--set system.attention=full --set system.block=64 --set system.first=2 --set system.random=3, and"
    with pytest.raises(UserError, match=r"^system.attention = 'bigbird' cannot be said there: .*" + way) as found:
        export_model(tmp_path / "run", tmp_path / "out")
    assert "bert:" not in str(found.value) and not (tmp_path / "out").exists()


@torch.no_grad()
def test_a_file_of_roberta_as_it_was_first_published(tmp_path: Path) -> None:
    """With a pool that nobody trained, words under a second name, and counted places."""
    theirs = CASES["roberta"].write(tmp_path / "there")
    tensors = load_file(tmp_path / "there" / "model.safetensors")
    tensors["lm_head.decoder.weight"] = tensors["roberta.embeddings.word_embeddings.weight"].clone()
    tensors["roberta.embeddings.position_ids"] = torch.arange(43)[None]
    tensors |= {"roberta.pooler.dense.weight": torch.ones(12, 12), "roberta.pooler.dense.bias": torch.ones(12)}
    save_file(tensors, tmp_path / "there" / "model.safetensors")
    found = import_model(tmp_path / "there", tmp_path / "run")
    assert found.recipe.objective == Masked()
    assert sorted(found.about["left_out"]) == ["roberta.pooler.dense.bias", "roberta.pooler.dense.weight"]
    same(found.model.answer(TOKENS), theirs(TOKENS).logits, rtol=0, atol=1e-4)


def test_a_pool_that_nobody_has_is_written_where_their_class_wants_one(tmp_path: Path) -> None:
    """Vectors without a pool: theirs has one that is 0, and says no word of it."""
    CASES["bert"].write(tmp_path / "there")
    tensors = load_file(tmp_path / "there" / "model.safetensors")
    kept = {name: tensor for name, tensor in tensors.items() if not name.startswith("cls.")}
    save_file(kept, tmp_path / "there" / "model.safetensors")
    changed(tmp_path / "there", "config.json", architectures=["BertModel"])
    found = import_model(tmp_path / "there", tmp_path / "run")
    assert found.recipe.objective == Vectors(pooled=False)
    assert export_model(tmp_path / "run", tmp_path / "out").compared.passed
    again, info = transformers.BertModel.from_pretrained(tmp_path / "out", output_loading_info=True)
    assert not any(info.values())
    assert not again.pooler.dense.weight.any()


def test_what_bert_cannot_say_another_family_can(tmp_path: Path) -> None:
    """Without segments it is a DistilBERT, though nobody imported it as one."""
    CASES["distilbert-labels"].write(tmp_path / "there")
    import_model(tmp_path / "there", tmp_path / "run")
    report = tmp_path / "run" / "report.json"
    changed(tmp_path / "run", report.name, imported={"from": "elsewhere"})
    assert export_model(tmp_path / "run", tmp_path / "out").kind == "distilbert"
    assert load(tmp_path / "run").labels == tuple(f"LABEL_{i}" for i in range(7))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"problem_type": "multi_label_classification"},
            "problem_type = 'multi_label_classification' is not supported",
        ),
        ({"problem_type": "regression"}, "problem_type = 'regression' is not supported, only one of several labels"),
        ({"id2label": {"0": "x"}}, "id2label has one label: a number for each text is not supported"),
        ({"id2label": {"0": "x", "1": "x", "2": "y"}}, "id2label has 'x' twice, which is not supported"),
        ({"architectures": None}, "architectures = None has no task here"),
        ({"architectures": ["BertForMultipleChoice"]}, "architectures = ['BertForMultipleChoice'] has no task here"),
    ],
)
def test_labels_that_are_not_told_apart_here_are_named(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    CASES["bert-labels"].write(tmp_path / "there")
    changed(tmp_path / "there", "config.json", **changes)
    with refused(f"2 tensors are ('classifier.bias', 'classifier.weight') unused: {words}"):
        import_model(tmp_path / "there", tmp_path / "run")
    found = import_model(tmp_path / "there", tmp_path / "run", allow=("classifier.*",))
    assert found.recipe.objective == Vectors(pooled=True)
    assert sorted(found.about["left_out"]) == ["classifier.bias", "classifier.weight"]


@pytest.mark.parametrize("kind", ["Bert", "BigBird"])
def test_whether_sentences_follow_is_no_task_alone(kind: str, tmp_path: Path) -> None:
    """Beside hidden words it may be left out; where it is all that a model was made for, it may not."""
    case = {"Bert": "bert-pairs", "BigBird": "big_bird-pairs"}[kind]
    CASES[case].write(tmp_path / "there")
    tensors = load_file(tmp_path / "there" / "model.safetensors")
    kept = {name: tensor for name, tensor in tensors.items() if not name.startswith("cls.predictions")}
    save_file(kept, tmp_path / "there" / "model.safetensors")
    changed(tmp_path / "there", "config.json", architectures=[f"{kind}ForNextSentencePrediction"])
    unused = "('cls.seq_relationship.bias', 'cls.seq_relationship.weight') unused: architectures = "
    with refused(f"{unused}['{kind}ForNextSentencePrediction'] has no task here"):
        import_model(tmp_path / "there", tmp_path / "run")
    found = import_model(tmp_path / "there", tmp_path / "run", allow=("cls.seq_relationship.*",))
    assert found.recipe.objective == Vectors(pooled=True)


@pytest.mark.parametrize("case", ["bert", "roberta", "distilbert", "big_bird"])
@torch.no_grad()
def test_norms_may_have_their_old_names(case: str, tmp_path: Path) -> None:
    CASES[case].write(tmp_path / "there")
    today = import_model(tmp_path / "there", tmp_path / "today").about["content"]
    path = tmp_path / "there" / "model.safetensors"
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    tensors = load_file(path)
    for now, once in old.items():
        tensors = {name.replace(now, once): tensor for name, tensor in tensors.items()}
    assert any(name.endswith("LayerNorm.gamma") for name in tensors)
    save_file(tensors, path)
    assert import_model(tmp_path / "there", tmp_path / "run").about["content"] == today
