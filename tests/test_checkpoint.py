"""A run folder that is whole loads to the last bit; one that is not stops with a line that says why."""

import errno
import json
import os
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import regard
from regard.attention.schemes import POSITIONS, TREES
from regard.checkpoint import (
    CONFIG,
    FORMAT,
    LABELS,
    TOKENIZER,
    WEIGHTS,
    is_run,
    load,
    read_json,
    read_tensors,
    weights,
    write,
    write_json,
    write_model,
    write_setup,
    write_tensors,
)
from regard.errors import UserError, WorldError
from regard.longer import way_to_read
from regard.place import Place
from regard.systems import SYSTEMS, System, built
from regard.text import Text, Tokenizer
from tests.helpers import recipe, refused

LETTERS = Tokenizer.train(["abcdefg"], Text(kind="char"))


def written(folder: Path, kind: str = "gpt", **system: object) -> torch.nn.Module:
    """A run that was never trained, and the model in it."""
    made = recipe(kind, system=system)
    labels = ("bad", "good", "odd") if made.objective.label else ()
    model = built(made.system, len(LETTERS), len(labels), made.objective.head)
    write_setup(folder, made, LETTERS, labels)
    write_model(folder, weights(model), LETTERS)
    return model


@pytest.mark.parametrize(
    ("kind", "tied"),
    [("gpt", True), ("gpt", False), ("transformer", "all"), ("transformer", "output"), ("transformer", "none")],
)
def test_saved_is_loaded_to_the_last_bit_and_tied_weights_are_still_tied(
    tmp_path: Path, kind: str, tied: object
) -> None:
    model = written(tmp_path, kind, tied=tied)
    again = load(tmp_path).model
    assert not again.training
    for (name, a), (other, b) in zip(
        model.named_parameters(remove_duplicate=False), again.named_parameters(remove_duplicate=False), strict=True
    ):
        assert name == other
        assert torch.equal(a, b)
    assert (again.output.rows.weight is again.decoder.embedding.rows.weight) == (tied not in (False, "none"))
    names = set(read_tensors(tmp_path / WEIGHTS)[0])
    assert len(names) == len(list(model.parameters())), "what is tied is written once"


@pytest.mark.parametrize("kind", SYSTEMS)
def test_the_configuration_and_the_tokenizer_come_back(tmp_path: Path, kind: str) -> None:
    written(tmp_path, kind)
    run = load(str(tmp_path))
    assert run.recipe == recipe(kind)
    assert run.tokenizer.fingerprint == LETTERS.fingerprint
    assert run.path == tmp_path
    assert is_run(tmp_path)


def test_labels_come_back_in_their_order(tmp_path: Path) -> None:
    model = written(tmp_path, "rnn-encoder")
    run = load(tmp_path)
    assert run.labels == ("bad", "good", "odd") and run.model.labels == 3
    tokens = torch.tensor([[2, 5, 7, 3]])
    assert torch.equal(run.model.answer(tokens), model.eval().answer(tokens))
    assert load(written_to(tmp_path / "gpt")).labels == ()


def written_to(folder: Path) -> Path:
    written(folder)
    return folder


@pytest.mark.parametrize("content", ["{}", '["one"]', '["one", 2]', "null"])
def test_labels_that_are_damaged_or_gone_are_told(tmp_path: Path, content: str) -> None:
    written(tmp_path, "rnn-encoder")
    (tmp_path / LABELS).write_text(content)
    with refused(f"{tmp_path / LABELS} is damaged: it is no list of names"):
        load(tmp_path)
    (tmp_path / LABELS).unlink()
    with refused("labels.json is missing"):
        load(tmp_path)


def test_another_number_of_labels_does_not_fit_the_weights(tmp_path: Path) -> None:
    written(tmp_path, "rnn-encoder")
    write_json(tmp_path / LABELS, ["bad", "good"])
    with refused("tensor 'head.rows.weight' has shape [3, 16], the configuration asks for [2, 16]"):
        load(tmp_path)


def test_every_flipped_byte_is_noticed(tmp_path: Path) -> None:
    """In the names, the notes and the numbers alike."""
    path = tmp_path / "a.safetensors"
    write_tensors(path, {"b": torch.randn(3, 5), "a": torch.arange(7)}, {"progress": '{"step": 17}', "tokenizer": "x"})
    whole = path.read_bytes()
    read_tensors(path)
    for place in range(len(whole)):
        for bit in (1, 32):
            damaged = bytearray(whole)
            damaged[place] ^= bit
            path.write_bytes(damaged)
            with pytest.raises(UserError, match=r"is damaged|has format"):
                read_tensors(path)


@pytest.mark.parametrize("part", [0.0, 0.01, 0.5, 0.999])
def test_a_truncated_file_is_noticed(tmp_path: Path, part: float) -> None:
    written(tmp_path)
    content = (tmp_path / WEIGHTS).read_bytes()
    (tmp_path / WEIGHTS).write_bytes(content[: int(part * len(content))])
    with refused(f"{tmp_path / WEIGHTS} is damaged"):
        load(tmp_path)


def test_tensors_of_somebody_else_are_refused(tmp_path: Path) -> None:
    model = written(tmp_path)
    save_file({name: tensor.detach() for name, tensor in weights(model).items()}, tmp_path / WEIGHTS)
    with refused("its content does not match its hash"):
        load(tmp_path)


def test_a_tokenizer_from_elsewhere_is_refused(tmp_path: Path) -> None:
    written(tmp_path)
    other = Tokenizer.train(["hijklmn"], Text(kind="char"))
    assert len(other) == len(LETTERS)
    (tmp_path / TOKENIZER).write_text(other.to_json())
    with refused(f"{TOKENIZER} is not the tokenizer that {tmp_path / WEIGHTS} was trained with"):
        load(tmp_path)
    for text in ("{", "{}", "", "null"):
        (tmp_path / TOKENIZER).write_text(text)
        with refused(f"{tmp_path / TOKENIZER} is damaged"):
            load(tmp_path)


@pytest.mark.parametrize("kind", ["char", "byte", "word", "bpe", "byte-bpe", "wordpiece", "unigram"])
def test_every_kind_of_tokenizer_belongs_to_its_run_after_loading(tmp_path: Path, kind: str) -> None:
    tokenizer = Tokenizer.train(["a boy is eating an apple\n" * 7], Text(kind=kind))
    made = recipe("gpt", text={"kind": kind})
    write_setup(tmp_path, made, tokenizer)
    write_model(tmp_path, weights(made.system.build(len(tokenizer))), tokenizer)
    assert load(tmp_path).tokenizer.encode("an apple") == tokenizer.encode("an apple")


def test_a_newer_format_asks_for_an_update(tmp_path: Path) -> None:
    written(tmp_path)
    values = json.loads((tmp_path / CONFIG).read_text())
    (tmp_path / CONFIG).write_text(json.dumps({**values, "format": FORMAT + 1}))
    with refused(f"{tmp_path} was written by a newer Regard; this one reads format {FORMAT}: update it"):
        load(tmp_path)
    save_file({"a": torch.zeros(1)}, tmp_path / "b.safetensors", metadata={"format": str(FORMAT + 1)})
    with refused(f"has format {FORMAT + 1}; this Regard reads up to {FORMAT}: update it"):
        read_tensors(tmp_path / "b.safetensors")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (CONFIG, "is no run: config.json is missing"),
        (TOKENIZER, "has no tokenizer.json"),
        (WEIGHTS, "has no model.safetensors yet: its training did not reach a checkpoint"),
    ],
)
def test_a_missing_file_is_named(tmp_path: Path, name: str, message: str) -> None:
    written(tmp_path)
    (tmp_path / name).unlink()
    with refused(f"{tmp_path} {message}"):
        load(tmp_path)


def test_what_is_no_folder_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "none", tmp_path / "file"):
        with refused(f"no such run: {path}"):
            load(path)
        assert not is_run(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is damaged"),
        ("[]", "it holds no settings"),
        ('{"format": "1"}', "its format is '1'"),
        ('{"format": 1, "sytem": {}}', "no section 'sytem'; did you mean 'system'?"),
        ("\xff", "is damaged"),
    ],
)
def test_a_damaged_configuration_is_named(tmp_path: Path, text: str, message: str) -> None:
    written(tmp_path)
    (tmp_path / CONFIG).write_bytes(text.encode("latin-1"))
    with refused(message) as caught:
        load(tmp_path)
    assert str(tmp_path / CONFIG) in str(caught.value)


def test_weights_that_do_not_fit_the_configuration_are_named(tmp_path: Path) -> None:
    model = written(tmp_path)
    tensors = weights(model)
    name = "decoder.blocks.0.attention.output.weight"
    for changed, message in (
        ({key: tensor for key, tensor in tensors.items() if key != name}, f"tensor '{name}' is missing"),
        (
            {**tensors, name: torch.zeros(3, 5)},
            f"tensor '{name}' has shape [3, 5], the configuration asks for [16, 16]",
        ),
        ({**tensors, "extra": torch.zeros(3)}, "tensor 'extra' has no place in this model"),
    ):
        write_model(tmp_path, changed, LETTERS)
        with refused(message):
            load(tmp_path)


@pytest.mark.parametrize("kind", ["gpt", "bert", "transformer"])
@pytest.mark.parametrize("position", [name for name in POSITIONS if name not in ("learned", *TREES)])
def test_a_run_may_read_longer_texts_than_it_was_trained_on(tmp_path: Path, kind: str, position: str) -> None:
    """The same weights, so what it was trained on it reads as before."""
    model = written(tmp_path, kind, position=position).eval()
    run = load(tmp_path, context=61)
    assert (run.model.limit, run.recipe.system.context) == (61, 61)
    tokens = torch.randint(len(LETTERS), (2, 59), generator=torch.manual_seed(5))
    short = Place.line(tokens[:, :19])
    for one, other in zip(read(model, tokens[:, :19], short), read(run.model, tokens[:, :19], short), strict=True):
        assert torch.equal(one, other)
    assert all(torch.isfinite(out).all() for out in read(run.model, tokens, Place.line(tokens)))


def read(model: System, tokens: torch.Tensor, at: Place) -> list[torch.Tensor]:
    """All that a model makes of a text, with its source where it reads one."""
    if not model.writes_text:
        return [model.embed(tokens, at)]
    memory = model.encode(tokens) if model.reads_source else None
    return [model.decode(tokens, memory, at=at)]


@pytest.mark.parametrize(
    ("kind", "system", "message"),
    [
        (
            "gpt",
            {"position": "learned"},
            "has weights for each of 23 places (system.position = 'learned'): its context cannot become 61; "
            "train with system.context = 61, or with another system.position, such as 'rotary'",
        ),
        (
            "bert",
            {"attention": "linformer", "projected": 7, "position": "rotary"},
            "(system.attention = 'linformer'): its context cannot become 61; "
            "train with system.context = 61, or with another system.attention, such as 'full'",
        ),
        (
            "bert",
            {"attention": "linformer", "projected": 7, "position": "learned"},
            "(system.position = 'learned' and system.attention = 'linformer'): its context cannot become 61",
        ),
        ("convs2s", {}, "each of 23 places: its context cannot become 61; train with system.context = 61"),
        ("rnn-lm", {}, "reads texts of any length: a context of 61 would change nothing"),
    ],
)
def test_a_run_that_cannot_read_longer_texts_says_why(tmp_path: Path, kind: str, system: dict, message: str) -> None:
    written(tmp_path, kind, **system)
    with refused(message):
        load(tmp_path, context=61)


@pytest.mark.parametrize(
    ("position", "way"),
    [("rotary", "--context 61 would read all"), ("learned", "a run with system.context = 61 would read all")],
)
def test_the_way_to_read_a_longer_text_is_one_that_there_is(tmp_path: Path, position: str, way: str) -> None:
    written(tmp_path, "bert", position=position)
    assert way_to_read(load(tmp_path), 61) == way


def test_the_way_to_read_a_longer_text_is_found_without_a_model(tmp_path: Path) -> None:
    """Nothing is drawn from the generator of whoever asks."""
    written(tmp_path, "bert", position="learned")
    run, before = load(tmp_path), torch.get_rng_state()
    way_to_read(run, 61)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_context_that_there_cannot_be_is_no_way_to_read(tmp_path: Path) -> None:
    written(tmp_path, "bert", attention="local", block=7, position="rotary", pool="mean")
    assert way_to_read(load(tmp_path), 7).startswith("there is no context of 7: system.attention = 'local' sees a bl")


def test_a_context_that_its_settings_refuse_is_named(tmp_path: Path) -> None:
    written(tmp_path, "bert", attention="local", block=7, position="rotary", pool="mean")
    with refused(f"{tmp_path} cannot read texts with a context of 7: system.attention = 'local' sees a block of 7"):
        load(tmp_path, context=7)


@pytest.mark.parametrize("failing", ["fsync", "replace", "open"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"old": True})

    def no_room(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(*(os, "fsync") if failing == "fsync" else (Path, failing), no_room)
        with refused(f"cannot write {path}: No space left on device; what was there before is untouched", WorldError):
            write_json(path, {"new": True})
    assert read_json(path) == {"old": True}
    assert [other.name for other in tmp_path.iterdir()] == ["a.json"]


def test_a_file_is_whole_under_its_name_at_every_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written and synced under another name, then renamed: whoever reads in between sees the old one."""
    path, seen = tmp_path / "a.bin", []
    write(path, b"old")
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: seen.append(path.read_bytes()) or real(handle))
    write(path, b"new" * 1000)
    assert seen == [b"old"]
    assert path.read_bytes() == b"new" * 1000


def test_nothing_is_pickled_anywhere() -> None:
    found = [
        f"{path.name}: {line.strip()}"
        for path in Path(regard.__file__).parent.rglob("*.py")
        for line in path.read_text().splitlines()
        if re.search(
            r"import pickle|pickle\.|torch\.save\(|torch\.load\(|allow_pickle=True|shelve|marshal|joblib", line
        )
        and "weights_only=True" not in line
    ]
    assert not found


def test_another_library_s_folder_is_told_from_a_run(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert", "hidden_size": 7}')
    with refused(f"{tmp_path} is no run but another library's model; 'regard import {tmp_path} --out RUN' makes one"):
        load(tmp_path)
