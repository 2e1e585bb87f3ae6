"""LSTMs with experts in training: the losses of their balance, the padding they are told of, the load logged."""

import json
import random
from pathlib import Path

import pytest
import torch

from regard.checkpoint import LOG, REPORT, load
from regard.data import IGNORE, Batch
from regard.objectives import OBJECTIVES
from regard.systems.moe_lstm import MoeLstm
from regard.tap import collect, record
from regard.train import train
from regard.verify import verify
from tests.helpers import lines_file, recipe, refused, same

LENGTHS = [7, 3, 5]


def model(**settings: float):
    made = MoeLstm(width=10, hidden=7, experts=5, chosen=2, context=23, dropout=0.0, **settings).build(13)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return made


def batch() -> Batch:
    present = torch.arange(7) < torch.tensor(LENGTHS)[:, None]
    tokens, source = torch.randint(0, 13, (3, 7)), torch.randint(0, 13, (3, 11))
    targets = torch.randint(0, 13, (3, 7)).masked_fill(~present, IGNORE)
    return Batch(tokens, targets, 0, source=source)  # the trainer leaves the count at 0 too


def folder_of_pairs(folder: Path, **train: int):
    chance = random.Random(11)
    lines = ["".join(chance.choices("abcdef", k=chance.randint(2, 13))) for _ in range(97)]
    data = {"train": lines_file(folder / "pairs.tsv", [f"{line}\t{line[::-1]}" for line in lines])}
    return recipe("moe-lstm", data=data, system={"hidden": 7, "experts": 5}, train={"threads": 1, **train})


def test_training_minimises_the_likelihood_and_the_balance_of_both_layers() -> None:
    system, given = model(importance_weight=0.3, load_weight=0.7).train(), batch()
    loss_of = OBJECTIVES["translation"](smoothing=0.0)
    torch.manual_seed(3)
    loss = loss_of(system, given)
    torch.manual_seed(3)
    with collect(system, "*.balance") as seen:
        system.hidden(given.tokens, system.encode(given.source), at=given.places())
    assert set(seen) == {"encoder_experts.balance", "decoder_experts.balance"}
    balance = sum(seen.values()).detach()
    assert float(balance) > 0
    same(loss.parts["balance"], balance * sum(LENGTHS))
    same(loss.total.detach(), loss.nats + balance * sum(LENGTHS))
    without = loss_of(system.eval(), given)
    same(without.total.detach(), without.nats)
    assert not without.parts


@pytest.mark.parametrize("training", [False, True])
def test_what_is_padded_is_given_to_no_expert(training: bool) -> None:
    system, given = model().train(training), batch()
    with record(system, "*.load") as seen:
        OBJECTIVES["translation"]()(system, given)
    assert int(seen["encoder_experts.load"].sum()) == 2 * 3 * 11
    assert int(seen["decoder_experts.load"].sum()) == 2 * sum(LENGTHS)


def test_what_is_padded_is_told_to_the_experts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Layers that are told pack their rows, for which the lengths must come from the device."""
    system, given = model(noise=0.0, load_weight=0.0), batch()
    expected = OBJECTIVES["translation"]()(system, given).total
    monkeypatch.setattr("regard.blocks.recurrent.pack_padded_sequence", None)
    assert torch.equal(OBJECTIVES["translation"]()(system, given).total, expected)


def test_a_batch_in_pieces_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with refused("train.accumulate = 3: system 'moe-lstm' learns from a whole batch at once"):
        train(folder_of_pairs(tmp_path, accumulate=3), tmp_path / "run", quiet=True)
    assert not (tmp_path / "run").exists()


def test_a_run_logs_the_balance_and_keeps_the_load(tmp_path: Path) -> None:
    folder = train(folder_of_pairs(tmp_path, steps=3), tmp_path / "run", quiet=True)
    events = [json.loads(line) for line in (folder / LOG).read_text().splitlines()]
    assert all(event["balance"] > 0 for event in events if event["event"] == "step")
    (valid,) = (event for event in events if event["event"] == "valid")
    report = json.loads((folder / REPORT).read_text())["measured"]
    for name in ("expert_load", "expert_load_cv"):
        assert report[name] == valid[name]
    assert sum(report["expert_load"]["decoder_experts"]) == pytest.approx(1, abs=1e-3)
    (line,) = verify(load(folder), only=["accumulated = full batch"]).lines
    assert line.state == "does not apply"
    assert "whole batch" in line.why


def test_settings_that_make_no_sense_are_refused() -> None:
    with refused("system.experts = 0; it must be at least 1"):
        MoeLstm(experts=0)
    with refused("system.chosen = 9; it must lie between 1 and the number of experts, 8"):
        MoeLstm(chosen=9)
