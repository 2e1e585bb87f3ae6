"""A model of others becomes a run: settings, tokenizer and weights, and no training that could go on."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard import checkpoint
from regard.checkpoint import REPORT, WEIGHTS, content_hash, put_weights, read_tensors, weights
from regard.errors import UserError
from regard.interop import bert, wordpiece
from regard.interop.hugging_face import CONFIG, Folder
from regard.recipe import Recipe
from regard.systems import System, built
from regard.text import Tokenizer
from regard.train.run import may_write, staged, versions

ROWS, HEAD = "encoder.embedding.rows.weight", "head."


@dataclass(frozen=True)
class Imported:
    """A model in our words, not yet written down. `about` is what the report will say of where it came from."""

    recipe: Recipe
    tokenizer: Tokenizer
    model: System
    labels: tuple[str, ...]
    about: dict[str, Any]


def import_model(source: Path | str, out: Path | str, *, force: bool = False) -> Imported:
    """Read a foreign folder and write it as a run into `out`, which must not hold one already unless `force`."""
    folder = Path(out)
    may_write(folder, force=force)
    found = read(Folder.open(source))
    with staged(folder) as part:
        checkpoint.write_model(part, weights(found.model), found.tokenizer)
        found.about["content"] = content_hash(*read_tensors(part / WEIGHTS, found.tokenizer))
        checkpoint.write_json(part / REPORT, {"imported": found.about, "data": {}, "versions": versions()})
        checkpoint.write_setup(part, found.recipe, found.tokenizer, found.labels)
    return found


def read(folder: Folder) -> Imported:
    """The folder's model with its weights."""
    config, where = folder.json(CONFIG), str(folder.path / CONFIG)
    if (kind := config.get("model_type")) != "bert":
        raise UserError(f"{where}: model_type = {kind!r} is not supported; models of type 'bert' can be imported")
    system, path, theirs = bert.settings(config, where), folder.weights, folder.tensors()
    tensors = bert.translated(theirs, str(path))
    if ROWS not in tensors:
        raise UserError(f"{path} has no word vectors: it is no BERT")
    objective, labels = bert.task(tensors, config)
    if objective.head in ("own", "next") and system.feedforward != "gelu":
        raise UserError(f"{where}: hidden_act = {config['hidden_act']!r} is not supported in a head that guesses words")
    tokenizer, text = wordpiece.read(folder, len(tensors[ROWS]))
    model = built(system, len(tokenizer), len(labels), objective.head)
    mine = weights(model)
    fitting = {name: tensor for name, tensor in tensors.items() if name in mine or not name.startswith(HEAD)}
    put_weights(model, fitting, str(path))
    about = {
        "from": str(folder.path.absolute()),
        "kind": "bert",
        "files": folder.hashes((CONFIG, path.name, *wordpiece.FILES)),
        "remarks": bert.remarks(config),
        "left_out": [name for name in theirs if bert.name_of(name) not in mine and not bert.counted(name)],
    }
    return Imported(Recipe(text=text, system=system, objective=objective), tokenizer, model.eval(), labels, about)
