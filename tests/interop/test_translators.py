"""What T5, Marian and BART mean: their tokenizers, what they are for, and which runs of ours they can say."""

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import regard
from regard.checkpoint import load
from regard.decode import generate
from regard.decode.settings import Decode
from regard.interop import export_model, import_model
from regard.interop.families import FAMILIES
from regard.interop.families.marian import halves
from regard.interop.family import Model
from regard.interop.files.hugging_face import Folder
from regard.interop.tokens import read
from regard.objectives import SpanCorruption, Translation
from regard.recipe import Recipe
from regard.systems.transformer import Transformer
from regard.text.gaps import Gapped
from tests.cli.shell import fine
from tests.helpers import refused, same
from tests.interop.cases import CASES
from tests.interop.folders import changed
from tests.interop.translators import two_models

PLAIN = {"norm": "post", "width": 14, "heads": 2, "depth": 1, "hidden": 23, "context": 31}


@pytest.fixture
def imported(tmp_path: Path) -> Any:
    """A run of a case."""

    def of(name: str) -> Any:
        CASES[name].write(tmp_path / "there")
        import_model(tmp_path / "there", tmp_path / "run")
        return load(tmp_path / "run")

    return of


def cutter(folder: Path) -> Any:
    """Their tokenizer, which would like another package for what it never does."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Recommended")
        return transformers.AutoTokenizer.from_pretrained(folder)


TEXTS = (
    *("it was too tired", "the Straße and the Apfel", ">>deu<< A boy", "  a  b ", "ß", "Déjà vu: the café's façade"),
    *("東京 and Zürich", "<pad> the </s>", "the road⁠ crossed"),
)


@pytest.mark.parametrize("without", ["", "he"])
def test_marian_cuts_texts_as_there(without: str, tmp_path: Path) -> None:
    """A piece of the model for sources without a number is unknown; a word of targets is never found in a source."""
    CASES["marian"].write(tmp_path)
    rows = two_models(tmp_path, without=without)
    given = {"decoder_start_token_id": 2}
    tokenizer, *_ = read(Folder(tmp_path), FAMILIES["marian"].symbols, given, rows)
    theirs = cutter(tmp_path)
    for text in TEXTS[:7]:
        assert tokenizer.encode(text) == theirs(text, add_special_tokens=False)["input_ids"], text
    assert (1 in tokenizer.encode("the")) is bool(without)
    assert not {0, 2} & {*tokenizer.encode(TEXTS[7])}
    assert tokenizer.encode(TEXTS[8]) == tokenizer.encode("the road crossed")


def test_marian_reads_back_what_only_targets_have(imported: Any, tmp_path: Path) -> None:
    run = imported("marian")
    theirs = cutter(tmp_path / "there")
    text = "Das Huhn überquerte die Straße nicht, weil es müde war."
    german = theirs(text_target=text, add_special_tokens=False)["input_ids"]
    assert 1 not in german and german != run.tokenizer.encode(text)
    assert run.tokenizer.decode([2, *german, 0]) == text


def test_the_padding_is_never_written(imported: Any) -> None:
    """It is the likeliest token of all, and what is written begins with it."""
    run = imported("marian")
    source, settings = run.tokenizer.encode("it was too tired"), Decode(max_tokens=7)
    memory = run.model.encode(torch.tensor([[*source, run.tokenizer.end]]))
    assert int(run.model.decode(torch.tensor([[2]]), memory).argmax()) == 2 == run.tokenizer.start
    for how in (settings, replace(settings, beam=3), replace(settings, temperature=5.0)):
        (found,) = generate(run.model, run.tokenizer, how, sources=[source])
        assert all(2 not in each.tokens for each in found)


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("tokenizer_config.json", {"separate_vocabs": True}, "separate_vocabs"),
        ("config.json", {"decoder_vocab_size": 7}, "two vocabularies in one model"),
        ("config.json", {"share_encoder_decoder_embeddings": False}, "two vocabularies in one model"),
        ("vocab.json", {"one": 10**9}, "are not numbered from 0"),
        ("vocab.json", {"one": "two"}, "are not numbered from 0"),
    ],
)
def test_two_vocabularies_are_refused(name: str, settings: dict[str, Any], words: str, tmp_path: Path) -> None:
    CASES["marian"].write(tmp_path / "there")
    changed(tmp_path / "there", name, **settings)
    with refused(words):
        import_model(tmp_path / "there", tmp_path / "run")


@pytest.mark.parametrize(
    ("case", "settings", "words"),
    [
        ("t5", {"relative_attention_num_buckets": 16}, "relative_attention_num_buckets = 16 is not supported"),
        ("t5", {"feed_forward_proj": "gated-tanh"}, "feed_forward_proj = 'gated-tanh' is not supported"),
        ("t5", {"num_decoder_layers": 10**9}, "decoder_depth = 1000000000"),
        ("t5", {"extra_ids": 10**12}, "extra_ids = 1000000000000"),
        ("marian", {"decoder_ffn_dim": 7}, "decoder_ffn_dim = 7 and the encoder has 37: not supported"),
        ("bart", {"activation_function": "tanh"}, "activation_function = 'tanh' is not supported"),
        ("bart", {"max_position_embeddings": 7}, "the configuration asks for [9, 24]"),
    ],
)
def test_what_is_not_here_is_refused(case: str, settings: dict[str, Any], words: str, tmp_path: Path) -> None:
    CASES[case].write(tmp_path / "there")
    changed(tmp_path / "there", "config.json", **settings)
    with refused(words):
        import_model(tmp_path / "there", tmp_path / "run")


def test_a_t5_translates_and_fills_gaps(imported: Any) -> None:
    """The last sentinel has the first number behind the pieces, as there."""
    run = imported("t5")
    assert run.recipe.objective == Translation(smoothing=0.0)
    sentinels = [run.tokenizer.symbol(name) for name in SpanCorruption().symbols]
    assert sentinels == list(range(134, 34, -1)) and len(run.tokenizer) == 140
    assert (run.tokenizer.start, run.tokenizer.pad, run.tokenizer.end) == (0, 0, 1)
    assert not {*sentinels} & {*run.tokenizer.encode("<extra_id_0> and <extra_id_99>")}
    cut = Gapped.cut("The boy ___ the road.", "unigram")
    assert cut.text(run.tokenizer, [run.tokenizer.encode("was too")]) == "The boy was too the road."
    assert (
        fine("translate", run.path, "--text", "The boy", "--max-tokens", "3", "--json").json[0]["source"] == "The boy"
    )
    (found,) = fine("fill", run.path, "--text", "The boy ___ the road.", "--json").json
    assert found["filled"].startswith("The boy") and len(found["gaps"]) == 1


def test_a_bart_begins_every_text(imported: Any, tmp_path: Path) -> None:
    run = imported("bart")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "there")
    text = "The boy didn't cross."
    words = theirs(text, add_special_tokens=False)["input_ids"]
    assert run.tokenizer.encode(text) == [0, *words]
    assert run.tokenizer.begun([]) == [2]
    assert run.tokenizer.decode([2, 0, *words, 2]) == text
    export_model(run.path, tmp_path / "out")
    assert "forced_bos_token_id" not in json.loads((tmp_path / "out" / "generation_config.json").read_text())
    again = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    assert again(text)["input_ids"] == [0, *words, 2] and again.bos_token == "<s>"


def test_a_bart_may_be_forced_to_begin_so(tmp_path: Path) -> None:
    CASES["bart"].write(tmp_path / "there")
    changed(tmp_path / "there", "generation_config.json", forced_bos_token_id=0)
    found = import_model(tmp_path / "there", tmp_path / "run")
    assert found.tokenizer.begun([]) == [2, 0]
    assert export_model(tmp_path / "run", tmp_path / "out").compared.passed
    said = json.loads((tmp_path / "out" / "generation_config.json").read_text())
    assert (said["decoder_start_token_id"], said["forced_bos_token_id"], said["bos_token_id"]) == (2, 0, 0)


@pytest.mark.parametrize("width", [2, 5, 6, 13])
def test_sines_before_cosines_are_pairs_in_another_order(width: int) -> None:
    theirs = transformers.models.marian.modeling_marian.MarianSinusoidalPositionalEmbedding(11, width).create_weight()
    mine = Transformer(**{**PLAIN, "width": width, "heads": 1}).build(3).encoder.embedding.position.table
    same(mine(torch.arange(11)[None])[0], theirs[:, halves(width)], rtol=0, atol=1e-5)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small translator of our own."""
    recipe = {
        "data": {"train": "road"},
        "text": {"kind": "word"},
        "system": {"kind": "transformer", **PLAIN, "tied": "all"},
        "objective": {"kind": "translation"},
        "train": {"steps": 3, "batch_tokens": 256, "device": "cpu"},
    }
    out = tmp_path_factory.mktemp("own") / "run"
    regard.train(Recipe.parse(recipe, where="own"), out)
    return out


@torch.no_grad()
def test_a_translator_of_ours_is_a_marian(trained: Path, tmp_path: Path) -> None:
    found = export_model(trained, tmp_path / "out")
    assert found.kind == "marian" and found.compared.passed
    run, theirs = load(trained), transformers.MarianMTModel.from_pretrained(tmp_path / "out").eval()
    source, tokens = torch.randint(4, 40, (3, 11)), torch.randint(4, 40, (3, 7))
    wanted = run.model.decode(tokens, run.model.encode(source))
    same(theirs(input_ids=source, decoder_input_ids=tokens).logits, wanted, rtol=0, atol=1e-4)
    again = import_model(tmp_path / "out", tmp_path / "again")
    assert again.recipe.system == replace(run.recipe.system, hidden=23, groups=0)
    assert all(torch.equal(again.model.state_dict()[name], x) for name, x in run.model.state_dict().items())


@pytest.mark.parametrize(
    "settings",
    [
        {"norm": "pre"},
        {"position": "rotary"},
        {"position": "learned"},
        {"position": "sinusoidal-fairseq"},
        {"tied": "output"},
        {"epsilon": 1e-6},
        {"normalizer": "rms"},
        {"embedding_norm": True},
        {"feedforward": "swiglu"},
        {"bias": False},
        {"attention": "local"},
        {"groups": 1},
        {"head_width": 5},
        {"score": "dot"},
        {"position_at": "heads"},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_what_marian_cannot_say_is_refused(settings: dict[str, Any]) -> None:
    system = Transformer(**{**PLAIN, **settings})
    (name,) = settings
    with refused(f"system.{name} = "):
        FAMILIES["marian"].config(Model(system, Translation()), 11)
