"""Two untrained runs with weights large enough that they look at some things more than at others."""

from pathlib import Path

import pytest
import torch

from regard import recipe
from regard.checkpoint import Run
from regard.text import Text, Tokenizer

SOURCE = "The chicken didn't cross the road because it was too tired."
TARGET = "Das Huhn überquerte die Straße nicht, weil es zu müde war."
AWKWARD = 'it </script><b onload="x">&amp; costs $5_a$\n中文 שלום it'
SIZES = {"width": 21, "heads": 3, "depth": 2, "hidden": 37, "context": 53, "dropout": 0.0}


def make(preset: str, kind: str = "bpe", **settings) -> Run:
    """A run as `checkpoint.load` gives it; words are cut into several tokens."""
    values = [f"system.{name}={value!r}" for name, value in {**SIZES, **settings}.items()]
    made = recipe.read(preset, [f"text.kind={kind!r}", *values])
    tokenizer = Tokenizer.train([SOURCE, TARGET, AWKWARD], Text(kind=kind, vocabulary=71 if kind == "bpe" else 0))
    torch.manual_seed(5)
    model = made.system.build(len(tokenizer))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return Run(Path("runs") / "tiny <&>", made, tokenizer, model.eval())


@pytest.fixture(scope="session")
def speaker() -> Run:
    return make("gpt")


@pytest.fixture(scope="session")
def translator() -> Run:
    return make("transformer-tiny")
