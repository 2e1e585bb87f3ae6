"""A Llama as llama2.c keeps it (S9): a header of sizes, then float32 tensors in a fixed order.

The vocabulary stands in another file of the folder. A text ends where the next would begin: with the start symbol.
"""

import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from regard.data.sources import file_hash
from regard.errors import UserError
from regard.interop.families import llama
from regard.interop.family import Model, settings
from regard.interop.files.hugging_face import CONFIG
from regard.interop.imported import Imported, Origin, imported
from regard.interop.tokens import Symbols, adopted, sentencepiece
from regard.interop.tokens import llama2c as vocabulary
from regard.objectives import NextToken
from regard.shapes import Tensor
from regard.systems.gpt import Gpt

MAGIC, HEADER = 0x616B3432, 256  # of files that tell their version
START = "<s>"
SYMBOLS = Symbols(start=("", START), end=("", START), pad=("", ""), unknown=("", "<unk>"))
NAMES = {
    "words": "tok_embeddings",
    "attention_norm": "layers.{}.attention_norm",
    "query": "layers.{}.attention.wq",
    "key": "layers.{}.attention.wk",
    "value": "layers.{}.attention.wv",
    "output": "layers.{}.attention.wo",
    "feedforward_norm": "layers.{}.ffn_norm",
    "gate": "layers.{}.feed_forward.w1",
    "down": "layers.{}.feed_forward.w2",
    "up": "layers.{}.feed_forward.w3",
    "norm": "norm",
    "head": "output",
}
ANGLES = "angles"  # their cosines and sines, which nothing needs
LAYERS = ("query", "key", "value", "output")
ORDERS = {  # by version
    0: ("words", "attention_norm", *LAYERS, "feedforward_norm", "gate", "down", "up", "norm", ANGLES, "head"),
    1: ("attention_norm", "feedforward_norm", "norm", "words", *LAYERS, "gate", "down", "up", "head"),
}


class Header(NamedTuple):
    """The sizes of a model, in the order of the file; `own` is whether its output is not that of the words."""

    width: int
    hidden: int
    depth: int
    heads: int
    groups: int
    vocabulary: int
    context: int
    own: bool = False
    version: int = 0
    at: int = 28  # where the tensors begin

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        width, shared = self.width, self.width // self.heads * self.groups
        return {
            "words": (self.vocabulary, width),
            "query": (width, width),
            "key": (shared, width),
            "value": (shared, width),
            "output": (width, width),
            "gate": (self.hidden, width),
            "down": (width, self.hidden),
            "up": (self.hidden, width),
            ANGLES: (2, self.context, width // self.heads // 2),
            "head": (self.vocabulary, width),
            **dict.fromkeys(("attention_norm", "feedforward_norm", "norm"), (width,)),
        }

    def parts(self) -> Iterator[tuple[str, tuple[int, ...], int]]:
        """In the order of the file: name, shape and how many there are."""
        for part in ORDERS[self.version]:
            name = NAMES.get(part, part)
            if part != "head" or self.own:
                yield name, self.shapes[part], self.depth if "{}" in name else 1

    @property
    def size(self) -> int:
        """Of a file with this header, in bytes."""
        return self.at + 4 * sum(count * math.prod(shape) for _, shape, count in self.parts())


def fits(path: Path) -> bool:
    if path.is_dir():
        return not (path / CONFIG).exists() and len(models_in(path)) == 1
    return path.suffix == ".bin"


def models_in(folder: Path) -> list[Path]:
    """Its files that may be models: they are not called as a vocabulary is, nor as tensors of Hugging Face are."""
    return sorted(path for path in folder.glob("*.bin") if not path.name.startswith(("tok", "pytorch_model")))


def read(path: Path, allow: tuple[str, ...] = ()) -> Imported:
    """The model of a file, or of the only one in a folder."""
    path = models_in(path)[0] if path.is_dir() else path
    header, table = header_of(path), llama.table(NAMES)
    values = {name: getattr(header, name) for name in ("width", "hidden", "depth", "heads", "groups", "context")}
    always = {**llama.ALWAYS, "feedforward": "swiglu", "bias": False, "dropout": 0.0, "tied": not header.own}
    made = Model(settings(Gpt, {**values, **always}, str(path)), NextToken())
    beside = vocabulary_of(path, header.vocabulary)
    tree = sentencepiece.parsed(beside).tree(str(beside)) if beside.suffix == ".model" else vocabulary.read(beside)
    words = adopted(tree, SYMBOLS, {}, header.vocabulary, str(beside))
    origin = Origin(path=path, kind="llama", files={each.name: file_hash(each) for each in (path, beside)})
    return imported(made, table, tensors(path, header), words, where=str(path), origin=origin, allow=allow)


def header_of(path: Path) -> Header:
    """The sizes that a file claims, if it is as long as they say."""
    with path.open("rb") as file:
        content = file.read(HEADER)
    try:
        magic, version = struct.unpack_from("<Ii", content)
        told = magic == MAGIC
        sizes = struct.unpack_from("<7i", content, 8 if told else 0)
        shared = bool(content[36]) if told else sizes[5] > 0
    except (struct.error, IndexError):
        raise UserError(f"{path} ends in its header: it is no model of llama2.c") from None
    if told and version != 1:
        raise UserError(f"{path} is of version {version} of llama2.c; 0 and 1, without quantisation, can be read")
    header = Header(*sizes)._replace(vocabulary=abs(sizes[5]), own=not shared)
    header = header._replace(version=1, at=HEADER) if told else header
    size = path.stat().st_size
    if min(header[:7]) < 1 or header.width % header.heads or header.size != size:
        asked = ", ".join(f"{name} {value}" for name, value in zip(Header._fields, header[:7], strict=False))
        raise UserError(f"{path} has {size} bytes and a header of {asked}: it is damaged, or no model of llama2.c")
    return header


def tensors(path: Path, header: Header) -> dict[str, Tensor]:
    numbers = torch.from_numpy(np.fromfile(path, dtype="<f4", offset=header.at))
    found, at = {}, 0
    for name, shape, count in header.parts():
        for layer in range(count):
            size = math.prod(shape)
            if name != ANGLES:
                found[f"{name.format(layer)}.weight"] = numbers[at : at + size].view(shape)
            at += size
    return found


def vocabulary_of(path: Path, size: int) -> Path:
    """The file beside a model that has its vocabulary of so many pieces."""
    folder, others = path.parent, [each for each in sorted(path.parent.glob("*.bin")) if each.name != path.name]
    for name in (f"tok{size}.bin", "tokenizer.bin", "tokenizer.model"):
        if (folder / name).is_file():
            return folder / name
    called = [each for each in others if each.name.startswith("tok")] or others
    if len(called) != 1:
        raise UserError(f"{folder} has no vocabulary for {path.name}: put tokenizer.bin or tokenizer.model there")
    return called[0]
