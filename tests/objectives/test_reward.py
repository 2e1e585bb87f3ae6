"""GLEU against counting by hand; the reward's gradient against that of the expected reward, summed over all texts."""

import os
import random
import signal
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.data import IGNORE, Batch
from regard.errors import Interrupted
from regard.objectives import OBJECTIVES, Reward, Translation, likelihood, reward
from regard.objectives.gleu import gleu
from regard.systems.moe_lstm import MoeLstm
from regard.systems.seq2seq_attention import Seq2SeqAttention
from regard.systems.transformer import Transformer
from regard.tap import collect
from regard.train import resume, train
from regard.train.device import cpu_has_bfloat16
from tests.helpers import lines_file, recipe, refused, same
from tests.train.runs import identical, listen

START, END, A, B = 2, 3, 4, 5


def slow_gleu(tokens: list[int], reference: list[int]) -> float:
    """Each n-gram of the translation takes one that is equal and not yet taken out of the reference."""

    def grams(text: list[int]) -> list[list[int]]:
        return [text[i : i + n] for n in (1, 2, 3, 4) for i in range(len(text)) if i + n <= len(text)]

    ours, left, found = grams(tokens), grams(reference), 0
    sizes = len(ours), len(left)
    for gram in ours:
        if gram in left:
            left.remove(gram)
            found += 1
    return min(found / sizes[0], found / sizes[1])


def test_gleu_equals_counting_by_hand() -> None:
    chance = random.Random(3)
    for _ in range(200):
        one, other = (chance.choices(range(4), k=chance.randint(1, 11)) for _ in range(2))
        assert gleu(one, other) == pytest.approx(slow_gleu(one, other))


def test_gleu_of_small_texts() -> None:
    assert gleu([7, 8, 9], [7, 8, 9]) == gleu([], []) == 1
    assert gleu([7], [8]) == gleu([], [8]) == gleu([8], []) == 0
    assert gleu([7, 8], [7, 8, 9]) == gleu([7, 8, 9], [7, 8]) == 3 / 6  # recall is the smaller, then precision
    assert gleu([7, 7], [7]) == 1 / 3  # a word counts as often as the reference has it
    assert gleu([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]) == 1


def batch(references: list[list[int]], sources: list[list[int]]) -> Batch:
    def table(rows: list[list[int]], filler: int) -> torch.Tensor:
        width = max(map(len, rows))
        return torch.tensor([row + [filler] * (width - len(row)) for row in rows])

    ended = [[*source, END] for source in sources]
    present = torch.arange(max(map(len, ended))) < torch.tensor([[len(source)] for source in ended])
    count = sum(len(reference) + 1 for reference in references)
    return Batch(
        table([[START, *reference] for reference in references], 0),
        table([[*reference, END] for reference in references], IGNORE),
        count,
        source=table(ended, 0),
        source_present=present,
    )


THREE = batch([[A, B, 6, 7], [B], [A, A, 8]], [[7, 8], [6, 7, 8, 9, 5], [4]])


def model(kind: type = Seq2SeqAttention, vocabulary: int = 11, dropout: float = 0.0):
    torch.manual_seed(5)
    heads = {"heads": 2} if kind is Transformer else {}
    return kind(width=14, depth=1, dropout=dropout, **heads).build(vocabulary)


def test_the_gradient_is_that_of_the_expected_reward() -> None:
    """Against a sum over every translation of at most three tokens, each with its probability."""
    system, given = model(vocabulary=6), batch([[A, B]], [[B, A]])
    words = [0, 1, START, A, B]
    texts = [[*begin, END] for n in range(3) for begin in product(words, repeat=n)]
    texts += [list(text) for text in product(words, repeat=3)]
    tokens = torch.tensor([[START, *text, 0, 0][:3] for text in texts])
    logs = system.decode(tokens, system.encode(given.source).reorder(torch.zeros(len(texts), dtype=torch.long)))
    likely = [line[range(len(text)), text].sum() for line, text in zip(logs.log_softmax(-1), texts, strict=True)]
    probabilities = torch.stack(likely).exp()
    same(probabilities.sum(), torch.tensor(1.0))
    scores = torch.tensor([gleu([token for token in text if token != END], [A, B]) for text in texts])
    exact = torch.autograd.grad(-(probabilities * scores).sum(), list(system.parameters()))

    loss = Reward(likelihood=0.0, samples=20_000, longest=1.0)(system, given)
    same(loss.parts["reward"] / given.count, (probabilities * scores).sum().detach(), rtol=0.05)
    found = torch.autograd.grad(loss.total, list(system.parameters()))
    exact, found = torch.cat([g.flatten() for g in exact]), torch.cat([g.flatten() for g in found])
    assert (found - exact).norm() < 0.05 * exact.norm()


def test_the_loss_is_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """likelihood * smoothed loss - sum of (r - mean r) log p / (samples - 1), each sample scored alone."""
    system, objective = model(), Reward(likelihood=0.3, samples=3, smoothing=0.2)
    drawn: list[Any] = []
    draw = Reward.draw
    monkeypatch.setattr(Reward, "draw", lambda *args: drawn.append(draw(*args)) or drawn[-1])
    loss, plain = objective(system, THREE), Translation(smoothing=0.2)(system, THREE)
    ((samples, rewards),) = drawn
    total = 0.3 * plain.total
    for i in range(9):
        row = THREE.row(i // 3)
        length = samples.lengths[i]
        logs = system.decode(samples.tokens[i : i + 1, :length], system.encode(row.source)).log_softmax(-1)[0]
        log_p = logs[range(length), samples.targets[i, :length]].sum()
        total = total - (rewards[i // 3, i % 3] - rewards[i // 3].mean()) * log_p / 2
        said = [t for t in samples.targets[i, :length].tolist() if t != END]
        assert rewards[i // 3, i % 3] == pytest.approx(gleu(said, row.targets[0, :-1].tolist()))
        assert length <= max(1, int(1.5 * row.count))
    same(loss.total, total)
    same(loss.nats, plain.nats)
    sizes = torch.tensor([5.0, 2.0, 4.0])
    same(loss.parts["reward"], (rewards.mean(1) * sizes).sum())


def test_the_balance_of_experts_keeps_its_weight_and_sees_what_was_drawn_too() -> None:
    """Over both passes, each of which has a gradient, and not over the drawing itself."""
    system, objective = model(MoeLstm), Reward(likelihood=0.3, samples=3)
    torch.manual_seed(7)
    loss = objective(system, THREE)
    torch.manual_seed(7)
    with collect(system, "*.balance") as seen:
        rest = objective.loss(system, replace(THREE, at=THREE.places()))
    assert [len(seen.all(f"{side}_experts.balance")) for side in ("encoder", "decoder")] == [2, 2]
    assert len({term.item() for name in seen for term in seen.all(name)}) == 4, "all are alike: the test sees nothing"
    balance = sum(sum(seen.all(name)) / 2 for name in seen) * 11
    same(loss.total, rest.total + balance)
    same(loss.parts["balance"], balance.detach())
    assert loss.parts["reward"] == rest.parts["reward"]


@pytest.mark.parametrize("kind", [Seq2SeqAttention, Transformer])
def test_in_pieces_it_is_the_same(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch cut into rows draws the same samples; logits made in pieces give the same gradient."""
    system, found = model(kind), []
    for pieces, at_once in ((1, 2**28), (2, 2**28), (3, 2**28), (1, 5 * 11)):
        monkeypatch.setattr(likelihood, "AT_ONCE", {"cpu": at_once})
        torch.manual_seed(9)
        system.zero_grad()
        parts = [Reward(likelihood=0.2)(system, piece) for piece in THREE.split(pieces)]
        total = sum(part.total for part in parts)
        total.backward()
        rewards = sum(part.parts["reward"] for part in parts)
        found.append([total.detach(), rewards, *(p.grad.clone() for p in system.parameters())])
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            same(a, b)


def test_nothing_is_drawn_while_evaluating(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reward, "draw", None)
    system, objective = model(), Reward(smoothing=0.2)
    expected = Translation(smoothing=0.2)(system, THREE)
    with torch.no_grad():
        assert objective(system, THREE).total == expected.total
    loss = objective(system.eval(), THREE)
    assert (loss.total, loss.nats) == (expected.total, expected.nats)


def test_samples_are_drawn_without_dropout_and_their_probability_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    system = model(dropout=0.4)
    modes: list[tuple[bool, bool]] = []
    real = system.encode
    system.encode = lambda *args: modes.append((system.training, torch.is_grad_enabled())) or real(*args)
    Reward()(system, THREE)
    assert modes == [(True, True), (False, False), (True, True)]
    assert all(part.training for part in system.modules())


@pytest.mark.skipif(not cpu_has_bfloat16(), reason="this CPU has no bfloat16")
def test_in_half_precision_every_weight_has_a_gradient() -> None:
    """Weights cast while sampling must not be kept for the pass with gradients."""
    system = model(Transformer)
    with torch.autocast("cpu", torch.bfloat16):
        drawn, _ = Reward().draw(system, THREE)
        total = reward.log_likelihoods(system, drawn, THREE).sum()
    total.backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in system.parameters())


def test_the_same_state_of_chance_draws_the_same() -> None:
    system, totals = model(dropout=0.3), []
    for seed in (7, 7, 8):
        torch.manual_seed(seed)
        totals.append(Reward()(system, THREE).total.item())
    assert totals[0] == totals[1] != totals[2]


def test_settings_that_make_no_sense_are_refused() -> None:
    for name, value, words in [
        ("samples", 1, "give 2 or more"),
        ("temperature", 0.0, "objective.temperature = 0.0; it must be more than 0"),
        ("longest", 0.0, "objective.longest = 0.0; it must be more than 0"),
        ("likelihood", -1.0, "objective.likelihood = -1.0; it must be 0 or more"),
        ("smoothing", 1.0, "objective.smoothing = 1.0"),
    ]:
        with refused(words):
            Reward(**{name: value})
    assert OBJECTIVES["reward"] is Reward


def test_a_resumed_training_is_an_uninterrupted_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(11)
    lines = ["".join(chance.choices("abcdef", k=chance.randint(2, 13))) for _ in range(53)]
    given = recipe(
        "seq2seq-attention",
        data={"train": lines_file(tmp_path / "pairs.tsv", [f"{line}\t{line[::-1]}" for line in lines])},
        objective={"kind": "reward", "samples": 3},
        system={"dropout": 0.2},
        train={"steps": 7, "threads": 1, "save_every": 3, "evaluate_every": 2},
    )

    def stop(event: dict[str, Any]) -> None:
        if event["event"] == "step" and event["step"] == 5:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        listen(patch, stop)
        with pytest.raises(Interrupted):
            train(given, tmp_path / "stopped", quiet=True)
    resume(tmp_path / "stopped", quiet=True)
    train(given, tmp_path / "whole", quiet=True)
    identical(tmp_path / "stopped", tmp_path / "whole")
