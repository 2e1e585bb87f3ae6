"""What is no model that can be read is named: files that were cut short, quantised weights, formats of others."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertModel

from regard.interop import export_model, import_model
from regard.interop.files.hugging_face import tensors_of
from tests.helpers import refused
from tests.interop.folders import written


@pytest.fixture
def source(tmp_path: Path) -> Path:
    written(tmp_path / "source", BertModel)
    return tmp_path / "source"


def pickled(source: Path) -> None:
    """The tensors of a folder as a pickle."""
    tensors = load_file(source / "model.safetensors")
    (source / "model.safetensors").unlink()
    torch.save(tensors, source / "pytorch_model.bin")


def test_what_is_missing_of_a_file_is_told(source: Path, tmp_path: Path) -> None:
    """In words of ours and by its size, whatever the library beneath says."""
    path = source / "model.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    words = f"is damaged: it has {len(whole) - 7:,} bytes and claims {len(whole):,}; copy or download it again"
    with refused(words):
        import_model(source, tmp_path / "run")
    path.write_bytes(whole[:8] + b"?" + whole[9:])
    with refused("is damaged: its header cannot be read"):
        import_model(source, tmp_path / "run")
    path.write_bytes(whole)
    pickled(source)
    path = source / "pytorch_model.bin"
    whole = path.read_bytes()
    for kept in (len(whole) - 7, len(whole) // 2, 9, 0):
        path.write_bytes(whole[:kept])
        with refused("pytorch_model.bin is cut short: copy or download it again"):
            import_model(source, tmp_path / "run")
    path.write_bytes(b"no pickle")
    with refused("pytorch_model.bin is damaged or holds more than tensors"):
        import_model(source, tmp_path / "run")


def test_what_the_system_refuses_is_no_damage(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*args: Any, **more: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("regard.interop.files.hugging_face.load_file", stop)
    with refused(f"cannot read {source / 'model.safetensors'}: Permission denied"):
        tensors_of(source / "model.safetensors")
    pickled(source)
    monkeypatch.setattr(torch, "load", stop)
    with refused(f"cannot read {source / 'pytorch_model.bin'}: Permission denied"):
        tensors_of(source / "pytorch_model.bin")


QUANTISED = {
    "gptq": ("qweight", "qzeros", "scales", "g_idx"),
    "awq": ("qweight", "qzeros", "scales"),
    "eight": ("weight", "SCB"),
    "four": ("weight", "weight.absmax", "weight.quant_map"),
}


@pytest.mark.parametrize("kind", QUANTISED)
def test_quantised_weights_are_called_so(kind: str, source: Path, tmp_path: Path) -> None:
    """They are missing under one name and unused under another, and both is said in one line."""
    tensors = load_file(source / "model.safetensors")
    for name in [name for name in tensors if name.endswith("query.weight")]:
        module = name.removesuffix(".weight")
        del tensors[name]
        tensors |= {f"{module}.{part}": torch.zeros(2, 3, dtype=torch.int32) for part in QUANTISED[kind]}
    save_file(tensors, source / "model.safetensors")
    with refused("model.safetensors has quantised weights, such as 'encoder.layer.0.attention.self.query."):
        import_model(source, tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("model.onnx", "ONNX graphs"),
        ("onnx/model_quantized.onnx", "ONNX graphs"),
        ("tf_model.h5", "weights of TensorFlow"),
        ("flax_model.msgpack", "weights of Flax"),
        ("openvino_model.xml", "a model of OpenVINO"),
        ("adapter_model.bin", "an adapter, and not the model that it changes"),
        ("shared_vocabulary.json", "a vocabulary of CTranslate2 without its model.bin"),
    ],
)
def test_what_is_known_and_not_read_is_named(name: str, what: str, source: Path, tmp_path: Path) -> None:
    (source / name).parent.mkdir(exist_ok=True)
    (source / name).write_bytes(b"\x08")
    import_model(source, tmp_path / "run")  # for there are tensors beside it
    (source / "model.safetensors").unlink()
    for given in (source, source / name):
        with refused(f"{given} holds {what}: that cannot be imported; give the model that it was made from"):
            import_model(given, tmp_path / "other")


def test_an_onnx_export_of_ours_is_named(source: Path, tmp_path: Path) -> None:
    import_model(source, tmp_path / "run")
    export_model(tmp_path / "run", tmp_path / "out", to="onnx")
    with refused("holds ONNX graphs: that cannot be imported"):
        import_model(tmp_path / "out", tmp_path / "other")
