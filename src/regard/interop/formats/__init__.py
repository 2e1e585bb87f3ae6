"""The formats that models of others are kept in. Each says whether a path `fits` it, and can `read` it."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from regard.errors import UserError
from regard.interop.files.ctranslate2 import MODEL
from regard.interop.files.hugging_face import CONFIG, INDEX, PICKLED, SAFE
from regard.interop.formats import ctranslate2, fairseq, gguf, hugging_face, llama2c
from regard.interop.imported import Imported


class Format(NamedTuple):
    """`read(path, allow)` gives the model; tensors whose names fit a pattern of `allow` may be unused or missing."""

    what: str
    fits: Callable[[Path], bool]
    read: Callable[[Path, tuple[str, ...]], Imported]


FORMATS = (
    Format("a folder as CTranslate2 keeps it", ctranslate2.fits, ctranslate2.read),
    Format("a file .pt of fairseq with its dictionary beside it", fairseq.fits, fairseq.read),
    Format("a GGUF file", gguf.fits, gguf.read),
    Format("a file of llama2.c with its vocabulary beside it", llama2c.fits, llama2c.read),
    Format("a folder as Hugging Face keeps it", hugging_face.fits, hugging_face.read),
)
OTHERS = {  # what files are that cannot be read, where nothing that can stands beside them
    "*.onnx": "ONNX graphs",
    "onnx/*.onnx": "ONNX graphs",
    "tf_model*.h5": "weights of TensorFlow",
    "flax_model*.msgpack": "weights of Flax",
    "openvino_model*.xml": "a model of OpenVINO",
    "*.tflite": "a model of TensorFlow Lite",
    "consolidated*.pth": "weights without the settings and names of Hugging Face",
    "adapter_model.*": "an adapter, and not the model that it changes",
    "shared_vocabulary.*": f"a vocabulary of CTranslate2 without its {MODEL}",
}
TENSORS = (MODEL, SAFE, SAFE + INDEX, PICKLED, PICKLED + INDEX)


def format_of(path: Path) -> Format:
    """The first format that a path fits."""
    if not path.exists():
        raise UserError(f"no such file or folder: {path}; nothing is downloaded, so give a folder or file of yours")
    if what := other(path):
        raise UserError(f"{path} holds {what}: that cannot be imported; give the model that it was made from")
    for each in FORMATS:
        if each.fits(path):
            return each
    if (path.parent / CONFIG).is_file():
        raise UserError(f"{path} is one file of a model; give its folder, {path.parent}")
    raise UserError(f"{path} is no model that can be read; known: {'; '.join(each.what for each in FORMATS)}")


def other(path: Path) -> str:
    """What a file or folder holds that is known and not read."""
    if path.is_dir():
        if any((path / name).is_file() for name in TENSORS):
            return ""
        return next((what for pattern, what in OTHERS.items() if any(path.glob(pattern))), "")
    return next((what for pattern, what in OTHERS.items() if path.match(pattern)), "")
