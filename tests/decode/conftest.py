"""A small untrained language model and translator over one character vocabulary."""

import pytest
import torch

from regard.systems import SYSTEMS
from regard.text import Text, Tokenizer


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(["the chicken didn't cross the road\n"], Text(kind="char"))


def small(kind: str, vocabulary: int, seed: int = 3, context: int = 23):
    torch.manual_seed(seed)
    settings = {"width": 20, "heads": 5, "depth": 2, "hidden": 29, "context": context, "dropout": 0.0}
    model = SYSTEMS[kind](**settings).build(vocabulary)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return model.eval()


@pytest.fixture(scope="module")
def speaker(tokenizer):
    return small("gpt", len(tokenizer))


@pytest.fixture(scope="module")
def translator(tokenizer):
    return small("transformer", len(tokenizer))
