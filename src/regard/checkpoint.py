"""A run is one folder: weights, resolved configuration, tokenizer, training state. No pickle anywhere.

Each file is written under a temporary name, synced, then renamed, so that a kill or a full disk leaves the last good
one. Tensor files carry a hash of their own content and of the tokenizer that belongs to them.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from regard.data.parse import Parse
from regard.data.parser import Parser
from regard.data.sources import file_hash
from regard.errors import UserError, WorldError, writing
from regard.longer import reading
from regard.recipe import Recipe
from regard.systems import System, built
from regard.text import Tokenizer

FORMAT = 1
WEIGHTS, CONFIG, TOKENIZER, LABELS, PARSER, ORIGIN, LOG, REPORT = (
    "model.safetensors",
    "config.json",
    "tokenizer.json",
    "labels.json",
    "parser.udpipe",
    "origin.json",
    "log.jsonl",
    "report.json",
)
STATE = "state/trainer.safetensors"


@dataclass(frozen=True)
class Run:
    """A loaded run, ready to use. `labels` are what its task tells apart, where it does; `parser` gives raw texts the
    trees that its model looks at, where one was trained."""

    path: Path
    recipe: Recipe
    tokenizer: Tokenizer
    model: System
    labels: tuple[str, ...] = ()
    parser: Parser | None = None

    def parsed(self, text: str | Parse) -> Parse:
        """A text with its tree."""
        if isinstance(text, Parse):
            return text
        if self.parser is None:
            raise UserError(
                f"{self.path} looks at trees and has no parser to make one of raw text: give --trees FILE.conllu, or "
                "train it with --set data.parser=3"
            )
        return self.parser(text)

    @property
    def takes_source(self) -> bool:
        """Whether it writes a text for a source, which it reads by itself or before the text in the same row."""
        return self.model.reads_source or "source" in self.recipe.objective.columns

    @property
    def shortens(self) -> bool:
        """Whether a source without room is cut at its end, in use as in training."""
        return self.recipe.data.too_long == "truncate"


def write(path: Path, content: bytes) -> None:
    """Replace a file in one step."""
    temporary = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise WorldError(f"cannot write {path}: {error.strerror}; what was there before is untouched") from error


def write_json(path: Path, value: Any) -> None:
    write(path, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path.parent} is no run: {path.name} is missing") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is damaged: {error}") from None


def content_hash(tensors: dict[str, Tensor], notes: dict[str, str]) -> str:
    """A hash of names, types, shapes, bytes and notes, whatever order they come in."""
    digest = hashlib.blake2b(json.dumps(notes, sort_keys=True).encode(), digest_size=16)
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def write_tensors(path: Path, tensors: dict[str, Tensor], notes: dict[str, str]) -> None:
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    notes = {"format": str(FORMAT), **notes}
    write(path, save(tensors, metadata={**notes, "content": content_hash(tensors, notes)}))


def read_tensors(path: Path, tokenizer: Tokenizer | None = None) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors and notes of a file that is whole and, where one is given, belongs to this tokenizer."""
    try:
        with safe_open(path, framework="pt") as file:
            notes = file.metadata() or {}
            if int(notes.get("format", 0)) > FORMAT:
                raise UserError(f"{path} has format {notes['format']}; this Regard reads up to {FORMAT}: update it")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise UserError(f"{path.parent} has no {path.name}") from None
    except (SafetensorError, ValueError, OSError) as error:
        raise UserError(f"{path} is damaged: {error}") from None
    if notes.pop("content", None) != content_hash(tensors, notes):
        raise UserError(f"{path} is damaged: its content does not match its hash")
    if tokenizer is not None and notes.get("tokenizer") != tokenizer.fingerprint:
        raise UserError(f"{TOKENIZER} is not the tokenizer that {path} was trained with")
    return tensors, notes


def weights(model: System) -> dict[str, Tensor]:
    """Every tensor that a run must keep, once: parameters, tied ones under their first name, and lasting buffers."""
    kept = model.state_dict(keep_vars=True)
    buffers = {name: buffer for name, buffer in model.named_buffers() if name in kept}
    return {**dict(model.named_parameters()), **buffers}


def put_weights(model: System, tensors: dict[str, Tensor], where: str) -> None:
    """Copy tensors into the model; a name or size that does not fit stops."""
    mine = weights(model)
    for name, parameter in mine.items():
        if name not in tensors:
            raise UserError(f"{where}: tensor '{name}' is missing")
        if tensors[name].shape != parameter.shape:
            found, expected = list(tensors[name].shape), list(parameter.shape)
            raise UserError(f"{where}: tensor '{name}' has shape {found}, the configuration asks for {expected}")
    if extra := sorted(set(tensors) - set(mine)):
        raise UserError(f"{where}: tensor '{extra[0]}' has no place in this model")
    with torch.no_grad():
        for name, parameter in mine.items():
            parameter.copy_(tensors[name])


def write_model(folder: Path, tensors: dict[str, Tensor], tokenizer: Tokenizer) -> None:
    """With hashes of what it was trained with, and of what it was imported with."""
    beside = {"parser": folder / PARSER, "origin": folder / ORIGIN}
    hashes = {name: file_hash(path) for name, path in beside.items() if path.exists()}
    write_tensors(folder / WEIGHTS, tensors, {"tokenizer": tokenizer.fingerprint, **hashes})


def write_setup(folder: Path, recipe: Recipe, tokenizer: Tokenizer, labels: tuple[str, ...] = ()) -> None:
    write(folder / TOKENIZER, tokenizer.to_json().encode())
    if labels:
        write_json(folder / LABELS, labels)
    write_json(folder / CONFIG, {"format": FORMAT, **recipe.to_dict()})


def is_run(folder: Path) -> bool:
    """Whether the folder holds a run, and not somebody else's `config.json`."""
    try:
        values = read_json(folder / CONFIG)
    except (UserError, NotADirectoryError):
        return False
    return isinstance(values, dict) and {"format", "system", "objective", "train"} <= set(values)


def read_recipe(folder: Path) -> Recipe:
    if not folder.is_dir():
        raise UserError(f"no such run: {folder}")
    values = read_json(folder / CONFIG)
    if not isinstance(values, dict):
        raise UserError(f"{folder / CONFIG} is damaged: it holds no settings")
    if "model_type" in values and "system" not in values:
        raise UserError(f"{folder} is no run but another library's model; 'regard import {folder} --out RUN' makes one")
    if not isinstance(written := values.pop("format", FORMAT), int):
        raise UserError(f"{folder / CONFIG} is damaged: its format is {written!r}")
    if written > FORMAT:
        raise UserError(f"{folder} was written by a newer Regard; this one reads format {FORMAT}: update it")
    return Recipe.parse(values, where=str(folder / CONFIG))


def read_tokenizer(folder: Path) -> Tokenizer:
    path = folder / TOKENIZER
    try:
        return Tokenizer.from_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{folder} has no {TOKENIZER}") from None
    except Exception as error:  # the backend raises a bare Exception for anything it cannot read
        raise UserError(f"{path} is damaged: {error}") from None


def read_labels(folder: Path, recipe: Recipe) -> tuple[str, ...]:
    """The names of what the run's task tells apart; none where it has no labels."""
    if not recipe.objective.label:
        return ()
    names = read_json(folder / LABELS)
    if not isinstance(names, list) or len(names) < 2 or not all(isinstance(name, str) for name in names):
        raise UserError(f"{folder / LABELS} is damaged: it is no list of names")
    return tuple(names)


def read_parser(folder: Path, notes: dict[str, str]) -> Parser | None:
    """The parser that the weights were trained with, if they were; one from elsewhere is refused."""
    path, known = folder / PARSER, notes.get("parser")
    if known is not None and not path.exists():
        raise UserError(f"{folder} has no {PARSER}, with which {WEIGHTS} was trained")
    if path.exists() and file_hash(path) != known:
        raise UserError(f"{path} is not the parser that {folder / WEIGHTS} was trained with")
    return Parser(path) if known is not None else None


def read_origin(folder: Path, notes: dict[str, str]) -> dict[str, Any]:
    """What is kept of the model that the weights, or those they were trained from, were imported from."""
    path, known = folder / ORIGIN, notes.get("origin")
    if known is None and not path.exists():
        return {}
    if not path.exists() or file_hash(path) != known:
        raise UserError(f"{path} is not the one that {folder / WEIGHTS} was imported with; import it again")
    found = read_json(path)
    return found if isinstance(found, dict) else {}


def load(folder: Path | str, device: str = "cpu", *, context: int | None = None) -> Run:
    """A run ready to use: its model in evaluation mode on the device.

    With a `context` it reads texts of that length in place of the one it was trained on (C5).
    """
    folder = Path(folder)
    recipe = read_recipe(folder)
    if not (folder / WEIGHTS).exists():
        raise UserError(f"{folder} has no {WEIGHTS} yet: its training did not reach a checkpoint")
    tokenizer = read_tokenizer(folder)
    tensors, notes = read_tensors(folder / WEIGHTS, tokenizer)
    labels = read_labels(folder, recipe)
    model = built(recipe.system, len(tokenizer), len(labels), recipe.objective.head)
    if context is not None:
        model, recipe = reading(folder, recipe, model, context, (len(tokenizer), len(labels)))
    put_weights(model, tensors, str(folder / WEIGHTS))
    return Run(folder, recipe, tokenizer, model.to(device).eval(), labels, read_parser(folder, notes))


@contextmanager
def appended(path: Path) -> Iterator[Any]:
    """A file of JSON lines, open for adding; `emit(record)` writes one through to the system."""
    with writing(path):
        file = path.open("ab", buffering=0)

    def emit(record: dict[str, Any]) -> None:
        with writing(path):
            file.write(json.dumps(record).encode() + b"\n")

    with file:
        yield emit
