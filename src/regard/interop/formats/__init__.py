"""The formats that models of others are kept in. Each says whether a path `fits` it, and can `read` it."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from regard.errors import UserError
from regard.interop.files.hugging_face import CONFIG
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


def format_of(path: Path) -> Format:
    """The first format that a path fits."""
    if not path.exists():
        raise UserError(f"no such file or folder: {path}; nothing is downloaded, so give a folder or file of yours")
    for each in FORMATS:
        if each.fits(path):
            return each
    if (path.parent / CONFIG).is_file():
        raise UserError(f"{path} is one file of a model; give its folder, {path.parent}")
    raise UserError(f"{path} is no model that can be read; known: {'; '.join(each.what for each in FORMATS)}")
