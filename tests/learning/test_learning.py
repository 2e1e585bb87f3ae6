"""Each family learns its toy task: with every shape, law and reference right a model may still learn nothing."""

import math
from pathlib import Path

import pytest

from regard.attention.relative import Buckets
from regard.evaluate import evaluate
from tests.learning.toys import copied, spelt, trained

LLAMA = {
    "position": "rotary",
    "normalizer": "rms",
    "feedforward": "swiglu",
    "groups": 1,
    "bias": False,
    "tied": False,
}
BACKWARDS = {"steps": 500, "tokens": 400, "rate": 5e-3, "width": 32, "hidden": 64}
BY_DISTANCE = {**BACKWARDS, "rate": 1e-2, "heads": 4}
COPY = {"steps": 250, "tokens": 1000, "rate": 5e-3, "width": 32, "hidden": 64, "depth": 2, "context": 60}
CHANCE = math.log(8)  # nats of one letter out of eight


@pytest.mark.slow
def test_the_transformer_learns_to_reverse(tmp_path: Path) -> None:
    """The built-in corpus: up to twelve letters, and the test has beginnings that training never shows."""
    run = trained(
        tmp_path,
        "transformer",
        {"train": "reverse"},
        text={"kind": "word"},
        system={"width": 64, "heads": 4, "depth": 2, "hidden": 128, "context": 32},
        objective={"smoothing": 0.0},
        train={"steps": 700, "batch_tokens": 300, "rate": 3e-3, "warmup": 50},
    )
    assert evaluate([run])["exact_match"] >= 0.9


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_transformer_learns_with_its_norm_before_and_after(tmp_path: Path, norm: str) -> None:
    assert spelt(tmp_path, "transformer", **BACKWARDS, norm=norm) >= 0.9


def test_without_positions_the_transformer_cannot_reverse(tmp_path: Path) -> None:
    """What has no order cannot be turned round: the threshold above is not reached by chance."""
    assert spelt(tmp_path, "transformer", **BACKWARDS, position="none") < 0.5


@pytest.mark.parametrize(
    "system",
    [{"longest": 4}, {"feedforward": "geglu", "tied": False, "head_width": 16}],
    ids=["1.0", "1.1"],
)
def test_t5_learns_to_reverse_from_distances_alone(tmp_path: Path, system: dict) -> None:
    assert spelt(tmp_path, "t5", **BY_DISTANCE, **system) >= 0.8


def test_t5_with_empty_buckets_cannot_reverse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Distances are all the order it has: the threshold above is not reached without them."""
    monkeypatch.setattr(Buckets, "on_scores", lambda *_: None)
    assert spelt(tmp_path, "t5", **BY_DISTANCE, longest=4) < 0.5


def test_gpt_learns_to_copy_from_positions_it_learns(tmp_path: Path) -> None:
    first, second = copied(tmp_path, "gpt", range(5, 6), **COPY)
    assert second < 0.05
    assert first == pytest.approx(CHANCE, abs=0.05)  # what is chance stays chance: nothing leaks from the future


def test_llama_learns_to_copy_words_of_any_length(tmp_path: Path) -> None:
    first, second = copied(tmp_path, "gpt", range(3, 7), **{**COPY, **LLAMA})
    assert second < 0.1
    assert first >= CHANCE


def test_a_gpt_that_sees_only_itself_cannot_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mask turned round: a token may look at itself and at nothing before it."""
    from regard.attention.patterns import Pattern
    from regard.systems import long

    monkeypatch.setattr(long, "causal", Pattern(lambda q, k: k.index == q.index))
    _, second = copied(tmp_path, "gpt", range(5, 6), **COPY)
    assert second > 1
