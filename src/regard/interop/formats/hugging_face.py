"""A folder as Hugging Face keeps it: the family that its `config.json` names."""

from pathlib import Path

from regard.checkpoint import is_run
from regard.errors import UserError
from regard.interop import tokens
from regard.interop.families import FAMILIES
from regard.interop.files import modules
from regard.interop.files.hugging_face import CONFIG, Folder
from regard.interop.imported import Imported, Origin, imported, rows_of
from regard.interop.kept import TEMPLATE, kept
from regard.systems.bert import Bert


def fits(path: Path) -> bool:
    return path.is_dir()


def read(path: Path, allow: tuple[str, ...] = ()) -> Imported:
    """The model of a folder as Hugging Face keeps it."""
    folder = Folder.open(path)
    config, where = folder.json(CONFIG), str(folder.path / CONFIG)
    kind = config.get("model_type")
    if kind not in [*FAMILIES]:
        if is_run(folder.path):
            raise UserError(f"{folder.path} is a run already")
        raise UserError(f"{where}: model_type = {kind!r} is not supported; known: {', '.join(FAMILIES)}")
    if config.get("quantization_config"):
        raise UserError(
            f"{where}: quantization_config = {config['quantization_config']!r} is not supported; "
            "give the model as it was before"
        )
    family, file, theirs = FAMILIES[kind], str(folder.weights), folder.tensors()
    made = family.read(config, theirs, where)
    table = family.names(made)
    rows = rows_of(table, theirs, file)
    tokenizer, text, remarks = tokens.read(folder, family.symbols, config, rows)
    reads = isinstance(made.system, Bert)
    embed, said = modules.read(folder, limit=made.system.context, reads=reads, lowercase=text.lowercase)
    files = (CONFIG, *(shard.name for shard in folder.shards()), *tokens.ALL, TEMPLATE, *modules.FILES)
    origin = Origin(
        path=folder.path,
        kind=kind,
        files=folder.hashes(files),
        remarks=[*family.remarks(config), *said, *remarks],
        kept=kept(folder, kind),
        embed=embed,
    )
    return imported(made, table, theirs, (tokenizer, text), where=file, origin=origin, allow=allow)
