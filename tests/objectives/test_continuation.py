"""What follows a source (O9): the loss of the target alone and, with a weight, of the source beside it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.data import IGNORE, Batch
from regard.data.continued import Continued, write_continued
from regard.data.sources import Source
from regard.decode import score
from regard.objectives import Continuation, NextToken
from regard.systems import SYSTEMS, built
from regard.text import Text, Tokenizer
from regard.train.run import check
from tests.helpers import recipe, refused, same

LETTERS = Tokenizer.train(["abcdefgh"], Text(kind="char"))
RECORDS = [("abcdefg", "de"), ("a", "fghhh"), ("hgfed", "c")]
KINDS = {
    "gpt": {"kind": "gpt"},
    "dmca": {"kind": "gpt", "attention": "dmca", "block": 4, "stride": 2, "depth": 3, "position": "rotary"},
    "rnn": {"kind": "rnn-lm"},
}


def model(name: str = "gpt", **more) -> torch.nn.Module:
    torch.manual_seed(3)
    return built(recipe(KINDS[name]["kind"], system={**KINDS[name], **more}).system, len(LETTERS))


def batch(folder: Path) -> Batch:
    source = Source("test", lambda: iter(RECORDS), len(RECORDS))
    columns = ("source", "target")
    stores, _ = write_continued(source, LETTERS, folder, columns=columns, context=23, too_long="drop")
    return Continued(stores, LETTERS, batch_tokens=100).collate(np.arange(len(RECORDS)))


def whole(given: Batch) -> Batch:
    """The same rows with every token asked for that follows another."""
    targets = given.tokens.roll(-1, 1).where(given.targets == IGNORE, given.targets)
    for i, length in enumerate(given.lengths):
        targets[i, length:] = IGNORE
    return replace(given, targets=targets, count=int((targets != IGNORE).sum()))


@pytest.mark.parametrize("name", KINDS)
def test_the_loss_is_that_of_the_targets_tokens_in_the_whole_row(name: str, tmp_path: Path) -> None:
    """As plain next-token prediction has them, with the source's left out; and as `score` tells them."""
    system, given = model(name).eval(), batch(tmp_path)
    loss, plain = Continuation()(system, given), NextToken()(system, whole(given))
    same(loss.each, plain.each.masked_fill(given.targets == IGNORE, 0.0))
    same(loss.total, loss.each.sum())
    assert loss.count == given.count == 3 + 6 + 2
    sources, texts = ([LETTERS.encode(record[i]) for record in RECORDS] for i in (0, 1))
    told = score(system, LETTERS, texts, sources)
    assert [len(row) for row in told] == [len(text) + 1 for text in texts]
    for each, row in zip(loss.each, told, strict=True):
        same(-each[each != 0], torch.tensor(row))


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_with_a_weight_of_one_it_is_plain_next_token_prediction(smoothing: float, tmp_path: Path) -> None:
    """In what is minimised and in its gradient."""
    given = batch(tmp_path)
    weighted = Continuation(source_weight=1.0, smoothing=smoothing), given
    plain = NextToken(smoothing=smoothing), whole(given)
    found = []
    for objective, asked in (weighted, plain):
        system = model().train()
        loss = objective(system, asked)
        loss.total.backward()
        found.append([loss.total.detach(), *(p.grad for p in system.parameters())])
    for ours, theirs in zip(*found, strict=True):
        same(ours, theirs)


def test_the_source_counts_by_its_weight_and_only_in_training(tmp_path: Path) -> None:
    system, given = model().train(), batch(tmp_path)
    alone, half, one = (Continuation(source_weight=weight)(system, given) for weight in (0.0, 0.5, 1.0))
    same(half.total - alone.total, 0.5 * (one.total - alone.total))
    same(one.parts["source"], one.total - alone.total)
    same(alone.total, alone.nats)
    assert one.total > alone.total and not alone.parts
    same(one.each, alone.each)
    told = Continuation(source_weight=1.0)(system.eval(), given)
    same(told.total, alone.total)


def test_experts_are_balanced_beside_it(tmp_path: Path) -> None:
    system = model("dmca", feedforward="experts", experts=4, chosen=2, noise=0.0, load_weight=0.0).train()
    loss = Continuation()(system, batch(tmp_path))
    extra = sum(part for part in loss.parts.values())
    assert loss.parts and extra > 0
    same(loss.total.detach(), loss.nats + extra)


def test_only_the_targets_get_scores(tmp_path: Path) -> None:
    """A row of thousands of tokens asks for a few."""
    system, sizes = model(), []
    real = system.logits
    system.logits = lambda rows: sizes.append(rows.shape[0]) or real(rows)
    given = batch(tmp_path)
    Continuation()(system, given)
    assert sum(sizes) == given.count


def test_what_it_cannot_train_is_refused() -> None:
    objective = {"kind": "continuation"}
    with refused("system 'transformer' reads a source by itself and objective 'continuation' writes it before"):
        check(recipe("transformer", objective=objective))
    with refused("system 'bert' writes no text and objective 'continuation' asks for it"):
        check(recipe("bert", objective=objective))
    with refused("system 'gpt' shows each token its own block alone, and objective 'continuation' asks for a target"):
        check(recipe("gpt", system={"attention": "local", "block": 4}, objective=objective))
    for wrong in (-0.1, float("nan")):
        with refused(f"objective.source_weight = {wrong}; it must be 0 or more"):
            Continuation(source_weight=wrong)
    for kind in SYSTEMS:
        if (made := built(SYSTEMS[kind](), 5)).writes_text and not made.reads_source:
            check(recipe(kind, objective=objective))
