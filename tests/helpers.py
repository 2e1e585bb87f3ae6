"""What several test files need: comparison, slow attention written from the equation, small texts and recipes."""

import math
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import settings
from torch import Tensor

from regard.errors import UserError
from regard.place import Place
from regard.recipe import Recipe
from regard.systems import SYSTEMS, built

SMALL = {"width": 16, "heads": 2, "depth": 1, "context": 23, "dropout": 0.0}
NEAR = {"rtol": 1e-4, "atol": 1e-5}
steady = settings(derandomize=True, deadline=None, max_examples=60, database=None)  # the same examples in every run


def same(a: Tensor, b: Tensor, **tolerance: float) -> None:
    torch.testing.assert_close(a, b, **{**NEAR, **tolerance})


def refused(message: str, error: type[Exception] = UserError) -> Any:
    """A user's mistake whose message holds these very words."""
    return pytest.raises(error, match=re.escape(message))


def place(rows: list[list[int]], **fields: Any) -> Place:
    """Tokens at these indices, with documents or presence where given."""
    return Place(torch.tensor(rows), **{name: torch.tensor(value) for name, value in fields.items()})


def line(rows: int, length: int) -> Place:
    """Every row counted from 0."""
    return Place(torch.arange(length).expand(rows, length))


def softmax(scores: list[float]) -> list[float]:
    """e^s over its sum; all zeros when nothing may be looked at (every score -inf)."""
    if all(s == -math.inf for s in scores):
        return [0.0] * len(scores)
    shares = [math.exp(s) for s in scores]
    return [share / sum(shares) for share in shares]


def slow_attend(
    query: Tensor, key: Tensor, value: Tensor, score: Callable[[Tensor, Tensor, int], float], allow: Tensor
) -> tuple[Tensor, Tensor]:
    """Weights and context, one query at a time; `score(q, k, head)` takes two vectors, `allow` one truth per pair."""
    rows, heads, queries, _ = query.shape
    weights = torch.zeros(rows, heads, queries, key.shape[2])
    context = torch.zeros(rows, heads, queries, value.shape[3])
    for b in range(rows):
        for h in range(heads):
            g = h * key.shape[1] // heads
            for i in range(queries):
                scores = [
                    float(score(query[b, h, i], key[b, g, j], h)) if bool(allow[b, 0, i, j]) else -math.inf
                    for j in range(key.shape[2])
                ]
                for j, weight in enumerate(softmax(scores)):
                    weights[b, h, i, j] = weight
                    context[b, h, i] += weight * value[b, g, j]
    return weights, context


def recipe(kind: str, **sections: dict[str, Any]) -> Recipe:
    """A very small system of this kind, with settings put over."""
    known = {field.name for field in fields(SYSTEMS[kind])}
    model = built(SYSTEMS[kind](), 5)
    writes = "translation" if model.reads_source else "next-token"
    answers = "skip-gram" if model.answers == "vectors" else "classification"
    objective = writes if model.writes_text else answers
    tree: dict[str, Any] = {
        "seed": 3,
        "data": {},
        "text": {"kind": "char"},
        "system": {"kind": kind, **{name: size for name, size in SMALL.items() if name in known}},
        "objective": {"kind": objective},
        "train": {"steps": 6, "batch_tokens": 92, "warmup": 2, "device": "cpu", "rate": 0.01, "log_every": 1},
    }
    for name, values in sections.items():
        tree[name] = {**tree.get(name, {}), **values}
    return Recipe.parse(tree, where="test")


def lines_file(path: Path, lines: list[str]) -> str:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)
