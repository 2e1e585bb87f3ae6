"""What sentence-transformers puts behind a model to make one vector of a text: the settings of `[embed]`, both ways."""

from pathlib import Path
from typing import Any

from regard.checkpoint import write_json
from regard.errors import UserError
from regard.interop.files.hugging_face import CONFIG, Folder
from regard.recipe import Embed

MODULES, LIMITS, MORE = "modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"
FILES = (MODULES, LIMITS, MORE)
POOLS = {"mean": "all", "cls": "first"}  # their words and ours
MODES = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
SAID, LIBRARY = "sentence-transformers", "sentence_transformers."
LEAST = 3  # tokens: a start, an end, and one between them


def read(folder: Folder, *, limit: int, reads: bool, lowercase: bool) -> tuple[Embed, list[str]]:
    """How the same vectors are had here, and what is told of it; nothing of a folder that has no such modules.

    `limit` is how many tokens the model reads. What only `reads` has vectors of texts there as here.
    """
    if not (modules := listed(folder)):
        return Embed(), []
    values: dict[str, Any] = {}
    missing = [] if reads else ["a model that writes"]
    for kind, path in modules:
        if kind == "Pooling" and "pool" not in values:
            mode = pooled(folder.json(f"{path}/{CONFIG}"))
            values["pool"] = POOLS.get(mode, "")
            missing += [] if mode in POOLS else [f"pooling by {mode}"]
        elif kind == "Normalize" and "pool" in values:
            values["normalise"] = True
        elif kind != "Transformer" or values:
            missing.append(f"module {kind}")
    if missing or not values:
        said = " and ".join(missing) or "a model without a module Pooling"
        return Embed(), [f"{SAID} there: {said} is not supported; its vectors are others"]
    most = folder.json(LIMITS).get("max_seq_length") or folder.json("tokenizer_config.json").get("model_max_length")
    if type(most) is int and LEAST <= most < limit:
        values["max_tokens"] = most
    told = ", ".join(f"embed.{name} = {shown(value)}" for name, value in values.items())
    return Embed(**values), [f"{SAID} there: 'regard embed' gives its vectors ({told})", *before(folder, lowercase)]


def before(folder: Folder, lowercase: bool) -> list[str]:
    """What is done to a text there and not here."""
    more, found = folder.json(MORE), []
    prompts, name = more.get("prompts"), more.get("default_prompt_name")
    if isinstance(prompts, dict) and isinstance(name, str) and prompts.get(name):
        found.append(f"{SAID} there puts {prompts[name]!r} before every text; here it must be given with it")
    if folder.json(LIMITS).get("do_lower_case") is True and not lowercase:
        found.append(f"{SAID} there makes texts lower case first; here they are read as they are given")
    return found


def shown(value: Any) -> str:
    """As TOML writes it."""
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def write(folder: Path, how: Embed, *, width: int, limit: int | None, more: dict[str, Any]) -> None:
    """The modules that do the same, where they can: theirs have no mean without start and end."""
    mode = next((theirs for theirs, ours in POOLS.items() if ours == how.pool), None)
    if mode is None:
        return
    kinds = {"": "Transformer", "1_Pooling": "Pooling", **({"2_Normalize": "Normalize"} if how.normalise else {})}
    named = [
        {"idx": number, "name": str(number), "path": path, "type": f"{LIBRARY}models.{kind}"}
        for number, (path, kind) in enumerate(kinds.items())
    ]
    write_json(folder / MODULES, named)
    modes = {name: each == mode for name, each in MODES.items()}
    write_json(folder / "1_Pooling" / CONFIG, {"word_embedding_dimension": width, **modes})
    write_json(folder / LIMITS, {"max_seq_length": how.max_tokens or limit, "do_lower_case": False})
    if more:
        write_json(folder / MORE, more)


def listed(folder: Folder) -> list[tuple[str, str]]:
    """The last part of each module's class, or all of it where it is of another library; and its folder."""
    modules = folder.value(MODULES) or []
    try:
        found = [(str(each["type"]), str(each.get("path", ""))) for each in modules]
    except (AttributeError, KeyError, TypeError):
        raise UserError(f"{folder.path / MODULES} is damaged: it is no list of modules") from None
    for _, path in found:
        if path and (Path(path).name != path or "\\" in path or path == ".."):
            raise UserError(f"{folder.path / MODULES} names '{path}', which is no folder in this one")
    return [(kind.rpartition(".")[2] if kind.startswith(LIBRARY) else kind, path) for kind, path in found]


def pooled(config: dict[str, Any]) -> str:
    """What becomes of the vectors of tokens; several words where several are put together."""
    if "pooling_mode" in config:
        several = config["pooling_mode"] if isinstance(config["pooling_mode"], list) else [config["pooling_mode"]]
        return " and ".join(map(str, several))
    modes = [name for name, on in config.items() if name.startswith("pooling_mode_") and on is True]
    return " and ".join(MODES.get(name, name) for name in modes) or "mean"
