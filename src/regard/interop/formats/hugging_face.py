"""A folder as Hugging Face keeps it: the family that its `config.json` names."""

from pathlib import Path

from regard.errors import UserError, suggest
from regard.interop import tokens
from regard.interop.families import FAMILIES
from regard.interop.files.hugging_face import CONFIG, Folder
from regard.interop.imported import Imported, filled, rows_of
from regard.recipe import Recipe


def fits(path: Path) -> bool:
    return path.is_dir()


def read(path: Path, allow: tuple[str, ...] = ()) -> Imported:
    """The model of a folder as Hugging Face keeps it."""
    folder = Folder.open(path)
    config, where = folder.json(CONFIG), str(folder.path / CONFIG)
    kind = config.get("model_type")
    if kind not in [*FAMILIES]:
        raise UserError(f"{where}: model_type = {kind!r} is not supported{suggest(str(kind), list(FAMILIES))}")
    family, file, theirs = FAMILIES[kind], str(folder.weights), folder.tensors()
    made = family.read(config, theirs, where)
    table = family.names(made)
    rows = rows_of(table, theirs, file)
    tokenizer, text = tokens.read(folder, family.symbols, config, rows)
    model, left_out = filled(made, table, theirs, tokenizer, file, allow)
    about = {
        "from": str(folder.path.absolute()),
        "kind": kind,
        "files": folder.hashes((CONFIG, *(shard.name for shard in folder.shards()), *tokens.ALL)),
        "remarks": family.remarks(config),
        "left_out": left_out,
    }
    return Imported(
        Recipe(text=text, system=made.system, objective=made.objective), tokenizer, model, made.labels, about
    )
