"""A tokenizer of ours as `transformers` reads it: what it puts around a text is what a run is given."""

import base64
import json
from pathlib import Path
from typing import Any

from regard.checkpoint import write, write_json
from regard.errors import UserError
from regard.text import Tokenizer
from regard.text.tokenizer import END, FIRST, MASK, NONE, OTHERWISE, PAD, START, UNKNOWN

ROLES = {START: ("bos_token", "cls_token"), END: ("eos_token", "sep_token"), PAD: ("pad_token",)}
MORE = {"unk_token": UNKNOWN, "mask_token": MASK, "bos_token": FIRST, "cls_token": FIRST}  # where there is one


def write_tokenizer(tokenizer: Tokenizer, folder: Path, *, source: bool, ends: bool, own: bool = False) -> None:
    """`source` where texts are read as sources, which have no start symbol; `ends` where they are read whole.

    With its `own` files, where it was made of such, a tokenizer cuts targets too as the run does.
    """
    if own and tokenizer.habits.files:
        write_own(tokenizer, folder)
        return
    tree = {name: value for name, value in json.loads(tokenizer.to_json()).items() if name != OTHERWISE}
    before = [] if source else [tokenizer.called(START)] if ends or tokenizer.habits.opens else []
    before += [tokenizer.called(symbol) for symbol in tokenizer.habits.lead]
    after = [tokenizer.called(END)] if source or ends else []
    tree["post_processor"] = around(tokenizer, before, after)
    if tokenizer.beyond:
        tree["model"] = within(tree["model"], len(tokenizer))
    write(folder / "tokenizer.json", (json.dumps(tree, ensure_ascii=False) + "\n").encode())
    names: dict[str, Any] = {role: tokenizer.called(ours) for ours, roles in ROLES.items() for role in roles}
    for role, ours in MORE.items():
        if tokenizer.has([ours]) and tokenizer.symbol(ours) != NONE:
            names[role] = tokenizer.called(ours)
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
    write_json(folder / "tokenizer_config.json", {**settings, **names})


def write_own(tokenizer: Tokenizer, folder: Path) -> None:
    """Marian's files, as they were read."""
    for name, content in tokenizer.habits.files.items():
        write(folder / Path(name).name, base64.b64decode(content))
    symbols = {"eos_token": END, "pad_token": PAD, "unk_token": UNKNOWN}
    settings = {"tokenizer_class": "MarianTokenizer", "clean_up_tokenization_spaces": False}
    write_json(folder / "tokenizer_config.json", settings | {k: tokenizer.called(ours) for k, ours in symbols.items()})


def within(model: dict[str, Any], rows: int) -> dict[str, Any]:
    """Without the pieces that the model has no vectors for; texts that have one of them are then cut otherwise."""
    if model["type"] != "Unigram":
        raise UserError("the tokenizer of this run joins pieces that the model has no vectors for: it cannot be said")
    return {**model, "vocab": model["vocab"][:rows]}


def around(tokenizer: Tokenizer, before: list[str], after: list[str]) -> dict[str, Any] | None:
    """What stands before and after a text, between two, and after the second one.

    Where more than one end symbol stands between two, no segments tell them apart.
    """
    if not before and not after:
        return None

    def symbols(names: list[str], side: int) -> list[dict[str, Any]]:
        return [{"SpecialToken": {"id": name, "type_id": side}} for name in names]

    def text(name: str, side: int) -> dict[str, Any]:
        return {"Sequence": {"id": name, "type_id": side}}

    more = after * (tokenizer.habits.parted - 1)
    second = 0 if more else 1
    single = [*symbols(before, 0), text("A", 0), *symbols(after, 0)]
    numbers = {name: tokenizer.backend.token_to_id(name) for name in {*before, *after}}
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, *symbols(more, 0), text("B", second), *symbols(after, second)],
        "special_tokens": {name: {"id": name, "ids": [n], "tokens": [name]} for name, n in numbers.items()},
    }
