"""Heads on an encoder, by their formulas in slow loops."""

import math
from collections.abc import Callable

import pytest
import torch

from regard.place import Place
from regard.systems import SYSTEMS, built
from regard.systems.bert import Bert
from tests.helpers import refused, same

TOKENS = torch.randint(0, 13, (2, 7), generator=torch.Generator().manual_seed(5))
AT = Place.line(TOKENS)
BENDS: dict[str, Callable[[float], float]] = {
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
    "gelu-tanh": lambda x: x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
}
POOLS = {"first": math.tanh, **{f"first-{name}": bend for name, bend in BENDS.items()}}


def small(head: str, **settings):
    """Wide numbers, so that activations differ where they should."""
    torch.manual_seed(3)
    model = built(Bert(width=6, heads=3, depth=1, hidden=11, context=17, dropout=0.0, **settings), 13, 5, head)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.5 * torch.randn_like(parameter)
    return model.double().eval()


def layer(row: torch.Tensor, dense: torch.nn.Linear, bend: Callable[[float], float]) -> torch.Tensor:
    """f(W x + b), number by number."""
    sums = [
        sum(w * x for w, x in zip(line, row, strict=True)) + b for line, b in zip(dense.weight, dense.bias, strict=True)
    ]
    return torch.tensor([bend(float(x)) for x in sums], dtype=torch.double)


@torch.no_grad()
@pytest.mark.parametrize(("feedforward", "bend"), [*BENDS.items(), ("swiglu", BENDS["gelu"]), ("geglu", BENDS["gelu"])])
def test_words_are_guessed_with_the_activation_of_the_layers(feedforward: str, bend: Callable) -> None:
    model = small("own", feedforward=feedforward)
    head, vectors, found = model.head, model.embed(TOKENS, AT), model.answer(TOKENS, AT)
    for b, t in ((0, 0), (1, 6)):
        x = layer(vectors[b, t], head.dense, bend)
        x = (x - x.mean()) / (x.var(correction=0) + 1e-12).sqrt() * head.norm.weight + head.norm.bias
        wanted = [x @ word + bias for word, bias in zip(model.encoder.embedding.rows.weight, head.bias, strict=True)]
        same(found[b, t], torch.stack(wanted))


@torch.no_grad()
@pytest.mark.parametrize("pool", POOLS)
def test_a_text_is_pooled_with_the_activation_that_is_named(pool: str) -> None:
    model = small("labels", pool=pool)
    vectors, found = model.embed(TOKENS, AT), model.answer(TOKENS, AT)
    for b in range(2):
        pooled = layer(vectors[b, 0], model.head.pool.dense, POOLS[pool])
        same(found[b], model.head.rows.weight @ pooled + model.head.rows.bias)


@torch.no_grad()
def test_without_segments_word_and_place_are_all_there_is() -> None:
    model = small("vectors", segments=0)
    embedding = model.encoder.embedding
    assert not [name for name in model.state_dict() if "segments" in name]
    for t in range(7):
        x = embedding.rows.weight[TOKENS[1, t]] + embedding.position.table.rows.weight[t]
        x = (x - x.mean()) / (x.var(correction=0) + 1e-12).sqrt() * embedding.norm.weight + embedding.norm.bias
        same(embedding(TOKENS, AT)[1, t], x)
    one = small("vectors", segments=1)
    one.encoder.embedding.segments.weight.zero_()
    one.load_state_dict(model.state_dict(), strict=False)
    same(one.answer(TOKENS, AT), model.answer(TOKENS, AT))


def test_fewer_segments_than_none_are_refused() -> None:
    with refused("system.segments = -1; it must be at least 0"):
        SYSTEMS["bert"](segments=-1)
