"""A model as Hugging Face keeps it: a folder with settings, tensors and a vocabulary. It is read, never executed."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from regard.data.sources import file_hash
from regard.errors import UserError
from regard.interop.files.pickled import AGAIN, named, stored, unpickled

CONFIG, SAFE, PICKLED = "config.json", "model.safetensors", "pytorch_model.bin"
POINTER = b"version https://git-lfs"  # what stands in place of a large file that was not brought along
INDEX = ".index.json"  # behind the name of a file of tensors that was cut into several


@dataclass(frozen=True)
class Folder:
    """A folder that may hold a model; every file of it is held to be anyone's."""

    path: Path

    @staticmethod
    def open(path: Path | str) -> "Folder":
        folder = Folder(Path(path))
        if not folder.path.is_dir():
            raise UserError(f"no such folder: {path}; a model to import is a folder with {CONFIG} and {SAFE}")
        folder.first(CONFIG)
        return folder

    def first(self, *names: str) -> Path:
        """The first of these files that is there."""
        for name in names:
            if (self.path / name).is_file():
                return self.path / name
        raise UserError(f"{self.path} has no {' and no '.join(names)}: it is no model to import")

    def json(self, name: str) -> dict[str, Any]:
        """A file of settings; nothing where it is not there."""
        values = self.value(name) if (self.path / name).is_file() else {}
        if not isinstance(values, dict):
            raise UserError(f"{self.path / name} is damaged: it holds no settings")
        return values

    def value(self, name: str) -> Any:
        """What a JSON file holds; None where it is not there."""
        path = self.path / name
        if not path.is_file():
            return None
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:  # numbers of too many digits too
            raise UserError(f"{path} is damaged: {error}") from None

    @property
    def weights(self) -> Path:
        """The file of tensors, or the one that says which files they are in."""
        return self.first(SAFE, SAFE + INDEX, PICKLED, PICKLED + INDEX)

    def shards(self) -> list[Path]:
        """The files that hold the tensors."""
        path = self.weights
        if not path.name.endswith(INDEX):
            return [path]
        places = self.json(path.name).get("weight_map")
        if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
            raise UserError(f"{path} is damaged: it does not say which file each tensor is in")
        for name in (names := sorted({*places.values()})):
            if Path(name).name != name or "\\" in name:
                raise UserError(f"{path} names '{name}', which is no file of this folder")
        return [self.first(name) for name in names]

    def tensors(self) -> dict[str, Tensor]:
        """Every tensor by its name there. Of a pickle only tensors are taken: anything else in it stops."""
        found: dict[str, Tensor] = {}
        for path in self.shards():
            part = tensors_of(path)
            if twice := sorted(found.keys() & part):
                raise UserError(f"{path}: tensor '{twice[0]}' is in another file too")
            found |= part
        return found

    def hashes(self, names: Iterable[str]) -> dict[str, str]:
        """Of the files that are there, a hash of their content."""
        return {name: file_hash(self.path / name) for name in names if (self.path / name).is_file()}


def tensors_of(path: Path) -> dict[str, Tensor]:
    with path.open("rb") as file:
        if file.read(len(POINTER)) == POINTER:
            raise UserError(f"{path} only points to a file of Git LFS; 'git lfs pull' in its folder brings it")
    if path.suffix != ".safetensors":
        found = unpickled(path)
        if not named(found):
            raise UserError(f"{path} holds more than named tensors")
        stored(found, path)
        return dict(found)
    try:
        return load_file(path)
    except PermissionError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except (SafetensorError, OSError):
        raise UserError(f"{path} is damaged: {shortened(path)}") from None


def shortened(path: Path) -> str:
    """What is wrong with a file of safetensors, by the lengths it tells."""
    size = path.stat().st_size
    with path.open("rb") as file:
        told = int.from_bytes(file.read(8), "little")
        try:
            header = json.loads(file.read(told)) if told < size else {}
            ends = [each["data_offsets"][1] for name, each in header.items() if name != "__metadata__"]
            wanted = 8 + told + max(ends, default=0)
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
            return "its header cannot be read"
    return f"it has {size:,} bytes and claims {wanted:,}; {AGAIN}" if size < wanted else "its header cannot be read"
