"""The training loop on real small runs: the same seed, accumulation, limits, early stopping, a loss that is lost."""

import json
from pathlib import Path

import pytest
import torch

from regard.checkpoint import REPORT, load, put_weights, read_tokenizer
from regard.errors import Diverged, WorldError
from regard.recipe import Recipe
from regard.train import train
from regard.train.loop import Trainer
from regard.train.run import make_trainer, start
from tests.helpers import refused, same
from tests.train.runs import MAKERS, identical, language_model, listen, log, progress, translator, weights

every_kind = pytest.mark.parametrize("maker", MAKERS)


def trainer(recipe: Recipe, folder: Path) -> Trainer:
    start(recipe, folder, say=lambda line: None)
    return make_trainer(folder, recipe, read_tokenizer(folder), [])


@every_kind
def test_the_same_seed_gives_the_same_run_to_the_last_bit(tmp_path: Path, maker: str) -> None:
    recipe = MAKERS[maker](tmp_path, system={"dropout": 0.1})
    one, other = (train(recipe, tmp_path / name, quiet=True) for name in ("one", "other"))
    identical(one, other)


def test_another_seed_gives_another_run(tmp_path: Path) -> None:
    tree = language_model(tmp_path).to_dict()
    runs = [train(Recipe.parse({**tree, "seed": s}, where="test"), tmp_path / str(s), quiet=True) for s in (1, 2)]
    assert log(runs[0]) != log(runs[1])


@every_kind
def test_accumulating_gives_the_same_weights_as_the_whole_batch(tmp_path: Path, maker: str) -> None:
    """Pieces hold different numbers of tokens, so a mean of means would not do; Adam would show it within few steps."""
    whole, pieces = (
        train(MAKERS[maker](tmp_path, steps=9, accumulate=n, rate=0.003), tmp_path / str(n), quiet=True) for n in (1, 3)
    )
    for name, tensor in weights(whole).items():
        if not name.endswith("to_key.bias"):  # it adds the same to all scores: Adam makes steps of its rounding errors
            same(weights(pieces)[name], tensor, rtol=1e-3, atol=1e-4)
    for (_, a), (_, b) in zip(log(whole), log(pieces), strict=True):
        assert a == pytest.approx(b, rel=1e-4)


@every_kind
def test_it_learns(tmp_path: Path, maker: str) -> None:
    losses = [
        loss for _, loss in log(train(MAKERS[maker](tmp_path, steps=60, rate=0.02), tmp_path / "run", quiet=True))
    ]
    assert sum(losses[-5:]) / 5 < 0.9 * losses[0]


def test_the_logged_loss_is_nats_per_token_of_the_objective(tmp_path: Path) -> None:
    made = trainer(translator(tmp_path), tmp_path / "run")
    heard = []
    made.watch = [heard.append]
    batch = made.batches.batch(0, 0)
    expected = made.objective(made.model, batch)
    made.fit()
    assert heard[0]["loss"] == pytest.approx(float(expected.nats) / expected.count, rel=1e-5)
    assert [event["step"] for event in heard if event["event"] == "step"] == [1, 2, 3, 4, 5, 6]
    assert [event["event"] for event in heard][-2:] == ["valid", "end"]


def test_gradients_are_clipped_as_told(tmp_path: Path) -> None:
    made = trainer(language_model(tmp_path, clip=0.001), tmp_path / "run")
    seen = []
    real = made.state.optimiser.step
    made.state.optimiser.step = lambda: seen.append([p.grad.clone() for p in made.model.parameters()]) or real()
    made.fit()
    for gradients in seen:
        assert float(torch.stack([g.norm() for g in gradients]).norm()) == pytest.approx(0.001, rel=1e-3)


@pytest.mark.parametrize("limit", [200, 331, 500])
def test_a_limit_of_tokens_is_never_passed(tmp_path: Path, limit: int) -> None:
    made = trainer(translator(tmp_path, steps=1000, max_tokens=limit), tmp_path / "run")
    counts = []
    real = made.update
    made.update = lambda batch: counts.append(batch.count) or real(batch)
    made.fit()
    done = made.state.progress
    assert sum(counts) == done.tokens <= limit
    assert done.finished
    epoch = made.batches
    following = [epoch.batch(e, s).count for e in range(9) for s in range(epoch.steps(e))][len(counts)]
    assert done.tokens + following > limit, "it stopped too early"


def test_a_limit_that_holds_not_one_batch_is_refused(tmp_path: Path) -> None:
    with refused("train.max_tokens = 3 is less than one batch; lower train.batch_tokens"):
        train(translator(tmp_path, max_tokens=3), tmp_path / "run", quiet=True)


def test_whichever_limit_comes_first_ends_the_training(tmp_path: Path) -> None:
    folder = train(translator(tmp_path, steps=3, max_tokens=100_000), tmp_path / "run", quiet=True)
    assert progress(folder)["step"] == 3
    assert json.loads((folder / REPORT).read_text())["measured"]["steps"] == 3


def test_epochs_follow_each_other_without_a_gap(tmp_path: Path) -> None:
    made = trainer(translator(tmp_path, steps=40), tmp_path / "run")
    taken = []
    real = made.update
    made.update = lambda batch: taken.append(batch.tokens) or real(batch)
    made.fit()
    batches = made.batches
    expected = [batches.batch(e, s).tokens for e in range(9) for s in range(batches.steps(e))][:40]
    assert made.state.progress.epoch > 0
    assert all(torch.equal(a, b) for a, b in zip(taken, expected, strict=True))


@pytest.mark.parametrize("average", ["none", "ema"])
def test_early_stopping_keeps_the_best(tmp_path: Path, average: str) -> None:
    recipe = language_model(
        tmp_path,
        steps=400,
        rate=0.05,
        patience=3,
        evaluate_every=2,
        save_every=1000,
        average=average,
        schedule="constant",
    )
    folder = train(recipe, tmp_path / "run", quiet=True)
    done, valid = progress(folder), dict(log(folder, "valid"))
    assert done["finished"]
    assert done["step"] < 400
    assert min(valid, key=valid.get) == done["best_step"] == done["step"] - 3 * 2
    made = make_trainer(folder, recipe, read_tokenizer(folder), [])
    made.state.average.kept = {}
    put_weights(made.model, weights(folder), "test")
    assert made.evaluate(made.valid) == pytest.approx(valid[done["best_step"]], rel=1e-6)


def test_without_patience_the_last_weights_are_kept(tmp_path: Path) -> None:
    folder = train(language_model(tmp_path, evaluate_every=1), tmp_path / "run", quiet=True)
    model = load(folder).model
    state = make_trainer(folder, load(folder).recipe, read_tokenizer(folder), []).state
    state.restore(folder)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), state.model.parameters(), strict=True))


def test_validation_measures_the_average_and_leaves_the_weights_alone(tmp_path: Path) -> None:
    made = trainer(language_model(tmp_path), tmp_path / "run")
    plain = made.evaluate(made.valid)
    made.state.average.weights = lambda: {n: torch.zeros_like(p) for n, p in made.model.named_parameters()}
    before = [p.detach().clone() for p in made.model.parameters()]
    assert made.evaluate(made.valid) == pytest.approx(torch.tensor(float(made.model.vocabulary)).log().item())
    assert plain != made.evaluate(made.valid)
    assert all(torch.equal(a, b) for a, b in zip(made.model.parameters(), before, strict=True))


def test_a_loss_that_is_no_number_names_step_and_module_and_keeps_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from regard.train import run

    recipe, folder, made = language_model(tmp_path, steps=20, save_every=2, system={"depth": 2}), tmp_path / "run", []
    real = run.make_trainer
    monkeypatch.setattr(run, "make_trainer", lambda *args: made.append(real(*args)) or made[-1])

    def poison(event: dict) -> None:
        if event["step"] == 7:
            made[-1].model.decoder.blocks[1].feedforward.widen.weight.data[3, 5] = float("nan")

    listen(monkeypatch, poison)
    with refused("no longer a number at step 8; first in decoder.blocks.1.feedforward.widen", Diverged):
        train(recipe, folder, quiet=True)
    assert progress(folder)["step"] == 6
    assert all(tensor.isfinite().all() for tensor in weights(folder).values())


def test_a_rate_that_is_too_high_ends_as_a_failure_of_the_world(tmp_path: Path) -> None:
    with refused("try a lower train.rate", WorldError):
        train(language_model(tmp_path, steps=50, rate=1e30), tmp_path / "run", quiet=True)


def test_training_ends_when_its_time_is_over_and_is_saved(tmp_path: Path) -> None:
    settings = {"steps": 0, "max_seconds": 0.5, "evaluate_every": 1, "save_every": 10_000, "log_every": 1}
    folder = train(language_model(tmp_path, **settings), tmp_path / "run", quiet=True)
    events = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    steps = [event for event in events if event["event"] == "step"]
    assert steps[-2]["seconds"] < 0.5
    assert events[-1]["event"] == "end"
    assert load(folder)
    assert steps[-1]["rate"] < 0.5 * max(step["rate"] for step in steps), "the rate falls with the time that is left"
