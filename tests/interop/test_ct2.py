"""CTranslate2: what is exported says the same there, what is imported the same here."""

import json
import random
from pathlib import Path
from typing import Any

import ctranslate2
import pytest
import sentencepiece
import torch
from ctranslate2.converters import TransformersConverter
from torch import Tensor

from regard.checkpoint import Run, load
from regard.decode import generate
from regard.decode.settings import Decode
from regard.errors import WorldError
from regard.interop import export_model, import_model
from regard.interop.ct2.checking import ALONE, compare
from regard.interop.ct2.names import turned_apart
from regard.interop.files.ctranslate2 import read as read_binary
from regard.interop.names import FUSED
from tests.helpers import refused, same
from tests.interop.cases import CASES as THEIRS
from tests.interop.ct2 import written
from tests.interop.folders import changed
from tests.interop.tiny import LINES, tiny

LLAMA = {"position": "rotary", "normalizer": "rms", "feedforward": "swiglu", "bias": False, "tied": False}
GROUPED = {**LLAMA, "heads": 4, "groups": 2, "head_width": 10, "rotary_base": 500.0, "rotary_factor": 3.0}
AFTER = {"scaled": False, "embedding_norm": True, "output_bias": True, "decoder_depth": 1, "bias_at": "heads"}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "sinusoids": ("transformer", {}),
    "post-norm": ("transformer", {"norm": "post", "tied": "output"}),
    "learned": ("transformer", {"position": "learned", "feedforward": "gelu", "tied": "none"}),
    "no-places": (
        "transformer",
        {"position": "none", "feedforward": "gelu-tanh", "normalizer": "rms", "epsilon": 1e-3},
    ),
    "rotary": ("transformer", {"position": "rotary", "groups": 1, "score": "dot", "head_width": 6, "bias": False}),
    "after-2017": ("transformer", {**AFTER, "position": "sinusoidal-fairseq", "feedforward": "silu"}),
    "gpt": ("gpt", {}),
    "gpt-post": ("gpt", {"norm": "post", "position": "sinusoidal", "feedforward": "geglu"}),
    "llama": ("gpt", LLAMA),
    "llama-grouped": ("gpt", GROUPED),
    "alibi": ("gpt", {"position": "alibi", "groups": 1}),
    "bert": ("bert", {"objective": "masked-pairs"}),
    "bert-pre": ("bert", {"norm": "pre", "segments": 0, "feedforward": "relu"}),
    "bert-labels": ("bert", {"objective": "classification", "labels": 3, "position": "rotary"}),
}
TABLES = ("sinusoidal", "sinusoidal-fairseq", "none")  # they come back as the rows that they are


@pytest.mark.parametrize("name", CASES)
@torch.no_grad()
def test_exported_and_imported_again_it_is_the_same_run(name: str, tmp_path: Path) -> None:
    kind, settings = CASES[name]
    run = tiny(tmp_path / "run", kind, **settings)
    found = export_model(tmp_path / "run", tmp_path / "out", to="ct2")
    assert found.compared.passed
    assert found.compared.difference > 0
    import_model(tmp_path / "out", tmp_path / "back")
    back = load(tmp_path / "back")
    changed = {"dropout": 0.0}
    if run.recipe.system.position in TABLES:
        changed["position"] = "learned"
    if run.recipe.system.position in ("rotary", "alibi"):
        changed["context"] = 512
    wanted = {**vars(run.recipe.system), **changed}
    assert vars(back.recipe.system) == wanted | {"pool": "first"} if kind == "bert" else wanted
    mine = run.model.state_dict()
    for at, tensor in back.model.state_dict().items():
        if at in mine:
            assert torch.equal(tensor, mine[at]), at
    assert [back.tokenizer.encode(line) for line in LINES] == [run.tokenizer.encode(line) for line in LINES]
    if run.model.writes_text:
        assert texts(back) == texts(run)
    else:
        assert {at for at in mine if not at.startswith("head.")} <= back.model.state_dict().keys()


def texts(run: Run, beam: int = 4) -> list[list[int]]:
    rows = [run.tokenizer.encode(line)[:17] for line in LINES]
    given = {"sources": rows} if run.model.reads_source else {"prompts": rows}
    return [row[0].tokens for row in generate(run.model, run.tokenizer, Decode(max_tokens=11, beam=beam), **given)]


@pytest.mark.parametrize("kind", ["transformer", "gpt", "bert"])
def test_a_model_that_says_something_else_is_seen(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tiny(tmp_path / "run", kind)
    export_model(tmp_path / "run", tmp_path / "out", to="ct2")
    with torch.no_grad():
        stack = run.model.encoder if kind == "bert" else run.model.decoder
        stack.blocks[1].attention.to_value.weight[3] += 0.1
    found = compare(run, tmp_path / "out")
    assert not found.passed
    assert found.difference > 3 * found.tolerance
    monkeypatch.setattr("regard.interop.ct2.writing.tied", lambda run, kept: {})
    monkeypatch.setattr("regard.interop.ct2.writing.spelled", wrongly_spelled)
    with refused("the export says something else than the run", WorldError):
        export_model(tmp_path / "run", tmp_path / "wrong", to="ct2")
    assert not (tmp_path / "wrong").exists()


def wrongly_spelled(table: Any, mine: dict[str, Tensor]) -> dict[str, Tensor]:
    """Keys and values have changed places."""
    from regard.interop.names import spelled

    found = spelled(table, mine)
    for words, output in (("decoder.embeddings", "decoder.projection"), ("decoder.embeddings", "encoder.embeddings_0")):
        if f"{words}.weight" in found:
            found[f"{output}.weight"] = found[f"{words}.weight"]
    if not any(name.startswith("encoder.layer") for name in found):
        del found["encoder.embeddings_0.weight"]
    for name, tensor in found.items():
        if "self_attention.linear_0" in name:
            query, key, value = tensor.chunk(3)
            found[name] = torch.cat((query, value, key))
    return found


def test_greedy_texts_that_part_at_a_tie_are_the_same(tmp_path: Path) -> None:
    from regard.interop.samples import same_greedily

    run = tiny(tmp_path / "run", "gpt")
    text = run.tokenizer.encode(LINES[0])[:9]
    (mine,) = generate(run.model, run.tokenizer, Decode(max_tokens=5), prompts=[text])
    tokens = mine[0].tokens
    other = (tokens[2] + 1) % len(run.tokenizer)
    assert same_greedily(run, text, tokens, tokens)
    assert not same_greedily(run, text, tokens, [*tokens[:2], other])
    assert not same_greedily(run, text, tokens, tokens[:2])
    with torch.no_grad():
        run.model.output.rows.weight[other] = run.model.output.rows.weight[tokens[2]]
    assert same_greedily(run, text, tokens, [*tokens[:2], other])


@pytest.mark.parametrize(
    ("kind", "settings", "words"),
    [
        ("gpt", {"attention": "local", "block": 8}, "system.attention = 'local' cannot be said there, only full"),
        ("transformer", {"position": "shaw"}, "system.position = 'shaw' cannot be said there, only sinusoidal"),
        ("transformer", {"position": "alibi"}, "system.position = 'alibi' cannot be said there of an encoder"),
        ("gpt", {"position_at": "heads"}, "system.position_at = 'heads' cannot be said there, only input"),
        ("gpt", {"score": "additive"}, "system.score = 'additive' cannot be said there, only scaled-dot, dot"),
        ("gpt", {"feedforward": "experts"}, "system.feedforward = 'experts' cannot be said there"),
        (
            "gpt",
            {**LLAMA, "rotary_factor": 2.0, "rotary_context": 16},
            "system.rotary_context = 16 cannot be said there, only 0",
        ),
        ("t5", {}, "system.position = 'buckets' cannot be said there"),
        ("gpt", {"objective": "classification", "labels": 2}, "no model of CTranslate2 is like system.kind = 'gpt'"),
    ],
)
def test_what_cannot_be_said_there_is_refused(kind: str, settings: dict[str, Any], words: str, tmp_path: Path) -> None:
    tiny(tmp_path / "run", kind, **settings)
    with refused(words):
        export_model(tmp_path / "run", tmp_path / "out", to="ct2")
    assert not (tmp_path / "out").exists()


def test_it_is_framed_there_as_here(tmp_path: Path) -> None:
    """Sources end, targets begin; the vocabulary is shared, and there is a tokenizer beside it."""
    run = tiny(tmp_path / "run", "transformer")
    export_model(tmp_path / "run", tmp_path / "out", to="ct2")
    config = json.loads((tmp_path / "out/config.json").read_text())
    assert config["add_source_eos"]
    assert not config["add_source_bos"]
    assert (config["decoder_start_token"], config["eos_token"], config["unk_token"]) == ("<s>", "</s>", "<unk>")
    words = json.loads((tmp_path / "out/shared_vocabulary.json").read_text())
    assert words == [run.tokenizer.piece(i) for i in range(len(run.tokenizer))]


@pytest.mark.parametrize(
    ("how", "near"), [("int8", 0.02), ("int16", 2e-3), ("float16", 1e-3), ("bfloat16", 8e-3), ("int8_float16", 0.02)]
)
def test_numbers_of_few_bits_become_floats(how: str, near: float, tmp_path: Path) -> None:
    run = tiny(tmp_path / "run", "transformer")
    folder = written(run, tmp_path / "out", quantization=how)
    found = import_model(folder, tmp_path / "back")
    assert found.recipe.system.tied == "all"
    mine = run.model.state_dict()
    for name, tensor in found.model.state_dict().items():
        if name in mine:
            farthest = float((tensor - mine[name]).abs().max())
            assert farthest <= near * float(mine[name].abs().max()), name


def test_whole_numbers_are_divided_by_the_scale_of_their_row(tmp_path: Path) -> None:
    run = tiny(tmp_path / "run", "gpt")
    found = read_binary(written(run, tmp_path / "out", quantization="int8") / "model.bin")
    weight = run.model.decoder.blocks[0].feedforward.widen.weight
    got = found.tensors["decoder/layer_0/ffn/linear_0/weight"]
    for row, wanted in zip(got.tolist(), weight.tolist(), strict=True):
        scale = 127.0 / max(map(abs, wanted))
        assert row == pytest.approx([round(value * scale) / scale for value in wanted], abs=1e-6)


@torch.no_grad()
def test_where_no_places_are_given_they_are_sinusoids_of_opennmt(tmp_path: Path) -> None:
    run = tiny(tmp_path / "run", "transformer")

    def without(spec: Any) -> None:
        for side in (spec.encoder, spec.decoder):
            side.position_encodings.encodings = ctranslate2.specs.model_spec.OPTIONAL

    folder = written(run, tmp_path / "out", change=without)
    found = import_model(folder, tmp_path / "back")
    assert found.recipe.system.position == "sinusoidal-opennmt"
    assert "here a text has at most 512 tokens" in found.about["remarks"][0]
    back, there = load(tmp_path / "back"), ctranslate2.Translator(str(folder), **ALONE)
    ids = run.tokenizer.encode(LINES[1])
    pieces = [run.tokenizer.piece(i) for i in ids]
    source = torch.tensor([[*ids, run.tokenizer.end]])
    scores = back.model.decode(torch.tensor([[run.tokenizer.start, *ids]]), back.model.encode(source)).log_softmax(-1)
    wanted = torch.tensor(there.score_batch([pieces], [pieces])[0].log_probs)
    same(scores[0].gather(1, source.T)[:, 0], wanted, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", ["gpt2-untied", "llama", "qwen2"])
@torch.no_grad()
def test_what_their_own_converter_makes_is_read(name: str, tmp_path: Path) -> None:
    """Rotary heads there turn by halves, here by neighbours."""
    theirs = THEIRS[name].write(tmp_path / "hf")
    files = ["tokenizer.json"] if (tmp_path / "hf/tokenizer.json").exists() else None
    TransformersConverter(str(tmp_path / "hf"), copy_files=files).convert(str(tmp_path / "ct2"))
    run = import_model(tmp_path / "ct2", tmp_path / "run")
    tokens = torch.randint(len(run.tokenizer), (3, 13), generator=torch.Generator().manual_seed(2))
    same(run.model.decode(tokens), theirs(tokens).logits, rtol=0, atol=1e-4)


def test_heads_that_turn_by_halves_come_back() -> None:
    each, change = 6, turned_apart(6)
    query, key, value = torch.randn(12, 5), torch.randn(6, 5), torch.randn(6, 5)
    shapes = [(12, 5), (6, 5), (6, 5)]
    fused = change.back([query, key, value])
    assert all(map(torch.equal, change.into(fused, shapes), (query, key, value)))
    there = FUSED.into(fused, shapes)[0]
    for head in range(2):
        for i in range(each):
            half, pair = i % 2, i // 2
            assert torch.equal(there[head * each + half * each // 2 + pair], query[head * each + i])


def test_without_a_tokenizer_text_is_tokens_with_blanks_between(tmp_path: Path) -> None:
    run = tiny(tmp_path / "run", "transformer")
    found = import_model(written(run, tmp_path / "out"), tmp_path / "back")
    assert "it must be given as tokens with blanks between them" in found.about["remarks"][-1]
    pieces = [run.tokenizer.piece(i) for i in run.tokenizer.encode(LINES[0])]
    assert found.tokenizer.encode(" ".join(pieces)) == run.tokenizer.encode(LINES[0])
    assert found.tokenizer.encode("nothing-of-it <s>") == [run.tokenizer.unknown] * 3
    assert texts(load(tmp_path / "back"))  # the symbols are those of the vocabulary
    assert (found.tokenizer.start, found.tokenizer.end) == (run.tokenizer.start, run.tokenizer.end)


def test_pieces_of_sentencepiece_get_the_numbers_of_the_vocabulary(tmp_path: Path) -> None:
    kind, words = train_pieces(tmp_path / "spm"), []
    run = tiny(tmp_path / "run", "transformer")
    folder = written(run, tmp_path / "out")
    words = [kind.id_to_piece(i) for i in range(kind.get_piece_size())]
    random.Random(3).shuffle(words)
    rows = len(run.tokenizer)
    assert len(words) <= rows
    words += [f"<more {i}>" for i in range(rows - len(words))]
    (folder / "shared_vocabulary.json").write_text(json.dumps(words))
    (tmp_path / "spm.model").rename(folder / "source.spm")
    other = train_pieces(tmp_path / "other", 41)
    (tmp_path / "other.model").rename(folder / "target.spm")
    found = import_model(folder, tmp_path / "back")
    assert found.about["remarks"] == []
    for line in LINES:
        assert [words[i] for i in found.tokenizer.encode(line)] == kind.encode(line, out_type=str)
        assert found.tokenizer.decode(found.tokenizer.encode(line)) == line
        cut = [piece if piece in words else "<unk>" for piece in other.encode(line, out_type=str)]
        assert [words[i] for i in found.tokenizer.target.encode(line)] == cut
    assert found.tokenizer.encode(LINES[0]) != found.tokenizer.target.encode(LINES[0])
    (folder / "target.spm").write_bytes(b"")
    with refused("target.spm is damaged"):
        import_model(folder, tmp_path / "other")


def train_pieces(path: Path, size: int = 50) -> Any:
    lines = path.with_suffix(".txt")
    lines.write_text("\n".join(LINES * 20))
    sentencepiece.SentencePieceTrainer.train(
        input=str(lines), model_prefix=str(path), vocab_size=size, minloglevel=2, hard_vocab_limit=False
    )
    return sentencepiece.SentencePieceProcessor(model_file=f"{path}.model")


def test_all_that_ends_a_text_ends_it_there_and_comes_back(tmp_path: Path) -> None:
    """The third token of what is written is made an end."""
    THEIRS["llama"].write(tmp_path / "there")
    import_model(tmp_path / "there", tmp_path / "one")
    run = load(tmp_path / "one")
    text = run.tokenizer.encode("A boy is eating an apple.")
    tokens = generate(run.model, run.tokenizer, Decode(max_tokens=6), prompts=[text])[0][0].tokens
    for name in ("config.json", "generation_config.json"):
        changed(tmp_path / "there", name, eos_token_id=[run.tokenizer.end, tokens[2]])
    import_model(tmp_path / "there", tmp_path / "several")
    assert export_model(tmp_path / "several", tmp_path / "out", to="ct2").compared.passed
    import_model(tmp_path / "out", tmp_path / "back")
    back = load(tmp_path / "back")
    assert back.tokenizer.ends == {run.tokenizer.end, tokens[2]}
    assert generate(back.model, back.tokenizer, Decode(max_tokens=6), prompts=[text])[0][0].tokens == tokens[:2]


def test_what_is_never_written_comes_back(tmp_path: Path) -> None:
    THEIRS["marian"].write(tmp_path / "there")
    import_model(tmp_path / "there", tmp_path / "run")
    export_model(tmp_path / "run", tmp_path / "out", to="ct2")
    import_model(tmp_path / "out", tmp_path / "back")
    assert load(tmp_path / "back").tokenizer.habits.never == load(tmp_path / "run").tokenizer.habits.never == (2,)
