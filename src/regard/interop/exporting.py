"""A run in the words of others. Every export is read by the library it is for, and must say the same as the run."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from regard.checkpoint import (
    WEIGHTS,
    Run,
    content_hash,
    load,
    read_json,
    read_tensors,
    weights,
    write_json,
)
from regard.errors import UserError, WorldError, one_of
from regard.interop.checking import Comparison, compare
from regard.interop.ct2.checking import compare as compare_ct2
from regard.interop.ct2.writing import ctranslate2
from regard.interop.families import FAMILIES
from regard.interop.family import Family, MeansOtherwise, Model, assignments
from regard.interop.files import modules
from regard.interop.files.hugging_face import CONFIG, SAFE
from regard.interop.kept import Kept
from regard.interop.names import spelled
from regard.interop.onnx.checking import compare as compare_onnx
from regard.interop.onnx.writing import onnx
from regard.interop.tokens import GENERATION
from regard.interop.tokens.writing import write_tokenizer
from regard.text.tokenizer import FIRST
from regard.train.run import staged

MARK = "regard.json"  # of a folder that was exported
EXPORTS = "exports.json"  # of a run: where its exports are


@dataclass(frozen=True)
class Exported:
    """What was written for whom, and how it compares."""

    to: str
    kind: str
    compared: Comparison


def export_model(folder: Path | str, out: Path | str, *, to: str = "hf", force: bool = False) -> Exported:
    """Write a run as another library reads it, into a folder that does not exist, or holds an export and `force`."""
    one_of("--to", to, WAYS)
    may_export(Path(out), to, force=force)
    run = load(folder)
    write, check = WAYS[to]
    with staged(Path(out)) as part:
        kind = write(run, part)
        compared = check(run, part)
        if not compared.passed:
            raise WorldError(f"the export says something else than the run ({compared.said}): nothing was written")
        write_json(part / MARK, {"to": to, "kind": kind, "content": content_of(run)})
    known = {**exports(run), str(Path(out).absolute()): to}
    write_json(run.path / EXPORTS, known)
    return Exported(to, kind, compared)


def content_of(run: Run) -> str:
    """A hash of the weights."""
    return content_hash(*read_tensors(run.path / WEIGHTS))


def exports(run: Run) -> dict[str, str]:
    """The folders of this run's exports that are still there and of the same weights, each with what it is for."""
    path = run.path / EXPORTS
    known = read_json(path) if path.exists() else {}
    content = content_of(run) if known else ""
    there = {folder: Path(folder) / MARK for folder in known}
    return {f: known[f] for f, mark in there.items() if mark.is_file() and read_json(mark)["content"] == content}


def compare_export(run: Run, folder: str, to: str) -> Comparison:
    """A run beside an export of it; one that is no longer written stops."""
    if to == "hf":
        sayable(run)
    return WAYS[to][1](run, Path(folder))


def may_export(folder: Path, to: str, *, force: bool) -> None:
    """Only a folder that holds an export for the same library is ever replaced, and only when asked."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not (folder / MARK).is_file():
        raise UserError(f"{folder} exists and holds no export; give another --out")
    if (other := read_json(folder / MARK).get("to")) != to:
        raise UserError(f"{folder} holds an export for {other}; give another --out")
    if not force:
        raise UserError(f"{folder} holds an export already; --force overwrites it")


def as_hugging_face(run: Run, folder: Path) -> str:
    """As `transformers` reads it: the first family that can say this run, its own where it, or the run that it was
    trained from, was imported."""
    kept = Kept.of(run)
    made, family, config = sayable(run, kept.kind)
    config |= {**kept.config, "torch_dtype": "float32", **ids(run)}
    write_json(folder / CONFIG, config)
    said = generation(run)
    if said or kept.generation is not None:
        write_json(folder / GENERATION, {**(kept.generation or {}), **said, **ids(run)})
    tensors = {name: torch.zeros(shape) for name, shape in family.idle(made).items()}
    tensors |= spelled(family.names(made), weights(run.model))
    save_file(tensors, folder / SAFE, metadata={"format": "pt"})
    write_tokenizer(run.tokenizer, folder, source=run.model.reads_source, ends=not run.model.writes_text, own=True)
    kept.write_beside_tokenizer(folder)
    if not run.model.writes_text:
        modules.write(
            folder, run.recipe.embed, width=run.model.width, limit=run.model.limit, more=kept.part(modules.MORE)
        )
    return family.kind


def sayable(run: Run, first: str = "") -> tuple[Model, Family, dict[str, Any]]:
    """The model, its family, `first` of all the one that it was of, and the settings in its words."""
    made, reasons = Model(run.recipe.system, run.recipe.objective, run.labels), {}
    for family in sorted(FAMILIES.values(), key=lambda family: family.kind != first):
        try:
            return made, family, family.config(made, len(run.tokenizer))
        except MeansOtherwise:
            raise
        except UserError as error:
            if isinstance(made.system, family.system):
                reasons[family.kind] = str(error).removeprefix(f"{family.kind}: ")
    kind = run.recipe.to_dict()["system"]["kind"]
    if reasons:
        raise UserError(refusal(made, reasons, len(run.tokenizer)))
    raise UserError(f"no model of 'transformers' is like system.kind = '{kind}'")


def refusal(made: Model, reasons: dict[str, str], vocabulary: int) -> str:
    """Why each family cannot say a model, every reason once, and the fewest settings with which one could."""
    kinds: dict[str, list[str]] = {}
    for kind, reason in reasons.items():
        kinds.setdefault(reason, []).append(kind)
    told = "; ".join(f"{', '.join(families)}: {reason}" for reason, families in kinds.items())
    ways = {}
    for kind in reasons:
        with suppress(UserError):
            ways[kind] = FAMILIES[kind].nearest(made, vocabulary)
    found = {kind: way for kind, way in ways.items() if way}
    if not found:
        return f"{told}; a run that is trained with these settings can be exported"
    kind = min(found, key=lambda kind: len(found[kind]))
    return f"{told}; a run that is trained with {assignments(found[kind])} can be exported, as {kind}"


def ids(run: Run) -> dict[str, int | list[int]]:
    """The numbers of the symbols."""
    symbols = run.tokenizer
    first = symbols.symbol(FIRST) if symbols.has([FIRST]) else symbols.start
    end = [symbols.end, *symbols.habits.ends] if symbols.habits.ends else symbols.end
    found = {"bos_token_id": first, "eos_token_id": end, "pad_token_id": symbols.pad}
    return found | ({"decoder_start_token_id": symbols.start} if run.model.reads_source else {})


def generation(run: Run) -> dict[str, Any]:
    """What is not written, and what every text begins with."""
    never, lead = run.tokenizer.habits.never, run.tokenizer.begun([])[1:] if run.model.reads_source else []
    found: dict[str, Any] = {"bad_words_ids": [[token] for token in never]} if never else {}
    return found | ({"forced_bos_token_id": lead[0]} if lead else {})


WAYS: dict[str, tuple[Callable[[Run, Path], str], Callable[[Run, Path], Comparison]]] = {
    "hf": (as_hugging_face, compare),
    "ct2": (ctranslate2, compare_ct2),
    "onnx": (onnx, compare_onnx),
}
