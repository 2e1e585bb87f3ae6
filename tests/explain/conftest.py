"""Untrained runs with weights large enough that they look at some things more than at others."""

import json
from dataclasses import fields
from pathlib import Path

import pytest
import torch

from regard import recipe
from regard.checkpoint import Run
from regard.systems import built
from regard.text import Text, Tokenizer

SOURCE = "The chicken didn't cross the road because it was too tired."
TARGET = "Das Huhn überquerte die Straße nicht, weil es zu müde war."
AWKWARD = 'it </script><b onload="x">&amp; costs $5_a$\n中文 שלום it'
SIZES = {"width": 21, "heads": 3, "depth": 2, "hidden": 37, "context": 53, "dropout": 0.0}
EVEN = {"width": 22}  # for layers that read both ways, or in halves
LABELS = ("blame", "neither", "praise")
ATTENTIVE = ["seq2seq-attention", "gnmt", "deep-att", "moe-lstm", "convs2s"]
BLIND = ["seq2seq", "bytenet"]
SPEAKERS = ["rnn-lm", "lstm-lm", "window-lm"]
CLASSIFIERS = ["rnn-classifier", "window-classifier"]


def make(preset: str, kind: str = "bpe", **settings) -> Run:
    """A run as `checkpoint.load` gives it; words are cut into several tokens."""
    known = {field.name for field in fields(recipe.read(preset).system)}
    sizes = {name: size for name, size in SIZES.items() if name in known}
    values = [f"system.{name}={json.dumps(value)}" for name, value in {**sizes, **settings}.items()]
    made = recipe.read(preset, [f"text.kind={kind!r}", *values])
    cut = Text(kind=kind, vocabulary=71 if kind == "bpe" else 0)
    tokenizer = Tokenizer.train([SOURCE, TARGET, AWKWARD], cut, made.objective.symbols)
    torch.manual_seed(5)
    model = built(made.system, len(tokenizer), len(LABELS), made.objective.head)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return Run(Path("runs") / "tiny <&>", made, tokenizer, model.eval(), LABELS if model.labels else ())


def encoder(kind: str, objective: str) -> Run:
    """An encoder of this kind, or a head on a language model, that says what the objective asks for."""
    width = {"width": 22, "heads": 2} if kind != "rnn-encoder" else {"width": 22}
    tree = {"system": {"kind": kind, "depth": 2, "context": 53, **width}, "objective": {"kind": objective}}
    made = recipe.Recipe.parse({"text": {"kind": "bpe"}, **tree}, where="test")
    tokenizer = Tokenizer.train([SOURCE, TARGET, AWKWARD], Text(vocabulary=71), made.objective.symbols)
    torch.manual_seed(5)
    model = built(made.system, len(tokenizer), len(LABELS), made.objective.head).eval()
    return Run(Path("runs") / "tiny", made, tokenizer, model, LABELS if model.labels else ())


def texts_for(run: Run) -> dict[str, str]:
    return {"source": SOURCE, "target": TARGET} if run.model.reads_source else {"text": SOURCE}


@pytest.fixture(scope="session")
def speaker() -> Run:
    return make("gpt")


@pytest.fixture(scope="session")
def translator() -> Run:
    return make("transformer-tiny")
