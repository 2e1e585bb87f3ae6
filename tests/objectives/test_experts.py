"""Whatever is learnt, experts are kept evenly used: every objective adds the losses of their balance while training."""

from typing import Any

import pytest
import torch

from regard.data import IGNORE, Batch
from regard.objectives import OBJECTIVES
from regard.place import Place
from regard.systems import SYSTEMS, built
from regard.tap import collect
from tests.helpers import same

ROWS, LENGTH, LABELS = 3, 11, 5
MIXED = {"feedforward": "experts", "experts": 3, "width": 14, "heads": 2, "hidden": 7, "depth": 2, "context": 23}
CASES = [("gpt", "classification"), ("gpt", "tagging"), ("bert", "classification"), ("bert", "tagging")]
CASES += [("bert", "masked"), ("bert", "masked-pairs"), ("gpt", "next-token")]


def batch(kind: str) -> Batch:
    tokens = torch.randint(5, 31, (ROWS, LENGTH))
    present = torch.arange(LENGTH) < torch.tensor([LENGTH, 7, 3])[:, None]
    if kind == "classification":
        return Batch(tokens, torch.randint(0, LABELS, (ROWS,)), ROWS, Place.line(tokens, present))
    targets = torch.randint(0, LABELS, (ROWS, LENGTH)).masked_fill(~present, IGNORE)
    return Batch(tokens, targets, int(present.sum()), Place.line(tokens, present), label=torch.tensor([0, 1, 1]))


def seeded(read: Any, model: Any, given: Batch) -> Any:
    torch.manual_seed(3)
    return read(model, given)


@pytest.mark.parametrize(("system", "kind"), CASES)
def test_the_balance_is_added_for_each_target_while_training(system: str, kind: str) -> None:
    objective, given = OBJECTIVES[kind](), batch(kind)
    settings = SYSTEMS[system](**MIXED, dropout=0.0, importance_weight=0.3, load_weight=0.7)
    model = built(settings, 31, labels=LABELS, head=objective.head).train()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    loss = seeded(objective, model, given)
    with collect(model, "*.balance") as seen:
        seeded(objective.loss, model, given)
    balance = torch.stack([seen[name] for name in seen]).sum().detach()
    assert len(seen) == MIXED["depth"] and float(balance) > 0
    same(loss.parts["balance"], balance * (given.targets != IGNORE).sum())
    gate = next(parameter for name, parameter in model.named_parameters() if name.endswith("to_noise"))
    assert float(torch.autograd.grad(loss.total, gate)[0].abs().max()) > 0
    assert "balance" not in seeded(objective, model.eval(), given).parts
