"""What sentence-transformers puts behind a model, to make one vector of a text: as options of `regard embed`."""

from pathlib import Path
from typing import Any

from regard.errors import UserError
from regard.interop.files.hugging_face import CONFIG, Folder

MODULES, LIMITS = "modules.json", "sentence_bert_config.json"
POOLS = {"mean": "all", "cls": "first"}  # their words and ours
MODES = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
SAID = "sentence-transformers"


def remarks(folder: Folder) -> list[str]:
    """How the same vectors are had here, and what is not done here; nothing of a folder that has no such modules."""
    if not (modules := listed(folder)):
        return []
    options, missing = [], []
    for kind, path in modules:
        if kind == "Pooling":
            mode = pooled(folder.json(f"{path}/{CONFIG}"))
            options += [f"--pool {POOLS[mode]}"] if mode in POOLS else []
            missing += [] if mode in POOLS else [f"pooling by {mode}"]
        elif kind == "Normalize":
            options.append("--normalise")
        elif kind != "Transformer":
            missing.append(f"module {kind}")
    given = f"{SAID} there: 'regard embed {' '.join(['RUN', *options])}' gives its vectors"
    found = [f"{SAID} there: {' and '.join(missing)} is not supported; its vectors are others"] if missing else [given]
    if type(most := folder.json(LIMITS).get("max_seq_length")) is int:
        found.append(f"{SAID} there reads no more than {most} tokens of a text")
    return found


def listed(folder: Folder) -> list[tuple[str, str]]:
    """The last part of each module's class, and its folder."""
    modules = folder.value(MODULES) or []
    try:
        found = [(str(each["type"]).rpartition(".")[2], str(each.get("path", ""))) for each in modules]
    except (AttributeError, KeyError, TypeError):
        raise UserError(f"{folder.path / MODULES} is damaged: it is no list of modules") from None
    for _, path in found:
        if path and (Path(path).name != path or "\\" in path or path == ".."):
            raise UserError(f"{folder.path / MODULES} names '{path}', which is no folder in this one")
    return found


def pooled(config: dict[str, Any]) -> str:
    """What becomes of the vectors of tokens; several words where several are put together."""
    if "pooling_mode" in config:
        return str(config["pooling_mode"])
    modes = [name for name, on in config.items() if name.startswith("pooling_mode_") and on is True]
    return " and ".join(MODES.get(name, name) for name in modes) or "mean"
