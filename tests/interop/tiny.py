"""Tiny runs of ours that were never trained, with numbers of their own in every tensor, to be exported."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint import REPORT, Run, load, weights, write_json, write_model, write_setup
from regard.systems import SYSTEMS, built
from regard.text import Tokenizer
from regard.text.tokenizer import MASK
from tests.helpers import recipe

LINES = [
    "The chicken didn't cross the road because it was too tired.",
    "A boy is eating an apple, and the road is wide.",
    "An old dog and a young boy cross the road.",
]
WRITES = {"transformer": "translation", "gpt": "next-token", "t5": "translation", "seq2seq": "translation"}


def tiny(folder: Path, kind: str, *, objective: str = "", text: str = "bpe", labels: int = 0, **system: Any) -> Run:
    """A run of this kind, which says something else at every token."""
    task = objective or WRITES.get(kind, "vectors")
    sizes = {"width": 24, "heads": 3, "depth": 2, "hidden": 20, "context": 37, **system}
    sizes = {name: size for name, size in sizes.items() if name in {field.name for field in fields(SYSTEMS[kind])}}
    made = recipe(kind, text={"kind": text, "vocabulary": 0}, system=sizes, objective={"kind": task})
    tokenizer = Tokenizer.train(LINES * 5, made.text, (MASK,) if kind == "bert" else ())
    torch.manual_seed(11)
    model = built(made.system, len(tokenizer), labels, made.objective.head)
    with torch.no_grad():
        for name, tensor in weights(model).items():
            tensor += (0.05 if name.endswith("norm.weight") else 0.3) * torch.randn_like(tensor)
    folder.mkdir(parents=True)
    write_model(folder, weights(model), tokenizer)
    write_json(folder / REPORT, {"data": {}})
    write_setup(folder, made, tokenizer, tuple("abcdefgh"[:labels]))
    return load(folder)
