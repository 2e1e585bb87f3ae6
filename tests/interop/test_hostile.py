"""Files of anyone: what is damaged, claims what it does not hold or plays tricks ends in one line, and runs nothing."""

import json
import random
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertModel

from regard.errors import UserError
from regard.interop import import_model
from regard.interop.files.hugging_face import Folder, tensors_of
from regard.interop.files.pickled import first_line
from regard.interop.formats.fairseq import opened
from tests.helpers import refused
from tests.interop import fairseq
from tests.interop.cases import CASES
from tests.interop.folders import changed, written


@pytest.fixture
def source(tmp_path: Path) -> Path:
    written(tmp_path / "source", BertModel)
    return tmp_path / "source"


class Bomb:
    def __reduce__(self):
        return (Path.touch, (Path("exploded"),))


def test_nothing_in_a_pickle_is_executed(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (source / "model.safetensors").unlink()
    for content in ({"embeddings.word_embeddings.weight": Bomb()}, {"step": 7}, [torch.zeros(2)]):
        torch.save(content, source / "pytorch_model.bin")
        with refused("holds more than"):
            import_model(source, tmp_path / "run")
    assert not (tmp_path / "exploded").exists()


def test_a_folder_that_is_damaged_or_no_model_is_refused(source: Path, tmp_path: Path) -> None:
    with refused("no such file or folder"):
        import_model(tmp_path / "none", tmp_path / "run")
    (tmp_path / "empty").mkdir()
    with refused("has no config.json: it is no model to import"):
        import_model(tmp_path / "empty", tmp_path / "run")
    (source / "model.safetensors").write_bytes(b"\x00" * 50)
    with refused("model.safetensors is damaged"):
        import_model(source, tmp_path / "run")
    (source / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 7\n")
    with refused("only points to a file of Git LFS"):
        import_model(source, tmp_path / "run")
    (source / "model.safetensors").unlink()
    with refused("has no model.safetensors and no model.safetensors.index.json and no pytorch_model.bin and no"):
        import_model(source, tmp_path / "run")
    for text, words in (("{", "config.json is damaged"), ("[]", "config.json is damaged: it holds no settings")):
        (source / "config.json").write_text(text)
        with refused(words):
            import_model(source, tmp_path / "run")


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ({"a": "../secret.safetensors"}, "names '../secret.safetensors', which is no file of this folder"),
        ({"a": "/etc/passwd"}, "names '/etc/passwd', which is no file of this folder"),
        ({"a": "..\\secret"}, "which is no file of this folder"),
        ({"a": ".."}, "has no ..: it is no model to import"),
        ({"a": "gone.safetensors"}, "has no gone.safetensors"),
        ({"a": 7}, "does not say which file each tensor is in"),
        ([], "does not say which file each tensor is in"),
    ],
)
def test_names_of_files_play_no_tricks(places: Any, words: str, source: Path, tmp_path: Path) -> None:
    (source / "model.safetensors").rename(tmp_path / "secret.safetensors")
    (source / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    with refused(words):
        import_model(source, tmp_path / "run")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is damaged"),
        (b"\xff" * 8 + b"{}", "is damaged"),  # a header longer than any file
        (b"\x02\x00\x00\x00\x00\x00\x00\x00{", "is damaged"),
        (b"\x30\x00\x00\x00\x00\x00\x00\x00" + b'{"a":{"dtype":"F32","shape":[9999999999999],"da', "is damaged"),
    ],
)
def test_absurd_headers_end_in_one_line(content: bytes, words: str, source: Path, tmp_path: Path) -> None:
    (source / "model.safetensors").write_bytes(content)
    with refused(words):
        import_model(source, tmp_path / "run")


def test_a_file_that_was_cut_off_is_refused(source: Path, tmp_path: Path) -> None:
    whole = (source / "model.safetensors").read_bytes()
    for kept in (len(whole) - 1, len(whole) // 2, 100):
        (source / "model.safetensors").write_bytes(whole[:kept])
        with refused("model.safetensors is damaged"):
            import_model(source, tmp_path / "run")


WORDS = "embeddings.word_embeddings.weight"


def pickled(source: Path, **changes: Any) -> None:
    """The tensors of a folder as a pickle, some of them changed."""
    tensors = load_file(source / "model.safetensors")
    (source / "model.safetensors").unlink()
    torch.save({**tensors, **changes}, source / "pytorch_model.bin")


@pytest.mark.parametrize(
    "claimed",
    [
        torch.zeros(1).expand(10**13, 12),
        torch.zeros(12).expand(10**6, 12),
        torch.empty(10**13, 12, device="meta"),
        torch.sparse_coo_tensor(torch.zeros(2, 1, dtype=torch.long), torch.ones(1), (10**9, 12), check_invariants=True),
    ],
    ids=["one-number", "one-row", "none", "sparse"],
)
def test_a_tensor_that_claims_more_than_is_there_is_refused(claimed: Any, source: Path, tmp_path: Path) -> None:
    """A file of some kilobytes, and 10,000,000,000,000 rows."""
    pickled(source, **{WORDS: claimed})
    assert (source / "pytorch_model.bin").stat().st_size < 10**5
    words = f"pytorch_model.bin is damaged: tensor '{WORDS}' has shape {list(claimed.shape)}, and fewer numbers"
    with refused(words):
        import_model(source, tmp_path / "run")


def test_so_is_one_of_fairseq(tmp_path: Path) -> None:
    path = fairseq.written(tmp_path, {"decoder.embed_tokens.weight": torch.zeros(1).expand(10**13, 14)})
    with refused("model.pt is damaged: tensor 'decoder.embed_tokens.weight' has shape [10000000000000, 14], and fewer"):
        import_model(path, tmp_path / "run")


def test_views_of_one_storage_are_whole(source: Path, tmp_path: Path) -> None:
    """Tensors that share their numbers, or stand in a larger storage, or are turned."""
    whole = import_model(source, tmp_path / "whole").about["content"]
    name = "encoder.layer.1.intermediate.dense.weight"
    given = load_file(source / "model.safetensors")[name]
    pickled(source, **{name: torch.cat((given, given)).T.contiguous().T[: len(given)]})
    assert import_model(source, tmp_path / "run").about["content"] == whole


@pytest.mark.parametrize("content", [{7: torch.zeros(3)}, {"a": torch.zeros(3), None: torch.zeros(3)}])
def test_tensors_have_names(content: Any, source: Path, tmp_path: Path) -> None:
    (source / "model.safetensors").unlink()
    torch.save(content, source / "pytorch_model.bin")
    with refused("holds more than named tensors"):
        import_model(source, tmp_path / "run")
    torch.save({"args": Namespace(**fairseq.SIZES), "model": content}, tmp_path / "model.pt")
    with refused("has no tensors under 'model'"):
        opened(tmp_path / "model.pt")


def test_whole_numbers_are_no_weights(source: Path, tmp_path: Path) -> None:
    tensors = load_file(source / "model.safetensors")
    name = "encoder.layer.1.attention.self.query.weight"
    for kind in (torch.int8, torch.uint8, torch.bool, torch.int64):
        save_file({**tensors, name: (tensors[name] * 100).to(kind)}, source / "model.safetensors")
        with refused(f"model.safetensors: 'bert.{name}' is of {kind}: quantised weights are not supported"):
            import_model(source, tmp_path / "run")
    counted = {"embeddings.position_ids": torch.arange(29)[None]}
    save_file({**tensors, **counted}, source / "model.safetensors")
    import_model(source, tmp_path / "run")


def test_a_model_that_was_quantised_is_refused_by_name(source: Path, tmp_path: Path) -> None:
    changed(source, "config.json", quantization_config={"quant_method": "gptq", "bits": 4})
    with refused("config.json: quantization_config = {'quant_method': 'gptq', 'bits': 4} is not supported"):
        import_model(source, tmp_path / "run")
    changed(source, "config.json", quantization_config=None)
    import_model(source, tmp_path / "run")


def test_numbers_of_thousands_of_digits_are_damage(source: Path, tmp_path: Path) -> None:
    (source / "config.json").write_text('{"model_type": "bert", "hidden_size": 1' + "0" * 5000 + "}")
    with refused("config.json is damaged"):
        import_model(source, tmp_path / "run")


@pytest.mark.parametrize(
    ("case", "changes", "words"),
    [
        ("gpt2", {"n_embd": None, "n_inner": None}, "width: None is not a whole number"),
        ("gpt2", {"n_embd": [1], "n_inner": None}, "width: [1] is not a whole number"),
        ("marian", {"vocab_size": None, "decoder_vocab_size": None}, ""),
        ("marian", {"vocab_size": None}, ""),
        ("marian", {"vocab_size": [7]}, "two vocabularies in one model"),
        ("t5", {"num_layers": None}, "depth: None is not a whole number"),
        ("llama", {"hidden_size": None}, "width: None is not a whole number"),
    ],
)
def test_settings_that_are_missing_end_in_one_line(
    case: str, changes: dict[str, Any], words: str, tmp_path: Path
) -> None:
    """Or are not needed."""
    CASES[case].write(tmp_path / "there")
    config = {**json.loads((tmp_path / "there" / "config.json").read_text()), **changes}
    given = {name: value for name, value in config.items() if value is not None or name != "vocab_size"}
    (tmp_path / "there" / "config.json").write_text(json.dumps(given))
    if not words:
        import_model(tmp_path / "there", tmp_path / "run")
        return
    with refused(words):
        import_model(tmp_path / "there", tmp_path / "run")


def flipped(path: Path, rounds: int, read: Callable[[Path], Any]) -> int:
    """How often a file with a few other bytes, or cut off, is refused; any other error is one of ours."""
    whole, chance, count = path.read_bytes(), random.Random(5), 0
    for _ in range(rounds):
        content = bytearray(whole)
        for _ in range(chance.choice((1, 2, 4))):
            content[chance.randrange(len(content))] = chance.choice((0, 1, 127, 255, chance.randrange(256)))
        path.write_bytes(content[: chance.randrange(len(content))] if chance.random() < 0.1 else content)
        try:
            read(path)
        except UserError as error:
            count += len(str(error).splitlines()) == 1
    return count


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("new", [True, False], ids=["zip", "legacy"])
def test_other_bytes_end_in_one_line(new: bool, tmp_path: Path) -> None:
    tensors, path = {"a.weight": torch.zeros(3, 4), "b": torch.zeros(2)}, tmp_path / "pytorch_model.bin"
    torch.save(tensors, path, _use_new_zipfile_serialization=new)
    assert flipped(path, 500, tensors_of) > 50
    path = tmp_path / "model.pt"
    torch.save({"args": Namespace(a=1), "model": tensors}, path, _use_new_zipfile_serialization=new)
    assert flipped(path, 500, opened) > 50


def test_other_bytes_in_settings_end_in_one_line(source: Path) -> None:
    path = source / "config.json"
    path.write_text(path.read_text().replace("\n", " "))
    assert flipped(path, 300, lambda path: Folder(path.parent).json(path.name)) > 30


def test_an_error_may_say_nothing() -> None:
    assert [first_line(error) for error in (ValueError("a\nb"), EOFError(), KeyError(""))] == ["a", "EOFError", "''"]
