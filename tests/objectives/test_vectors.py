"""An objective that trains nothing says so wherever training begins, and keeps the pool of a text if there is one."""

from pathlib import Path

import pytest
import torch

from regard.data import Batch
from regard.objectives import Vectors
from regard.place import Place
from regard.systems import built
from regard.systems.bert import Bert
from tests.helpers import recipe, refused

SMALL = Bert(width=12, heads=3, depth=2, hidden=19, context=29, dropout=0.0)


def test_every_step_of_a_training_is_refused() -> None:
    objective, model = Vectors(), built(SMALL, 11, head="vectors")
    with refused("objective 'vectors' trains nothing: its run is there to be used, or to be started from"):
        objective.misfit(model)
    tokens = torch.zeros(2, 3, dtype=torch.long)
    for step in (
        lambda: objective.labels(None),
        lambda: objective.write(None, None, Path(), labels=(), context=5, too_long="drop"),
        lambda: objective.batches([], None, model),
        lambda: objective(model, Batch(tokens, tokens, 6)),
    ):
        with refused("with --from and another objective"):
            step()


@pytest.mark.parametrize("pooled", [False, True])
def test_the_pool_stands_beside_the_vectors(pooled: bool) -> None:
    objective = recipe("bert", objective={"kind": "vectors", "pooled": pooled}).objective
    assert objective == Vectors(pooled=pooled)
    model = built(SMALL, 11, head=objective.head).eval()
    tokens = torch.randint(0, 11, (3, 7))
    assert model.answers == "vectors"
    assert torch.equal(model.answer(tokens), model.embed(tokens, Place.line(tokens)))
    assert {name for name, _ in model.head.named_parameters()} == (
        {"pool.dense.weight", "pool.dense.bias"} if pooled else set()
    )


def test_a_pool_that_bert_does_not_have_is_refused() -> None:
    with refused("system.pool = 'ends' is not known; known: first, first-relu"):
        Bert(pool="ends")
